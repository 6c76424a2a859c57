package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// cluster examines all nodes of a cluster. It reports whether each of its shards answers.
func (e *exam) cluster(ctx context.Context, about string, client *redis.ClusterClient) bool {
	primaries, err := e.primariesOf(ctx, client)
	if err != nil {
		e.unanswered(about, err)
		return false
	}
	answered := true
	var shards []redisNode
	var replicas []string
	err = errors.New("no primary answers")
	for _, primary := range primaries {
		n := e.node(ctx, primary.Options().Addr, primary)
		shards = append(shards, n)
		if n.silent != nil {
			answered = false
			e.found(Problem, n.addr, answerCheck, fmt.Sprintf("it does not answer: %v", n.silent),
				"it is the primary of a shard: trees in its slots get no locks", "start it, or see why no replica takes its place")
			continue
		}
		e.judgeNode(n)
		e.judgeShard(n)
		e.acl(ctx, n, true)
		if err != nil {
			replicas, err = e.replicasIn(ctx, primary)
		}
	}
	if err != nil {
		e.unasked(about, "replicas", err, "+cluster|shards")
	}
	nodes := shards
	for _, addr := range replicas {
		replica := redis.NewClient(besides(primaries[0].Options(), addr))
		defer func() { _ = replica.Close() }() // nothing was written by it
		n := e.node(ctx, addr, replica)
		nodes = append(nodes, n)
		if n.silent != nil {
			e.found(Warning, n.addr, "replication", fmt.Sprintf("it does not answer: %v", n.silent),
				"it cannot take its primary's place", "start it, or take it out of the cluster")
		}
	}
	e.judgeReplication(nodes)
	e.judgeCluster(ctx, about, shards)
	e.clocksOf(ctx, nodes)
	return answered
}

// looks is how often a cluster is asked for its nodes. The client begins with any node, which may
// be one that hangs.
const looks = 3

// primariesOf returns the primaries that a client of a cluster knows, in order.
func (e *exam) primariesOf(ctx context.Context, client *redis.ClusterClient) (nodes []*redis.Client, err error) {
	for range looks {
		var mu sync.Mutex
		nodes = nil
		err = e.ask(ctx, func(ctx context.Context) error {
			return client.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
				mu.Lock()
				defer mu.Unlock()
				nodes = append(nodes, node)
				return nil
			})
		})
		if err == nil || refusal(err) != "" {
			break
		}
	}
	slices.SortFunc(nodes, func(a, b *redis.Client) int { return strings.Compare(a.Options().Addr, b.Options().Addr) })
	return nodes, err
}

// replicasIn returns the addresses of all replicas of the cluster that a node knows, in order. A
// client of the cluster lacks those that the cluster holds to be down: CLUSTER SLOTS omits them.
func (e *exam) replicasIn(ctx context.Context, node *redis.Client) (addrs []string, err error) {
	var shards []redis.ClusterShard
	err = e.ask(ctx, func(ctx context.Context) (err error) {
		shards, err = node.ClusterShards(ctx).Result()
		return err
	})
	for _, shard := range shards {
		for _, n := range shard.Nodes {
			if n.Role == "master" {
				continue
			}
			host, port := n.Endpoint, n.Port
			if host == "" || host == "?" {
				host = n.IP
			}
			if node.Options().TLSConfig != nil && n.TLSPort != 0 {
				port = n.TLSPort
			}
			addrs = append(addrs, net.JoinHostPort(host, strconv.FormatInt(port, 10)))
		}
	}
	slices.Sort(addrs)
	return addrs, err
}

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
// The primaries that answer are asked, and the worst of what they say counts.
func (e *exam) judgeCluster(ctx context.Context, about string, shards []redisNode) {
	var info map[string]string
	var failed error
	for _, n := range shards {
		if n.silent != nil {
			continue
		}
		var text string
		err := e.ask(ctx, func(ctx context.Context) (err error) {
			text, err = n.client.ClusterInfo(ctx).Result()
			return err
		})
		if err != nil {
			failed = err
		} else if said := infoFields(text); info == nil || !complete(said) {
			info = said
		}
	}
	if info == nil {
		if failed != nil {
			e.unasked(about, "cluster", failed, "+cluster|info")
		}
		return
	}
	is := fmt.Sprintf("state %s, %s of 16384 slots are served, by %d primaries", info["cluster_state"], info["cluster_slots_ok"], len(shards))
	switch {
	case !complete(info):
		e.found(Problem, about, "cluster", is, "trees in the other slots get no locks", "see which node is down: CLUSTER NODES; slots that nobody has: redis-cli --cluster fix")
	case len(shards) < leastShards:
		e.found(Warning, about, "cluster", is, "no majority is left to fail over when a primary is lost", "run three primaries or more")
	default:
		e.fine(about, "cluster", "%s", is)
	}
}

// complete reports whether a node finds all slots served.
func complete(info map[string]string) bool {
	return info["cluster_state"] == "ok" && info["cluster_slots_ok"] == "16384"
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
