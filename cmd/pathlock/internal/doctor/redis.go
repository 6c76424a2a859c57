package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// redisNode is what one server of Redis or valkey has said.
type redisNode struct {
	addr   string
	client *redis.Client
	// info are the fields of INFO, and settings those of CONFIG GET. They are nil if the user may
	// not ask.
	info, settings map[string]string
	// silent is why the server has not answered at all, nil if it has.
	silent error
}

// sentinelMode is the mode in which a server tells others where the primary is, and has no data.
const sentinelMode = "sentinel"

// redisSettings are the settings that are looked at and that INFO does not have.
var redisSettings = []string{
	"min-replicas-to-write", "min-replicas-max-lag", "appendfsync", "save", "timeout", "tcp-keepalive", "busy-reply-threshold",
	"cluster-require-full-coverage", "cluster-node-timeout", "stop-writes-on-bgsave-error",
}

// between says what goes by the clocks of a primary and its replicas.
const betweenRedis = "after a fail-over, leases end earlier or later by as much, and fences may fall"

// redis examines the servers behind a store in Redis. It reports whether locks can be tried out.
func (e *exam) redis(ctx context.Context, url, about string, store *redisstore.Store) bool {
	// A cluster comes first: whether it answers depends on which shard is asked.
	if client, ok := store.Client().(*redis.ClusterClient); ok && !e.cluster(ctx, about, client) {
		return false
	}
	// And so do sentinels, which know why the primary does not answer.
	if strings.HasPrefix(url, "redis+sentinel:") {
		e.sentinels(ctx, url)
	}
	serves := true
	if err := e.ask(ctx, store.Ping); err != nil {
		if text := refusal(err); text == "" || slices.ContainsFunc(noEntry, func(begin string) bool { return strings.HasPrefix(text, begin) }) {
			e.unanswered(about, err)
			return false
		}
		serves = false
		e.found(Problem, about, "service", err.Error(), "the lock store "+anystore.Trouble(err)+": nothing is granted", "see the other findings")
	}
	if client, ok := store.Client().(*redis.Client); ok {
		e.replicated(ctx, client)
	}
	return serves
}

// refusal returns what a server has answered instead of what was asked for, "" if it has not
// answered.
func refusal(err error) string {
	if refused, ok := errors.AsType[redis.Error](err); ok {
		return refused.Error()
	}
	return ""
}

// unasked adds that a server of Redis was not looked at: it lacks a right, or does not answer.
func (e *exam) unasked(about, check string, err error, right string) {
	change := "see that the server runs, and that this host reaches it"
	if refusal(err) != "" {
		change = "run the doctor as a user with " + right + ", besides as the programs' own"
	}
	e.unknown(about, check, err, change)
}

// noEntry begins the errors with which a server answers nothing else.
var noEntry = []string{"WRONGPASS", "NOAUTH", "ERR AUTH", "ERR invalid password", "ERR DB index", "ERR invalid DB index", "LOADING"}

// replicated examines a primary with its replicas, if there are any.
func (e *exam) replicated(ctx context.Context, client *redis.Client) {
	addr := e.addressOf(ctx, client)
	primary := e.node(ctx, addr, client)
	if primary.info["redis_mode"] == sentinelMode {
		e.found(Problem, addr, "role", "the server is a sentinel, and the URL is that of a server with data", "nothing is granted",
			"use the URL redis+sentinel://name@"+addr+"; SENTINEL MASTERS tells the name")
		return
	}
	e.unheard(primary)
	e.judgeNode(primary)
	if primary.info["cluster_enabled"] == "1" {
		e.found(Problem, addr, "cluster", "the server is a node of a cluster, and the URL is that of a single server",
			"trees whose slots are on other nodes get no locks", "use the URL redis+cluster://host1,host2,host3")
	}
	nodes := []redisNode{primary}
	for _, at := range replicasOf(primary.info) {
		replica := redis.NewClient(besides(client.Options(), at))
		n := e.node(ctx, at, replica)
		e.unheard(n)
		nodes = append(nodes, n)
		defer func() { _ = replica.Close() }() // nothing was written by it
	}
	e.judgeReplication(nodes)
	e.clocksOf(ctx, nodes)
	e.acl(ctx, primary, false)
}

// unheard adds that a server has not said what it is, if it has not. A replica may have an address
// that only its primary can reach.
func (e *exam) unheard(n redisNode) {
	if n.silent != nil {
		e.unasked(n.addr, "info", n.silent, "")
	}
}

// addressOf returns the address of the server behind a client.
func (e *exam) addressOf(ctx context.Context, client *redis.Client) string {
	addr := client.Options().Addr
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	// A client by sentinels has a name there. A connection knows the address.
	conn := client.Conn()
	defer func() { _ = conn.Close() }()
	info := ""
	if err := e.ask(ctx, func(ctx context.Context) (err error) {
		info, err = conn.Info(ctx, "server").Result()
		return err
	}); err != nil {
		return addr
	}
	return fmt.Sprintf("%s (port %s)", addr, infoFields(info)["tcp_port"])
}

// besides returns the options for another server of the same deployment.
func besides(o *redis.Options, addr string) *redis.Options {
	return &redis.Options{
		Addr: addr, Username: o.Username, Password: o.Password, TLSConfig: o.TLSConfig, DialTimeout: o.DialTimeout, ContextTimeoutEnabled: true,
		MaxRetries: -1, DialerRetries: 1, MaintNotificationsConfig: o.MaintNotificationsConfig,
	}
}

// node asks a server for what it says of itself. One that is silent is the caller's to report.
func (e *exam) node(ctx context.Context, addr string, client *redis.Client) redisNode {
	n := redisNode{addr: addr, client: client}
	var text string
	if err := e.ask(ctx, func(ctx context.Context) (err error) {
		text, err = client.Info(ctx).Result()
		return err
	}); err != nil {
		if refusal(err) == "" {
			n.silent = err
			return n
		}
		e.unasked(addr, "info", err, "+info +config|get")
		return n
	}
	n.info = infoFields(text)
	if n.info["redis_mode"] == sentinelMode {
		return n // it has other settings
	}
	if err := e.ask(ctx, func(ctx context.Context) (err error) {
		n.settings, err = settingsOf(ctx, client)
		return err
	}); err != nil {
		e.unasked(addr, "settings", err, "+config|get")
	}
	return n
}

// settingsOf asks for the settings one by one, because a server may lack some.
func settingsOf(ctx context.Context, client *redis.Client) (map[string]string, error) {
	pipe := client.Pipeline()
	asked := make([]*redis.MapStringStringCmd, len(redisSettings))
	for i, name := range redisSettings {
		asked[i] = pipe.ConfigGet(ctx, name)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	settings := make(map[string]string)
	for _, answer := range asked {
		for name, value := range answer.Val() {
			settings[name] = value
		}
	}
	return settings, nil
}

// infoFields reads an answer of INFO.
func infoFields(text string) map[string]string {
	fields := make(map[string]string)
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields
}

// replicasOf returns the addresses of the replicas that a primary knows.
func replicasOf(info map[string]string) []string {
	var all []string
	n, _ := strconv.Atoi(info["connected_slaves"])
	for i := range n {
		fields := make(map[string]string)
		for field := range strings.SplitSeq(info[fmt.Sprintf("slave%d", i)], ",") {
			name, value, _ := strings.Cut(field, "=")
			fields[name] = value
		}
		if fields["ip"] != "" {
			all = append(all, net.JoinHostPort(fields["ip"], fields["port"]))
		}
	}
	return all
}

// clocksOf reads the clocks of servers and compares them.
func (e *exam) clocksOf(ctx context.Context, nodes []redisNode) {
	for _, n := range nodes {
		if n.silent != nil {
			continue
		}
		err := e.clock(ctx, n.addr, func(ctx context.Context) (time.Time, error) { return n.client.Time(ctx).Result() })
		if err != nil {
			e.unknown(n.addr, "clock", err, "")
		}
	}
	e.judgeClocks(betweenRedis)
}
