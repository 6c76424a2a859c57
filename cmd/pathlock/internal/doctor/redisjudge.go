package doctor

import (
	"fmt"
	"strconv"
	"strings"
)

// The oldest servers that have what the scripts use.
var (
	oldestRedis  = []int{7, 0}
	oldestValkey = []int{7, 2}
)

// judgeNode says what the settings of a server mean that takes writes.
func (e *exam) judgeNode(n redisNode) {
	if n.info == nil {
		return
	}
	e.identities = append(e.identities, identity{n.addr, "redis " + n.info["run_id"]})
	e.judgeRedisVersion(n)
	e.judgeRole(n)
	e.judgeEviction(n)
	e.judgeMemory(n)
	e.judgePersistence(n)
	e.judgeConnections(n)
	e.judgeScripts(n)
}

func (e *exam) judgeRedisVersion(n redisNode) {
	product, version, oldest := "Redis", n.info["redis_version"], oldestRedis
	if v := n.info["valkey_version"]; v != "" {
		product, version, oldest = "valkey", v, oldestValkey
	}
	if older(version, oldest) {
		e.found(Problem, n.addr, "version", product+" "+version, "the scripts use commands that it lacks: nothing is granted",
			fmt.Sprintf("update to %s %d.%d or later", product, oldest[0], oldest[1]))
		return
	}
	e.fine(n.addr, "version", "%s %s", product, version)
}

// older reports whether a version such as 7.0.15 is older than another.
func older(version string, than []int) bool {
	parts := strings.SplitN(version, ".", len(than)+1)
	for i, least := range than {
		if i >= len(parts) {
			return true
		}
		n, err := strconv.Atoi(parts[i])
		if err != nil || n < least {
			return true
		}
		if n > least {
			return false
		}
	}
	return false
}

func (e *exam) judgeRole(n redisNode) {
	if n.info["role"] != "master" {
		e.found(Problem, n.addr, "role", "the server is a replica", "it takes no writes: nothing is granted", "use the primary's address, or redis+sentinel:// to find it")
		return
	}
	e.fine(n.addr, "role", "the server is a primary")
}

// judgeEviction: every key of the locks has an expiry, so every policy but noeviction evicts them.
func (e *exam) judgeEviction(n redisNode) {
	policy, limit := n.info["maxmemory_policy"], n.info["maxmemory"]
	const change = "CONFIG SET maxmemory-policy noeviction, and the same in redis.conf; give a cache a server of its own"
	switch {
	case policy == "noeviction":
		e.fine(n.addr, "eviction", "maxmemory-policy is noeviction")
	case limit == "0":
		e.found(Warning, n.addr, "eviction", "maxmemory-policy is "+policy+", and there is no maxmemory", "locks are evicted as soon as somebody sets a limit", change)
	default:
		e.found(Problem, n.addr, "eviction", fmt.Sprintf("maxmemory-policy is %s, and maxmemory %s", policy, n.info["maxmemory_human"]),
			"a full server evicts locks that are held, and grants them to others", change)
	}
}

func (e *exam) judgeMemory(n redisNode) {
	limit, _ := strconv.ParseFloat(n.info["maxmemory"], 64)
	used, _ := strconv.ParseFloat(n.info["used_memory"], 64)
	if limit == 0 {
		e.found(Advice, n.addr, "memory", "there is no maxmemory; "+n.info["used_memory_human"]+" are used",
			"a server that takes all of the host's memory is killed, and forgets locks", "set maxmemory to what the host can spare")
		return
	}
	is := fmt.Sprintf("%s of %s are used", n.info["used_memory_human"], n.info["maxmemory_human"])
	const change = "raise maxmemory, or find out what fills the server"
	switch {
	case used >= limit:
		e.found(Problem, n.addr, "memory", is, "nothing new is granted; releases and renewals go on", change)
	case used >= 0.8*limit:
		e.found(Warning, n.addr, "memory", is, "nothing new is granted once it is full", change)
	default:
		e.fine(n.addr, "memory", "%s", is)
	}
}

func (e *exam) judgePersistence(n redisNode) {
	snapshots := n.info["rdb_last_bgsave_status"]
	switch {
	case snapshots != "" && snapshots != "ok" && n.settings["stop-writes-on-bgsave-error"] != "no":
		e.found(Problem, n.addr, "persistence", "the last snapshot failed", "the server takes no writes (MISCONF): nothing is granted", "look into the server's log; mostly the disk is full, or its folder cannot be written")
	case n.info["aof_enabled"] == "1" && n.info["aof_last_write_status"] == "err":
		e.found(Problem, n.addr, "persistence", "the last write to the append-only file failed", "the server takes no writes: nothing is granted", "make room on the server's disk")
	case n.info["aof_enabled"] == "1" && n.settings["appendfsync"] == "no":
		e.found(Warning, n.addr, "persistence", "the append-only file is on, and appendfsync is no",
			"a crash of the host forgets the locks of the time since its system last wrote the file, mostly 30 s: two owners may hold the same node until the next renewal",
			"CONFIG SET appendfsync everysec, and the same in redis.conf")
	case n.info["aof_enabled"] == "1":
		e.fine(n.addr, "persistence", "the append-only file is on%s", setting(n, "appendfsync"))
	default:
		e.found(Warning, n.addr, "persistence", "the append-only file is off",
			"a restart forgets the locks of the time since the last snapshot: two owners may hold the same node until the next renewal, and detached holds are gone",
			"CONFIG SET appendonly yes, and the same in redis.conf")
	}
}

// setting shows a setting, if it is known.
func setting(n redisNode, name string) string {
	if v := n.settings[name]; v != "" {
		return fmt.Sprintf(", %s is %s", name, v)
	}
	return ""
}

func (e *exam) judgeConnections(n redisNode) {
	clients, _ := strconv.Atoi(n.info["connected_clients"])
	most, _ := strconv.Atoi(n.info["maxclients"])
	switch {
	case most > 0 && clients*5 >= most*4:
		e.found(Warning, n.addr, "connections", fmt.Sprintf("%d of %d connections are open", clients, most), "at the limit, programs cannot connect, and get no locks", "raise maxclients, or lower the programs' pool_size")
	case most > 0:
		e.fine(n.addr, "connections", "%d of %d connections are open", clients, most)
	}
	if n.settings == nil {
		return
	}
	if n.settings["tcp-keepalive"] == "0" {
		e.found(Advice, n.addr, "time-outs", "tcp-keepalive is 0", "connections of hosts that have vanished stay open", "CONFIG SET tcp-keepalive 300")
		return
	}
	e.fine(n.addr, "time-outs", "tcp-keepalive is %s, timeout %s", n.settings["tcp-keepalive"], n.settings["timeout"])
}

// manyScripts is far more than pathlock has: one that is made anew for each call stays in the
// cache.
const manyScripts = 10_000

func (e *exam) judgeScripts(n redisNode) {
	scripts, err := strconv.Atoi(n.info["number_of_cached_scripts"])
	switch {
	case err != nil:
	case scripts > manyScripts:
		e.found(Warning, n.addr, "scripts", fmt.Sprintf("%d scripts are cached", scripts), "some program puts values into the text of its scripts, and each text stays in the server's memory", "pass values as ARGV; SCRIPT FLUSH empties the cache, and pathlock loads its scripts anew")
	default:
		e.fine(n.addr, "scripts", "%d scripts are cached", scripts)
	}
}

// judgeReplication says what the settings of a primary mean for what its replicas have. The nodes
// are all primaries and replicas of the deployment.
func (e *exam) judgeReplication(nodes []redisNode) {
	for _, n := range nodes {
		switch {
		case n.info == nil:
		case n.info["role"] != "master":
			e.judgeReplica(n)
		case lacksReplicas(n):
			e.found(Problem, n.addr, "replicas", fmt.Sprintf("%s connected, %s of them in time%s%s",
				n.info["connected_slaves"], n.info["min_slaves_good_slaves"], setting(n, "min-replicas-to-write"), setting(n, "min-replicas-max-lag")),
				"the server takes no writes (NOREPLICAS): nothing is granted", "start the replicas, or see why they lag; until then, CONFIG SET min-replicas-to-write 0")
		case e.members > 0 && n.info["connected_slaves"] == "0":
			e.fine(n.addr, "replicas", "there is none: the other members of the quorum stand in")
		case e.members > 0:
			e.found(Advice, n.addr, "replicas", n.info["connected_slaves"]+" connected", "one that takes its primary's place without its last grants is a member that lies",
				"let none of them take its place")
		case n.info["connected_slaves"] == "0":
			e.found(Advice, n.addr, "replicas", "there is no replica", "while the server is down, no lock is granted", "run a replica, with sentinels or in a cluster that fail over to it; or accept it")
		case n.info["min_slaves_good_slaves"] == "": // INFO has it only if both settings are on
			e.found(Warning, n.addr, "replicas", n.info["connected_slaves"]+" connected, and min-replicas-to-write is 0",
				"a primary that is cut off from its replicas goes on granting locks, which are lost when one of them takes its place",
				"CONFIG SET min-replicas-to-write 1, CONFIG SET min-replicas-max-lag 10, and the same in redis.conf of every node")
		default:
			e.fine(n.addr, "replicas", "%s connected, %s of them in time%s", n.info["connected_slaves"], n.info["min_slaves_good_slaves"], setting(n, "min-replicas-to-write"))
		}
	}
}

// lacksReplicas reports whether a primary takes no writes for want of replicas in time. INFO counts
// them only if it wants any.
func lacksReplicas(n redisNode) bool {
	good, err := strconv.Atoi(n.info["min_slaves_good_slaves"])
	if err != nil {
		return false
	}
	least, err := strconv.Atoi(n.settings["min-replicas-to-write"])
	if err != nil {
		least = 1 // the user may not ask
	}
	return good < least
}

func (e *exam) judgeReplica(n redisNode) {
	switch {
	case n.info["master_link_status"] != "up":
		e.found(Warning, n.addr, "replication", "the replica has no link to its primary", "if it takes the primary's place, locks are lost", "see why it does not connect: network, masterauth, masteruser")
	case n.info["maxmemory_policy"] != "noeviction":
		e.found(Warning, n.addr, "eviction", "maxmemory-policy of the replica is "+n.info["maxmemory_policy"], "once it is the primary, it evicts locks", "CONFIG SET maxmemory-policy noeviction, and the same in its redis.conf")
	default:
		e.fine(n.addr, "replication", "the replica has a link to its primary, %s:%s", n.info["master_host"], n.info["master_port"])
	}
}
