package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// redisSettings are the settings that INFO does not have.
var redisSettings = []string{"appendfsync", "min-replicas-to-write"}

// redisRules say what INFO and the settings of a server mean that takes writes.
var redisRules = []rule{
	{"version", judgeRedisVersion},
	{"role", func(f facts) Finding {
		switch {
		case f["role"] != "master":
			return bad(Problem, "the server is a replica", "it takes no writes: nothing is granted", "use the primary's address, or redis+sentinel:// to find it")
		case f["cluster_enabled"] == "1" && f["single"] != "":
			return bad(Problem, "the server is a node of a cluster, and the URL is that of a single server", "trees whose slots are on other nodes get no locks",
				"use the URL redis+cluster://host1,host2,host3")
		}
		return fine("the server is a primary")
	}},
	{"eviction", func(f facts) Finding { // every key of the locks has an expiry
		const change = "CONFIG SET maxmemory-policy noeviction, and the same in redis.conf; give a cache a server of its own"
		switch policy := f["maxmemory_policy"]; {
		case policy == "noeviction":
			return fine("maxmemory-policy is noeviction")
		case f["maxmemory"] == "0":
			return bad(Warning, "maxmemory-policy is "+policy+", and there is no maxmemory", "locks are evicted as soon as somebody sets a limit", change)
		default:
			return bad(Problem, fmt.Sprintf("maxmemory-policy is %s, and maxmemory %s", policy, f["maxmemory_human"]), "a full server evicts locks that are held, and grants them to others", change)
		}
	}},
	{"persistence", judgePersistence},
	{"replicas", judgeReplicas},
}

func judgeRedisVersion(f facts) Finding {
	product, version, oldest := "Redis", f["redis_version"], [2]int{7, 0}
	if v := f["valkey_version"]; v != "" {
		product, version, oldest = "valkey", v, [2]int{7, 2}
	}
	if older(version, oldest) {
		return bad(Problem, product+" "+version, "the scripts use commands that it lacks: nothing is granted", fmt.Sprintf("update to %s %d.%d or later", product, oldest[0], oldest[1]))
	}
	return fine("%s %s", product, version)
}

func judgePersistence(f facts) Finding {
	switch {
	case f["aof_enabled"] != "1":
		return bad(Warning, "the append-only file is off",
			"a restart forgets the locks of the time since the last snapshot: two owners may hold the same node until the next renewal, and detached holds are gone",
			"CONFIG SET appendonly yes, and the same in redis.conf")
	case f["appendfsync"] == "no":
		return bad(Warning, "the append-only file is on, and appendfsync is no",
			"a crash of the host forgets the locks of the time since its system last wrote the file, mostly 30 s: two owners may hold the same node until the next renewal",
			"CONFIG SET appendfsync everysec, and the same in redis.conf")
	case f["appendfsync"] != "":
		return fine("the append-only file is on, appendfsync is %s", f["appendfsync"])
	default:
		return fine("the append-only file is on")
	}
}

func judgeReplicas(f facts) Finding {
	connected, inTime := f["connected_slaves"], f["min_slaves_good_slaves"] // INFO counts those in time only if the server wants any
	is := fmt.Sprintf("%s connected, %s of them in time", connected, inTime)
	switch {
	case f["role"] != "master":
		return Finding{}
	case inTime != "" && f.number("min_slaves_good_slaves") < max(1, f.number("min-replicas-to-write")):
		return bad(Problem, is, "the server takes no writes (NOREPLICAS): nothing is granted", "start the replicas, or see why they lag; until then, CONFIG SET min-replicas-to-write 0")
	case f["member"] != "" && connected == "0":
		return fine("there is none: the other members of the quorum stand in")
	case f["member"] != "":
		return bad(Advice, connected+" connected", "one that takes its primary's place without its last grants is a member that lies", "let none of them take its place")
	case connected == "0":
		return bad(Advice, "there is no replica", "while the server is down, no lock is granted", "run a replica, with sentinels or in a cluster that fail over to it; or accept it")
	case inTime == "":
		return bad(Warning, connected+" connected, and min-replicas-to-write is 0",
			"a primary that is cut off from its replicas goes on granting locks, which are lost when one of them takes its place",
			"CONFIG SET min-replicas-to-write 1, CONFIG SET min-replicas-max-lag 10, and the same in redis.conf of every node")
	default:
		return fine("%s, min-replicas-to-write is %s", is, f["min-replicas-to-write"])
	}
}

// redis examines the primaries of a store in Redis. It reports whether locks can be tried out.
func (e *exam) redis(ctx context.Context, about string, store *redisstore.Store) bool {
	serves := true
	if err := e.ask(ctx, store.Ping); err != nil {
		text := refusal(err)
		if cluster, is := store.Client().(*redis.ClusterClient); is && text == "" {
			e.cluster(ctx, about, cluster) // it may be one shard alone
			return false
		}
		if text == "" || slices.ContainsFunc(noEntry, func(begin string) bool { return strings.HasPrefix(text, begin) }) {
			e.unanswered(about, err)
			return false
		}
		serves = false
		e.found(Problem, about, "service", err.Error(), "the lock store "+anystore.Trouble(err)+": nothing is granted", "see the other findings")
	}
	switch client := store.Client().(type) {
	case *redis.ClusterClient:
		return e.cluster(ctx, about, client) && serves
	case *redis.Client:
		e.node(ctx, client, facts{"single": "yes"})
	}
	return serves
}

// noEntry begins the errors with which a server answers nothing else.
var noEntry = []string{"WRONGPASS", "NOAUTH", "ERR AUTH", "ERR invalid password", "ERR DB index", "ERR invalid DB index", "LOADING"}

// refusal returns what a server has answered instead of what was asked for, "" if it has not
// answered.
func refusal(err error) string {
	if refused, ok := errors.AsType[redis.Error](err); ok {
		return refused.Error()
	}
	return ""
}

// cluster examines the primaries of a cluster. It reports whether each of them answers.
func (e *exam) cluster(ctx context.Context, about string, client *redis.ClusterClient) bool {
	var mu sync.Mutex
	var primaries []*redis.Client
	if err := e.ask(ctx, func(ctx context.Context) error {
		return client.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
			mu.Lock()
			defer mu.Unlock()
			primaries = append(primaries, node)
			return nil
		})
	}); err != nil {
		e.unanswered(about, err)
		return false
	}
	slices.SortFunc(primaries, func(a, b *redis.Client) int { return strings.Compare(a.Options().Addr, b.Options().Addr) })
	var answer []*redis.Client
	for _, primary := range primaries {
		if e.node(ctx, primary, nil) {
			answer = append(answer, primary)
		}
	}
	if len(answer) == 0 {
		return false
	}
	var text string
	err := e.ask(ctx, func(ctx context.Context) (err error) {
		text, err = answer[0].ClusterInfo(ctx).Result()
		return err
	})
	said := fieldsOf(text)
	is := fmt.Sprintf("state %s, %s of 16384 slots are served, by %d primaries", said["cluster_state"], said["cluster_slots_ok"], len(primaries))
	switch {
	case err != nil:
		e.unknown(about, "cluster", err, "run the doctor as a user with +cluster|info, besides as the programs' own")
	case said["cluster_state"] != "ok" || said["cluster_slots_ok"] != "16384":
		e.found(Problem, about, "cluster", is, "trees in the other slots get no locks", "see which node is down: CLUSTER NODES; slots that nobody has: redis-cli --cluster fix")
	case len(primaries) < 3:
		e.found(Warning, about, "cluster", is, "no majority is left to fail over when a primary is lost", "run three primaries or more")
	default:
		e.fine(about, "cluster", "%s", is)
	}
	return len(answer) == len(primaries)
}

// node examines one primary. It reports whether it answers.
func (e *exam) node(ctx context.Context, client *redis.Client, more facts) bool {
	addr := client.Options().Addr
	const right = "run the doctor as a user with +info +config|get, besides as the programs' own"
	var text string
	err := e.ask(ctx, func(ctx context.Context) (err error) {
		text, err = client.Info(ctx).Result()
		return err
	})
	switch {
	case err != nil && refusal(err) == "":
		e.found(Problem, addr, answerCheck, fmt.Sprintf("it does not answer: %v", err), "its trees get no locks", "start it, or see why no replica takes its place")
		return false
	case err != nil:
		e.unknown(addr, "info", err, right)
		return true
	}
	f := fieldsOf(text)
	maps.Copy(f, more)
	if e.members > 0 {
		f["member"] = "yes"
	}
	var settings map[string]string
	if err := e.ask(ctx, func(ctx context.Context) error {
		for _, name := range redisSettings {
			if settings, err = client.ConfigGet(ctx, name).Result(); err != nil {
				return err
			}
			maps.Copy(f, settings)
		}
		return nil
	}); err != nil {
		e.unknown(addr, "settings", err, right)
	}
	e.judge(addr, f, redisRules)
	return true
}
