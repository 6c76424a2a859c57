package sqlstore_test

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/sqlstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
	"github.com/pathlock-go/pathlock/store/storetest"
)

func x(path string) pathlock.Claim { return testlock.X(path) }

func TestMain(m *testing.M) {
	// Some tests cut connections, which the driver would log.
	if err := mysql.SetLogger(&mysql.NopLogger{}); err != nil {
		panic(err)
	}
	testserver.Main(m, 12) // the servers do the work
}

// database is an empty database of a test's own.
type database struct {
	name    string
	url     string
	dialect sqlstore.Dialect
}

// each runs a test on an SQLite file, and on an empty database of each server, beside others.
// Without a server, its subtest is skipped; in CI it fails.
func each(t *testing.T, test func(t *testing.T, d database)) {
	t.Helper()
	eachServer(t, test)
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, sqliteFile(t))
	})
}

// eachServer is each without SQLite.
func eachServer(t *testing.T, test func(t *testing.T, d database)) {
	t.Helper()
	t.Parallel()
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, scratchPostgres(t))
	})
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		t.Parallel()
		test(t, scratchMySQL(t, server))
	})
}

func sqliteFile(t testing.TB) database {
	return database{"SQLite", "sqlite://" + filepath.Join(t.TempDir(), "locks.db"), sqlstore.SQLite}
}

func scratchPostgres(t testing.TB) database {
	t.Helper()
	return database{"PostgreSQL", testserver.ScratchPostgres(t), sqlstore.Postgres}
}

func scratchMySQL(t testing.TB, server testserver.MySQLServer) database {
	t.Helper()
	return database{server.Product, "mysql://" + server.Scratch(t), sqlstore.MySQL}
}

// another returns another empty database on the same server.
func (d database) another(t testing.TB) database {
	t.Helper()
	if d.dialect == sqlstore.Postgres {
		return scratchPostgres(t)
	}
	for _, server := range testserver.MySQLServers(t) {
		if server.Product == d.name {
			return scratchMySQL(t, server)
		}
	}
	return sqliteFile(t)
}

// opened opens a pool until the end of the test.
func opened(t testing.TB, driver, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	testerr.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// pool opens a pool of the test's own on a database.
func (d database) pool(t testing.TB) *sql.DB {
	t.Helper()
	switch d.dialect {
	case sqlstore.Postgres:
		return opened(t, "pgx", d.url)
	case sqlstore.MySQL:
		return opened(t, "mysql", strings.TrimPrefix(d.url, "mysql://"))
	default:
		return opened(t, "sqlite3", "file:"+strings.TrimPrefix(d.url, "sqlite://"))
	}
}

func run(t testing.TB, db *sql.DB, statement string) {
	t.Helper()
	testerr.MustBe(t, statement, testerr.Of(db.ExecContext(context.Background(), statement)), nil)
}

// store opens a store until the end of the test, in tables that are there afterwards.
func (d database) store(t testing.TB, opts ...sqlstore.Option) *sqlstore.Store {
	t.Helper()
	s, err := sqlopen.Open(d.url, testlock.Patiently(sqlstore.WithTimeout, opts)...)
	testerr.Must(t, err)
	t.Cleanup(func() {
		testerr.Is(t, "closing the store", s.Close(context.WithoutCancel(t.Context())), nil)
	})
	testerr.Must(t, s.Create(t.Context()))
	return s
}

// behind returns the same database behind a proxy.
func (d database) behind(t testing.TB, delay time.Duration) (database, *testnet.Proxy) {
	t.Helper()
	var upstream string
	var through func(addr string) string
	switch d.dialect {
	case sqlstore.Postgres:
		u, err := url.Parse(d.url)
		testerr.Must(t, err)
		upstream = u.Host
		through = func(addr string) string { u.Host = addr; return u.String() }
	default:
		cfg, err := mysql.ParseDSN(strings.TrimPrefix(d.url, "mysql://"))
		testerr.Must(t, err)
		upstream = cfg.Addr
		through = func(addr string) string { cfg.Addr = addr; return "mysql://" + cfg.FormatDSN() }
	}
	proxy := testnet.StartProxy(t, upstream, delay)
	return database{d.name, through(proxy.Addr()), d.dialect}, proxy
}

// mortal returns a store of another client, and what cuts it off from the database.
func (d database) mortal(t testing.TB) (victim *sqlstore.Store, crash func()) {
	t.Helper()
	if d.dialect != sqlstore.SQLite {
		far, proxy := d.behind(t, 0)
		return far.store(t), func() { _ = proxy.Close() }
	}
	db := d.pool(t)
	return d.on(t, db), func() { _ = db.Close() }
}

// on returns a store on a pool, until the end of the test.
func (d database) on(t testing.TB, db *sql.DB, opts ...sqlstore.Option) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.New(db, d.dialect, testlock.Patiently(sqlstore.WithTimeout, opts)...)
	testerr.Must(t, err)
	t.Cleanup(func() { _ = s.Close(context.WithoutCancel(t.Context())) })
	return s
}

// left requires that nobody holds or waits in a tree, and that it has no ticket. The store is one
// whose connections nobody cuts.
func left(t *testing.T, s *sqlstore.Store, tree pathlock.Tree) {
	t.Helper()
	state, err := s.View(context.WithoutCancel(t.Context()), tree)
	if err != nil || len(state.Tickets) > 0 {
		t.Errorf("left behind: %v, %v", state.Tickets, err)
	}
}

func TestConformance(t *testing.T) { each(t, conforms) }

// busy is a lease that outlasts a test's calls on a database that many suites share.
const busy = time.Second

// conforms requires all that a lock store promises, and that nothing is left.
func conforms(t *testing.T, d database) {
	t.Helper()
	first := d.store(t)
	options := []storetest.Option{storetest.Leases(busy)}
	if d.name != testserver.MariaDB { // MySQL covers it
		options = append(options, storetest.Silence(d.locked))
	}
	if d.name != testserver.Oracle && d.dialect != sqlstore.SQLite { // MariaDB covers the one, and the other has no server
		options = append(options, storetest.Silence(d.silent))
	}
	storetest.Run(t, func(t *testing.T) pathlock.Store { return d.store(t) },
		append(options, storetest.Crash(func(t *testing.T) (survivor, victim pathlock.Store, crash func()) {
			v, crash := d.mortal(t)
			return d.store(t), v, crash
		}))...)
	if trees, err := first.Trees(t.Context()); err != nil || len(trees) > 0 {
		t.Errorf("left behind: %v, %v", trees, err)
	}
}
