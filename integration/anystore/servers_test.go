package anystore_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testetcd"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/internal/test/testzk"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/etcdstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
	"github.com/pathlock-go/pathlock/store/zkstore"
)

var kinds = []anystore.Option{redisstore.Kind, sqlopen.Kind, zkstore.Kind, etcdstore.Kind}

// servers are the lock stores that several processes share, by how to get the URL of one. Tests
// that lack a server are skipped.
var servers = map[string]func(t *testing.T) string{
	"Redis":      func(t *testing.T) string { return testserver.Redis(t) },
	"MySQL":      mysql,
	"PostgreSQL": func(t *testing.T) string { return testserver.ScratchPostgres(t) },
	"SQLite": func(t *testing.T) string {
		// The transaction that needs a lock may be in the file that the locks' URL names.
		path := filepath.Join(t.TempDir(), "app.db")
		administer(t, "sqlite3", "file:"+filepath.ToSlash(path))("BEGIN EXCLUSIVE")
		return "sqlite://" + path
	},
	"ZooKeeper": func(t *testing.T) string { return "zk://" + testzk.Start(t).Addr + "/locks" },
	"etcd":      func(t *testing.T) string { return "etcd://" + testetcd.Start(t).Addr + "/locks" },
	"quorum": func(t *testing.T) string {
		var urls []string
		for range 3 {
			urls = append(urls, "redis://"+testredis.Start(t, testredis.Redis).Addr)
		}
		return "quorum:" + strings.Join(urls, "|")
	},
}

// mysql returns the URL of an empty database.
func mysql(t *testing.T) string {
	t.Helper()
	return "mysql://" + testserver.MySQLServer{DSN: testserver.MySQL(t)}.Scratch(t)
}

// administer returns a function that runs statements on a server, even while the test is cleaned
// up.
func administer(t *testing.T, driver, server string) func(statement string) {
	t.Helper()
	pool, err := sql.Open(driver, server)
	testerr.Must(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	return func(statement string) {
		t.Helper()
		testerr.Is(t, driver, testerr.Of(pool.ExecContext(context.WithoutCancel(t.Context()), statement)), nil)
	}
}
