package anystore

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/ncruces/go-sqlite3"
	"github.com/redis/go-redis/v9"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/pathlock-go/pathlock/store/quorum"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// Trouble says in a few words why a store does not serve: what the error of its Ping means. The
// text continues "the lock store …". It has no addresses, so that clients may see it. It is empty
// for no error.
func Trouble(err error) string {
	if err == nil {
		return ""
	}
	for _, trouble := range []func(error) (means string, ok bool){redisTrouble, sqlTrouble, zkTrouble, etcdTrouble, quorumTrouble} {
		if means, ok := trouble(err); ok {
			return cmp.Or(means, "refuses what it is asked for")
		}
	}
	return cmp.Or(meaning(err.Error(), tlsRefusals), "does not answer")
}

// What several kinds of servers mean.
const (
	badLogin  = "refuses the user or the password"
	noRight   = "does not let the user do what locks need"
	noNumber  = "has no database of that number"
	alien     = "has a table of that name which is none of locks"
	fileFails = "has a file that cannot be used"
)

// refusal is what a server means that answers but does not serve, by a part of what it says.
type refusal struct{ says, means string }

// meaning returns what a server's text means, "" if that is not known.
func meaning(text string, refusals []refusal) string {
	for _, r := range refusals {
		if strings.Contains(text, r.says) {
			return r.means
		}
	}
	return ""
}

// tlsRefusals are what the handshake says, with any server.
var tlsRefusals = []refusal{
	{"failed to verify certificate", "has a certificate that is not trusted"},
	{"remote error: tls", "refuses this client's TLS"},
	{"server does not support TLS", "does not speak TLS"},
}

// redisRefusals are the beginnings of a Redis server's errors. An error may be quoted in another.
var redisRefusals = []refusal{
	{"WRONGPASS", badLogin},
	{"unauthenticated", badLogin}, // before its size, what is longer than a login
	{"NOAUTH", badLogin},
	{"ERR AUTH", badLogin},
	{"ERR invalid password", badLogin},
	{"NOPERM", noRight},
	{"ERR DB index is out of range", noNumber},
	{"ERR invalid DB index", noNumber},
	{"ERR SELECT", noNumber},
	{"LOADING", "is still loading its data"},
	{"READONLY", "is a replica, which takes no writes"},
	{"NOREPLICAS", "has too few replicas in time, and takes no writes"},
	{"MISCONF", "cannot save its data, and takes no writes"},
	{"OOM", "is out of memory, and takes no writes"},
	{"CLUSTERDOWN", "is a cluster that is not complete"},
	{"ERR max number of clients", "has too many clients"},
}

func redisTrouble(err error) (means string, ok bool) {
	refused, ok := errors.AsType[redis.Error](err)
	if !ok {
		return "", false
	}
	return meaning(refused.Error(), redisRefusals), true
}

// zkRefusals are what a ZooKeeper server answers that does not serve.
var zkRefusals = []refusal{
	{"client authentication failed", badLogin},
	{"not authenticated", noRight},
	{"invalid ACL", noRight},
	{"unknown error: -125", "has a quota that is exceeded"},
}

// zkTrouble knows no other errors of ZooKeeper.
func zkTrouble(err error) (means string, ok bool) {
	means = meaning(err.Error(), zkRefusals)
	return means, means != ""
}

// etcdRefusals are what an etcd answers that does not serve.
var etcdRefusals = map[error]string{
	rpctypes.ErrAuthFailed:       badLogin,
	rpctypes.ErrUserEmpty:        badLogin,
	rpctypes.ErrUserNotFound:     badLogin,
	rpctypes.ErrAuthNotEnabled:   "has no users",
	rpctypes.ErrPermissionDenied: noRight,
	rpctypes.ErrNoSpace:          "is out of space, and takes no writes",
	rpctypes.ErrNoLeader:         "is a cluster without a leader",
}

func etcdTrouble(err error) (means string, ok bool) {
	for refused, means := range etcdRefusals {
		if errors.Is(err, refused) {
			return means, true
		}
	}
	_, ok = errors.AsType[rpctypes.EtcdError](err)
	return "", ok
}

// sqlRefusals are what a database server means that answers but does not serve, by the error
// numbers of MySQL and the beginnings of PostgreSQL's codes.
var sqlRefusals = []struct {
	mysql    []uint16
	postgres string
	means    string
}{
	{[]uint16{1044, 1045, 1698}, "28", badLogin},
	{[]uint16{1142, 1143}, "42501", noRight},
	{[]uint16{1049}, "3D", "has no database of that name"},
	{[]uint16{1146}, "42P01", "has no table of locks"},
	{[]uint16{1054}, "42703", alien},
	{[]uint16{1193}, "42704", "does not know an option of the URL"},
	{[]uint16{1040, 1203, 1226}, "53300", "has too many connections"},
	{[]uint16{1053}, "57P", "is shutting down or starting"},
	{[]uint16{1290, 1792, 1836}, "25006", "takes no writes"},
	{[]uint16{1021, 1114}, "53100", "is out of disk space"},
}

func sqlTrouble(err error) (means string, ok bool) {
	mysqlError, isMySQL := errors.AsType[*mysql.MySQLError](err)
	pgError, isPostgres := errors.AsType[*pgconn.PgError](err)
	for _, r := range sqlRefusals {
		if isMySQL && slices.Contains(r.mysql, mysqlError.Number) || isPostgres && strings.HasPrefix(pgError.Code, r.postgres) {
			return r.means, true
		}
	}
	if errors.Is(err, sqlstore.ErrTables) {
		return alien, true
	}
	for _, code := range []sqlite3.ErrorCode{sqlite3.CANTOPEN, sqlite3.IOERR, sqlite3.NOTADB, sqlite3.CORRUPT, sqlite3.READONLY, sqlite3.FULL} {
		if errors.Is(err, code) {
			return fileFails, true
		}
	}
	return "", isMySQL || isPostgres
}

// quorumTrouble says what it means that a majority does not serve.
func quorumTrouble(err error) (means string, ok bool) {
	if _, ok := errors.AsType[*quorum.MajorityError](err); !ok {
		return "", false
	}
	return "is a quorum of which too few members serve", true
}
