package anystore_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/internal/test/testzk"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// Trouble tells what a store means that answers and does not serve. No error tells a password.
func TestTroubleSaysWhatIsWrong(t *testing.T) {
	if says := anystore.Trouble(nil); says != "" {
		t.Errorf("a store that serves %s", says)
	}
	others, keeper := testserver.ScratchPostgres(t), testzk.Start(t).Addr
	administer(t, "pgx", others)("CREATE TABLE pathlock_trees (id INTEGER)")
	testerr.Must(t, use(t, "zk://owner:hidden@"+keeper+"/locks"))
	for url, says := range map[string]string{
		"sqlite://" + filepath.Join(t.TempDir(), "none", "db"): "has a file that cannot be used",
		testserver.Redis(t) + "?db=99999":                      "has no database with that number",
		mysql(t) + "_missing":                                  "has no database with that name",
		mysql(t) + "?replicas=1":                               "does not know an option of the URL",
		testserver.ScratchPostgres(t) + "?replicas=1":          "does not know an option of the URL",
		testserver.ScratchPostgres(t) + "_missing":             "has no database with that name",
		others:                                   "has another table of that name",
		"zk://other:hidden@" + keeper + "/locks": "does not let the user do what locks need",
	} {
		if err := use(t, url); err == nil || anystore.Trouble(err) != says || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%v: the lock store %q, want %q", err, anystore.Trouble(err), says)
		}
	}
	// Who only looks makes no tables, and is told that there are none.
	for _, url := range []string{testserver.ScratchPostgres(t), mysql(t)} {
		_, err := open(t, url, anystore.WithoutTables()).Trees(t.Context())
		if err == nil || anystore.Trouble(err) != "lacks a table" || !strings.Contains(err.Error(), "those with anystore do") {
			t.Errorf("%v: the lock store %q", err, anystore.Trouble(err))
		}
	}
}

// A user of Redis whose channels were forgotten takes locks, and is late to hear of releases.
func TestTrouble_RedisUserWithoutChannels(t *testing.T) {
	for _, program := range []testredis.Program{testredis.Redis, testredis.Valkey} {
		server := testredis.Start(t, program)
		server.Do("ACL", "SETUSER", "half", "on", ">hidden", "~*", "resetchannels", "+@all")
		err := open(t, "redis://half:hidden@"+server.Addr).Ping(t.Context())
		if got := anystore.Trouble(err); got != "does not let the user do what locks need" {
			t.Errorf("%v: the lock store %q", err, got)
		}
	}
}

// An etcd with users refuses when it is opened, and when it is used.
func TestTroubleKnowsWhatEtcdSays(t *testing.T) {
	for err, says := range map[error]string{
		rpctypes.ErrAuthFailed:       "refuses the user or the password",
		rpctypes.ErrPermissionDenied: "does not let the user do what locks need",
		rpctypes.ErrNoSpace:          "is out of space, and takes no writes",
		rpctypes.ErrCorrupt:          "refuses the request",
	} {
		if got := anystore.Trouble(fmt.Errorf("etcdstore: asking: %w", err)); got != says {
			t.Errorf("%v: the lock store %q, want %q", err, got, says)
		}
	}
}

func TestTrouble_WorkThatIsCutOff(t *testing.T) {
	for _, err := range []error{
		&pgconn.PgError{Severity: "ERROR", Code: "57014"},
		&pgconn.PgError{Severity: "FATAL", Code: "25P03"},
		&driver.MySQLError{Number: 1969},
		&driver.MySQLError{Number: 3024},
	} {
		if got := anystore.Trouble(fmt.Errorf("reading: %w", err)); got != "has cut off an operation that took too long" {
			t.Errorf("%v: the lock store %q", err, got)
		}
	}
}

// use does what the first request of a program does.
func use(t *testing.T, url string) error {
	t.Helper()
	lock, err := pathlock.New(open(t, url)).Mutex("trouble").TryLock(t.Context())
	if err != nil {
		return err
	}
	return lock.Release(t.Context())
}
