package doctor

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// redisRules say what INFO and the settings mean on a server that takes writes. Every key of the
// locks has an expiry, so volatile-* evicts them, too.
var redisRules = []rule{
	{"version", Problem, "old=yes", "{product} {version}", "the scripts use commands that it lacks: nothing is granted", "update to {product} {oldest} or later"},
	{"version", Fine, "", "{product} {version}", "", ""},

	{"role", Problem, "role!=master", "the server is a replica", "it takes no writes: nothing is granted", "use the primary's address, or redis+sentinel:// to find it"},
	{"role", Problem, "cluster_enabled=1 single=yes", "the server is a node of a cluster, and the URL is that of a single server", "trees whose slots are on other nodes get no locks", "use the URL redis+cluster://host1,host2,host3"},
	{"role", Fine, "", "the server is a primary", "", ""},

	{"eviction", Fine, "maxmemory_policy=noeviction", "maxmemory-policy is noeviction", "", ""},
	{"eviction", Warning, "maxmemory=0", "maxmemory-policy is {maxmemory_policy}, and there is no maxmemory", "locks are evicted as soon as somebody sets a limit", noEviction},
	{"eviction", Problem, "", "maxmemory-policy is {maxmemory_policy}, and maxmemory {maxmemory_human}", "a full server evicts locks that are held, and grants them to others", noEviction},

	{"persistence", Warning, "aof_enabled!=1", "the append-only file is off", "a restart loses the locks granted since the last snapshot: two owners may hold the same node until the next renewal, and detached holds are gone", "CONFIG SET appendonly yes, and the same in redis.conf"},
	{"persistence", Warning, "appendfsync=no", "the append-only file is on, and appendfsync is no", "a crash of the host loses the locks granted since its system last wrote the file, usually 30 s: two owners may hold the same node until the next renewal", "CONFIG SET appendfsync everysec, and the same in redis.conf"},
	{"persistence", Fine, "appendfsync=", "the append-only file is on", "", ""},
	{"persistence", Fine, "", "the append-only file is on, appendfsync is {appendfsync}", "", ""},

	// INFO counts the replicas in time only if the server wants any.
	{"replicas", Fine, "role!=master", "", "", ""},
	{"replicas", Problem, "short=yes", "{connected_slaves} connected, too few of them in time: {min_slaves_good_slaves}", "the server takes no writes (NOREPLICAS): nothing is granted", "start the replicas, or see why they lag; until then, CONFIG SET min-replicas-to-write 0"},
	{"replicas", Fine, "member=yes connected_slaves=0", "there is none: the other members of the quorum stand in", "", ""},
	{"replicas", Advice, "member=yes", "{connected_slaves} connected", "a replica that replaces its primary without the last grants makes the member forget locks", "let no replica replace its primary"},
	{"replicas", Advice, "connected_slaves=0", "there is no replica", "while the server is down, no lock is granted", "run a replica, with sentinels or in a cluster that fail over to it; or accept it"},
	{"replicas", Warning, "min_slaves_good_slaves=", "{connected_slaves} connected, and min-replicas-to-write is 0", "a primary that is cut off from its replicas continues to grant locks, which are lost when a replica replaces it", "CONFIG SET min-replicas-to-write 1, CONFIG SET min-replicas-max-lag 10, and the same in redis.conf of every node"},
	{"replicas", Fine, "min-replicas-to-write=", "{connected_slaves} connected, {min_slaves_good_slaves} of them in time", "", ""},
	{"replicas", Fine, "", "{connected_slaves} connected, {min_slaves_good_slaves} of them in time, min-replicas-to-write is {min-replicas-to-write}", "", ""},
}

const noEviction = "CONFIG SET maxmemory-policy noeviction, and the same in redis.conf; give a cache a server of its own"

// clusterRules say what CLUSTER INFO means.
var clusterRules = []rule{
	{"cluster", Fine, "cluster_state=ok cluster_slots_ok=16384", slotsServed, "", ""},
	{"cluster", Problem, "", slotsServed, "trees in the other slots get no locks", "see which node is down: CLUSTER NODES; slots without a node: redis-cli --cluster fix"},
}

const slotsServed = "state {cluster_state}, {cluster_slots_ok} of 16384 slots are served"

// redis examines the primaries of a store in Redis. It reports whether all of them answer.
func (e *exam) redis(ctx context.Context, about string, client redis.UniversalClient) bool {
	if cluster, is := client.(*redis.ClusterClient); is {
		return e.cluster(ctx, about, cluster)
	}
	return e.node(ctx, client.(*redis.Client), facts{"single": "yes"})
}

// cluster examines the primaries of a cluster. It reports whether all of them answer.
func (e *exam) cluster(ctx context.Context, about string, client *redis.ClusterClient) bool {
	primaries, err := answer(ctx, e, func(ctx context.Context) (all []*redis.Client, err error) {
		var mu sync.Mutex
		err = client.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, node)
			return nil
		})
		return all, err
	})
	if err != nil {
		e.unanswered(about, err)
		return false
	}
	slices.SortFunc(primaries, func(a, b *redis.Client) int { return strings.Compare(a.Options().Addr, b.Options().Addr) })
	answering := slices.DeleteFunc(slices.Clone(primaries), func(node *redis.Client) bool { return !e.node(ctx, node, nil) })
	if len(answering) == 0 {
		return false
	}
	text, err := answer(ctx, e, func(ctx context.Context) (string, error) { return answering[0].ClusterInfo(ctx).Result() })
	if err != nil {
		e.unknown(about, "cluster", err, "run the doctor as a user with +cluster|info, too")
	} else {
		e.judge(about, fieldsOf(text), clusterRules)
	}
	return len(answering) == len(primaries)
}

// node examines one primary. It reports whether it answers.
func (e *exam) node(ctx context.Context, client *redis.Client, more facts) bool {
	addr := client.Options().Addr
	const right = "run the doctor as a user with +info +config|get, too"
	text, err := answer(ctx, e, func(ctx context.Context) (string, error) { return client.Info(ctx).Result() })
	if err != nil {
		if _, refused := errors.AsType[redis.Error](err); !refused {
			e.found(Problem, addr, answerCheck, "it does not answer: "+err.Error(), "its trees get no locks", "start it, or see why no replica takes its place")
			return false
		}
		e.unknown(addr, "info", err, right)
		return true
	}
	f := fieldsOf(text)
	maps.Copy(f, more)
	for _, name := range []string{"appendfsync", "min-replicas-to-write"} { // which INFO does not have
		setting, err := answer(ctx, e, func(ctx context.Context) (map[string]string, error) { return client.ConfigGet(ctx, name).Result() })
		if err != nil {
			e.unknown(addr, "settings", err, right)
			break
		}
		maps.Copy(f, setting)
	}
	good, err := strconv.Atoi(f["min_slaves_good_slaves"])
	wanted, _ := strconv.Atoi(f["min-replicas-to-write"])
	f["short"] = flag(err == nil && good < max(wanted, 1))
	f["member"] = flag(e.members > 0)
	f["product"], f["version"], f["oldest"] = "Redis", f["redis_version"], "7.0"
	if valkey := f["valkey_version"]; valkey != "" {
		f["product"], f["version"], f["oldest"] = "valkey", valkey, "7.2"
	}
	f["old"] = flag(older(f["version"], f["oldest"]))
	e.judge(addr, f, redisRules)
	return true
}
