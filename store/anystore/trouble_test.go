package anystore_test

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/testzk"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// Trouble tells a store that is not there from one that answers and does not serve.
func TestTroubleSaysWhatIsWrong(t *testing.T) {
	if says := anystore.Trouble(nil); says != "" {
		t.Errorf("a store that serves %s", says)
	}
	for _, tt := range []struct {
		name string
		url  func(t *testing.T) string
		says string
	}{
		{"nobody there, Redis", fixed("redis://127.0.0.1:1/0"), "does not answer"},
		{"nobody there, MySQL", fixed("mysql://root:hidden@tcp(127.0.0.1:1)/x"), "does not answer"},
		{"nobody there, PostgreSQL", fixed("postgres://root:hidden@127.0.0.1:1/x"), "does not answer"},
		{"nobody there, ZooKeeper", fixed("zk://root:hidden@127.0.0.1:1"), "does not answer"},
		{"nobody there, etcd", fixed("etcd://127.0.0.1:1"), "does not answer"},
		{"nobody there, quorum", fixed("quorum:redis://:hidden@127.0.0.1:1|memory://|redis://127.0.0.1:2"), "is a quorum of which too few members serve"},
		{"no such folder, SQLite", func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "none", "db") }, "has a file that cannot be used"},
		{"no such user, Redis", func(t *testing.T) string { return onRedis(t, "nobody:hidden", "/0") }, "refuses the user or the password"},
		{"no such database, Redis", func(t *testing.T) string { return onRedis(t, "", "/99999") }, "has no database of that number"},
		{"no such user, MySQL", func(t *testing.T) string { return strangers(t, mysql(t, testserver.Oracle)) }, "refuses the user or the password"},
		{"no such user, MariaDB", func(t *testing.T) string { return strangers(t, mysql(t, testserver.MariaDB)) }, "refuses the user or the password"},
		{"no such database, MySQL", func(t *testing.T) string { return missing(mysql(t, testserver.Oracle)) }, "has no database of that name"},
		{"no such database, MariaDB", func(t *testing.T) string { return missing(mysql(t, testserver.MariaDB)) }, "has no database of that name"},
		{"no such database, PostgreSQL", func(t *testing.T) string { return missing(postgres(t)) }, "has no database of that name"},
		{"tables of others", func(t *testing.T) string {
			url := postgres(t)
			administer(t, "pgx", url)("CREATE TABLE pathlock_trees (id INTEGER)")
			return url
		}, "has a table of that name which is none of locks"},
		{"another user's znodes", func(t *testing.T) string {
			addr := testzk.Start(t).Addr
			if err := use(t.Context(), t, open(t, "zk://owner:hidden@"+addr+"/locks")); err != nil {
				t.Fatal(err)
			}
			return "zk://other:hidden@" + addr + "/locks"
		}, "does not let the user do what locks need"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := open(t, tt.url(t))
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			err := use(ctx, t, store)
			if err == nil {
				t.Fatal("it serves")
			}
			if anystore.Trouble(err) != tt.says {
				t.Errorf("%v: the lock store %q, want %q", err, anystore.Trouble(err), tt.says)
			}
			if strings.Contains(err.Error(), "hidden") {
				t.Errorf("%v tells the password", err)
			}
		})
	}
}

// Who only looks makes no tables, and is told that there are none.
func TestTroubleKnowsThatThereAreNoTables(t *testing.T) {
	for name, url := range map[string]string{"PostgreSQL": postgres(t), "MySQL": mysql(t, testserver.Oracle), "MariaDB": mysql(t, testserver.MariaDB)} {
		_, err := open(t, url, anystore.WithoutTables()).Trees(t.Context())
		if err == nil || anystore.Trouble(err) != "has no table of locks" || !strings.Contains(err.Error(), "those with anystore do") {
			t.Errorf("%s: %v: the lock store %q", name, err, anystore.Trouble(err))
		}
	}
}

// An etcd with users refuses when it is opened, and when it is used.
func TestTroubleKnowsWhatEtcdSays(t *testing.T) {
	for err, says := range map[error]string{
		rpctypes.ErrAuthFailed:       "refuses the user or the password",
		rpctypes.ErrPermissionDenied: "does not let the user do what locks need",
		rpctypes.ErrNoSpace:          "is out of space, and takes no writes",
		rpctypes.ErrCorrupt:          "refuses what it is asked for",
	} {
		if got := anystore.Trouble(fmt.Errorf("etcdstore: asking: %w", err)); got != says {
			t.Errorf("%v: the lock store %q, want %q", err, got, says)
		}
	}
}

// use does what the first request of a program does.
func use(ctx context.Context, t *testing.T, store *anystore.Store) error {
	t.Helper()
	if err := store.Ping(ctx); err != nil {
		return err
	}
	tree, err := pathlock.NewTree("anystore", "trouble")
	if err != nil {
		t.Fatal(err)
	}
	lock, err := pathlock.New(store).Acquire(ctx, pathlock.Request{Tree: tree, Gate: true})
	if err != nil {
		return err
	}
	return lock.Release(ctx)
}

func fixed(url string) func(*testing.T) string { return func(*testing.T) string { return url } }

func onRedis(t *testing.T, user, path string) string {
	t.Helper()
	redis, err := url.Parse(testserver.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	if user != "" {
		user += "@"
	}
	return "redis://" + user + redis.Host + path
}

// strangers makes the URL of a MySQL that of a user whom it does not know.
func strangers(t *testing.T, url string) string {
	t.Helper()
	at := strings.LastIndexByte(url, '@')
	if at < 0 {
		t.Fatal("the URL of the server names no user")
	}
	return "mysql://pathlock_nobody:hidden" + url[at:]
}

// missing makes the URL of a database that of another one, which does not exist.
func missing(url string) string { return url + "_missing" }
