package anystore

import (
	"cmp"
	"errors"
	"regexp"

	"github.com/pathlock-go/pathlock/store/quorum"
)

// Trouble says in a few words why a store does not serve: what the error of its Ping means. The
// text continues "the lock store …". It has no addresses, so that clients may see it. It is empty
// for no error.
//
// It recognises the error texts of this project's clients, and so links none of them.
func Trouble(err error) string {
	if err == nil {
		return ""
	}
	if _, ok := errors.AsType[*quorum.MajorityError](err); ok { // which quotes its members' errors
		return "is a quorum of which too few members serve"
	}
	if refused, ok := errors.AsType[redisError](err); ok {
		return cmp.Or(meaning(refused.Error(), redisRefusals), refuses)
	}
	return cmp.Or(meaning(err.Error(), refusals), "does not answer")
}

// redisError is an answer of a Redis server, like [github.com/redis/go-redis/v9.Error].
type redisError interface {
	error
	RedisError()
}

// What several kinds of servers mean.
const (
	badLogin = "refuses the user or the password"
	noRight  = "does not let the user do what locks need"
	noNumber = "has no database with that number"
	refuses  = "refuses the request"
)

// refusal is what a server that answers but does not serve means, by a part of what it says.
type refusal struct{ says, means string }

// meaning returns what a server's text means, "" if that is not known.
func meaning(text string, refusals []refusal) string {
	for _, r := range refusals {
		if regexp.MustCompile(r.says).MatchString(text) {
			return r.means
		}
	}
	return ""
}

// redisRefusals are the beginnings of a Redis server's errors. An error may be quoted in another.
var redisRefusals = []refusal{
	{"WRONGPASS|NOAUTH|ERR AUTH|ERR invalid password", badLogin},
	{"unauthenticated", badLogin}, // before its size, what is longer than a login
	{"NOPERM|ERR ACL failure in script|ERR The user executing the script can't", noRight},
	{"ERR DB index is out of range|ERR invalid DB index|ERR SELECT", noNumber},
	{"LOADING", "is still loading its data"},
	{"READONLY", "is a replica, which takes no writes"},
	{"NOREPLICAS", "has too few replicas in time, and takes no writes"},
	{"MISCONF", "cannot save its data, and takes no writes"},
	{"OOM", "is out of memory, and takes no writes"},
	{"CLUSTERDOWN", "is an incomplete cluster"},
	{"ERR max number of clients", "has too many clients"},
}

// refusals are what the other servers say: MySQL and MariaDB with numbers, PostgreSQL with codes,
// SQLite, ZooKeeper and etcd with texts of their own.
var refusals = []refusal{
	{`Error (1044|1045|1698)\b|SQLSTATE 28`, badLogin},
	{`Error (1142|1143)\b|SQLSTATE 42501`, noRight},
	{`Error 1049\b|SQLSTATE 3D`, "has no database with that name"},
	{`Error 1146\b|SQLSTATE 42P01`, "lacks a table"},
	{`Error 1054\b|SQLSTATE 42703|sqlstore: the table is unusable`, "has another table of that name"},
	{`Error 1193\b|SQLSTATE 42704`, "does not know an option of the URL"},
	{`Error (1040|1203|1226)\b|SQLSTATE 53300`, "has too many connections"},
	{`Error (1317|1969|3024)\b|SQLSTATE (57014|25P0[34])`, "has cut off an operation that took too long"},
	{`Error 1053\b|SQLSTATE 57P`, "is shutting down or starting"},
	{`Error (1290|1792|1836)\b|SQLSTATE 25006`, "takes no writes"},
	{`Error (1021|1114)\b|SQLSTATE 53100|sqlite3: database or disk is full`, "is out of disk space"},
	{
		"sqlite3: (unable to open database|disk I/O error|file is not a database|database disk image is malformed|attempt to write a readonly)",
		"has a file that cannot be used",
	},
	{"zk: client authentication failed", badLogin},
	{"zk: (not authenticated|invalid ACL)", noRight},
	{"unknown error: -125", "has exceeded a quota"},
	{"etcdserver: (authentication failed|user name is empty|user name not found)", badLogin},
	{"etcdserver: authentication is not enabled", "has no users"},
	{"etcdserver: permission denied", noRight},
	{"etcdserver: mvcc: database space exceeded", "is out of space, and takes no writes"},
	{"etcdserver: no leader", "is a cluster without a leader"},
	{"Error [0-9]{4}( \\(|:)|SQLSTATE |etcdserver: ", refuses},
	{"failed to verify certificate", "has an untrusted certificate"},
	{"remote error: tls", "refuses this client's TLS"},
	{"server does not support TLS", "does not speak TLS"},
}
