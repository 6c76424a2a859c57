package doctor

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// leastSentinels is how many sentinels can agree on a fail-over while one is down.
const leastSentinels = 3

// longDown is the time before a fail-over begins, in ms, from which on a default wait of two
// seconds ends first by far.
const longDown = 10_000

// sentinels examines the sentinels that a URL names.
func (e *exam) sentinels(ctx context.Context, rawURL string) {
	name, addrs := sentinelAddrs(rawURL)
	_, query, _ := strings.Cut(rawURL, "?")
	values, _ := url.ParseQuery(query) // the store was opened with it
	answered := 0
	known := 0
	for _, addr := range addrs {
		about, err := e.sentinel(ctx, name, &redis.Options{
			Addr: addr, Username: values.Get("sentinel_username"), Password: values.Get("sentinel_password"), ContextTimeoutEnabled: true, MaxRetries: -1, DialerRetries: 1,
		})
		if err != nil {
			e.found(Warning, addr, "sentinel", fmt.Sprintf("it does not answer: %v", err), "one more that does not may keep the others from a fail-over", "start it, or take it out of the URL")
			continue
		}
		answered++
		others, _ := strconv.Atoi(about["num-other-sentinels"])
		known = max(known, others+1)
		e.judgeSentinel(addr, about)
	}
	about := strings.Join(addrs, ",")
	switch {
	case answered == 0:
		e.found(Problem, about, "sentinels", "none answers", "the primary is not found: nothing is granted", "start them")
	case known < leastSentinels:
		e.found(Warning, about, "sentinels", fmt.Sprintf("%d of them watch the primary %s", known, name), "no majority is left to fail over when one is lost", "run three, on hosts of their own")
	case known > len(addrs):
		e.found(Advice, about, "sentinels", fmt.Sprintf("%d of them watch the primary %s, and the URL names %d", known, name, len(addrs)), "where those that it names are down, the primary is not found", "name all of them in the URL")
	default:
		e.fine(about, "sentinels", "%d of them watch the primary %s", known, name)
	}
}

// sentinel asks one sentinel about the primary.
func (e *exam) sentinel(ctx context.Context, name string, opts *redis.Options) (about map[string]string, err error) {
	client := redis.NewSentinelClient(opts)
	defer func() { _ = client.Close() }()
	err = e.ask(ctx, func(ctx context.Context) (err error) {
		about, err = client.Master(ctx, name).Result()
		return err
	})
	return about, err
}

// judgeSentinel says what the settings of a sentinel mean.
func (e *exam) judgeSentinel(addr string, about map[string]string) {
	quorum, _ := strconv.Atoi(about["quorum"])
	others, _ := strconv.Atoi(about["num-other-sentinels"])
	down, _ := strconv.Atoi(about["down-after-milliseconds"])
	switch all := others + 1; {
	case quorum > all:
		e.found(Problem, addr, "sentinel", fmt.Sprintf("its quorum is %d, and there are %d sentinels", quorum, all), "there is never a fail-over", fmt.Sprintf("SENTINEL SET %s quorum %d", about["name"], all/2+1))
	case quorum <= all/2:
		e.found(Advice, addr, "sentinel", fmt.Sprintf("its quorum is %d of %d", quorum, all), "fewer than a majority begin a fail-over, for which they then need a majority", fmt.Sprintf("SENTINEL SET %s quorum %d", about["name"], all/2+1))
	default:
		e.fine(addr, "sentinel", "its quorum is %d of %d", quorum, all)
	}
	if strings.Contains(about["flags"], "down") {
		e.found(Problem, addr, "primary", "the sentinel holds the primary to be down: "+about["flags"], "nothing is granted until there is another one", "start the primary, or see why no replica takes its place")
	}
	if down >= longDown {
		e.found(Advice, addr, "fail-over", fmt.Sprintf("down-after-milliseconds is %d", down), "for so long, nothing is granted when the primary is lost", fmt.Sprintf("SENTINEL SET %s down-after-milliseconds 3000", about["name"]))
		return
	}
	e.fine(addr, "fail-over", "down-after-milliseconds is %d, failover-timeout %s", down, about["failover-timeout"])
}
