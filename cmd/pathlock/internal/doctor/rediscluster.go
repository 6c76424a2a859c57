package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// judgeShard says what the settings of a primary of a cluster mean.
func (e *exam) judgeShard(n redisNode) {
	switch n.settings["cluster-require-full-coverage"] {
	case "yes":
		e.found(Warning, n.addr, "coverage", "cluster-require-full-coverage is yes", "while one shard is down, no tree gets a lock, not even those of the other shards",
			"CONFIG SET cluster-require-full-coverage no, and the same in redis.conf of every node")
	case "no":
		e.fine(n.addr, "coverage", "cluster-require-full-coverage is no")
	}
	if n.settings["cluster-node-timeout"] != "" {
		e.fine(n.addr, "fail-over", "cluster-node-timeout is %s ms", n.settings["cluster-node-timeout"])
	}
}

// leastShards is how many primaries can agree on a fail-over while one is down.
const leastShards = 3

// judgeCluster says whether the cluster as a whole serves, and would outlive the loss of a node.
func (e *exam) judgeCluster(ctx context.Context, about string, client *redis.ClusterClient, shards []redisNode) {
	var text string
	err := e.ask(ctx, func(ctx context.Context) (err error) {
		text, err = client.ClusterInfo(ctx).Result()
		return err
	})
	if err != nil {
		e.unknown(about, "cluster", err, "run the doctor as a user with +cluster|info")
		return
	}
	info := infoFields(text)
	is := fmt.Sprintf("state %s, %s of 16384 slots are served, by %d primaries", info["cluster_state"], info["cluster_slots_ok"], len(shards))
	switch {
	case info["cluster_state"] != "ok" || info["cluster_slots_ok"] != "16384":
		e.found(Problem, about, "cluster", is, "trees in the other slots get no locks", "see which node is down: CLUSTER NODES; slots that nobody has: redis-cli --cluster fix")
	case len(shards) < leastShards:
		e.found(Warning, about, "cluster", is, "no majority is left to fail over when a primary is lost", "run three primaries or more")
	default:
		e.fine(about, "cluster", "%s", is)
	}
}

// sentinelAddrs returns the sentinels and the primary's name that a URL has.
func sentinelAddrs(url string) (name string, addrs []string) {
	_, rest, _ := strings.Cut(url, "://")
	rest, _, _ = strings.Cut(rest, "?")
	rest, _, _ = strings.Cut(rest, "/")
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return "", nil
	}
	name = rest[strings.LastIndexByte(rest[:at], '@')+1 : at]
	for addr := range strings.SplitSeq(rest[at+1:], ",") {
		if !strings.Contains(addr, ":") || strings.HasSuffix(addr, "]") {
			addr += ":26379"
		}
		addrs = append(addrs, addr)
	}
	return name, addrs
}
