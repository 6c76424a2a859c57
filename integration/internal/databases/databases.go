// Package databases has the databases of the tests that need more drivers than the root module has.
package databases

import (
	"database/sql"
	"database/sql/driver"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/ncruces/go-sqlite3"
	ncruces "github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// The locales of a PostgreSQL database: in ByteOrder an index can serve the ranges that the plugin
// reads; in WordOrder slashes count for little, so that "/d1" + "/x" comes after "/d10".
const (
	ByteOrder = "ENCODING 'UTF8' LOCALE 'C'"
	WordOrder = "ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en-u-ka-shifted' LOCALE 'C'"
)

// Postgres is a database on PostgreSQL, which is dropped after the test. The locale decides how
// text columns are ordered. Settings are those of the sessions, such as
// default_transaction_isolation.
func Postgres(t *testing.T, locale string, settings map[string]string) gormplugintest.Database {
	t.Helper()
	own, err := pgx.ParseConfig(testserver.ScratchPostgres(t, "TEMPLATE template0", locale))
	testerr.Must(t, err)
	// A deadlock is looked for after a second by default, in which all others wait.
	own.RuntimeParams["deadlock_timeout"] = "50ms"
	for key, value := range settings {
		own.RuntimeParams[key] = value
	}
	return gormplugintest.Database{
		Connector: keep(t, stdlib.GetConnector(*own)),
		Dialector: func(pool *sql.DB) gorm.Dialector { return postgres.New(postgres.Config{Conn: pool}) },
		Again:     true, // MySQL passes the whole suite; the writes, and when they fail, are the same
		GivenUp:   &pgconn.PgError{Severity: "ERROR", Code: "40P01", Message: "deadlock detected"},
	}
}

// SQLiteFile names a new SQLite file, as the drivers ncruces and glebarez both understand it.
func SQLiteFile(t *testing.T, parameters string) string {
	t.Helper()
	if !strings.Contains(parameters, "journal_mode") {
		parameters += "&_pragma=journal_mode(wal)"
	}
	// The name of a test, and so of its directory, may have a #, which would end the URI's path.
	path := (&url.URL{Path: filepath.Join(t.TempDir(), "test.db")}).EscapedPath()
	return "file:" + path + "?_pragma=busy_timeout(10000)&_pragma=synchronous(off)" + parameters
}

// SQLiteConnector returns a connector to a new SQLite file.
func SQLiteConnector(t *testing.T, parameters string) driver.Connector {
	t.Helper()
	connector, err := (&ncruces.SQLite{}).OpenConnector(SQLiteFile(t, parameters))
	testerr.Must(t, err)
	return connector
}

// SQLite is a new file, whose transactions begin as writers.
func SQLite(t *testing.T) gormplugintest.Database { return SQLiteWith(t, "&_txlock=immediate") }

// SQLiteWith is a new file that is opened with parameters.
func SQLiteWith(t *testing.T, parameters string) gormplugintest.Database {
	t.Helper()
	return gormplugintest.Database{
		Connector:  SQLiteConnector(t, parameters),
		Dialector:  func(pool *sql.DB) gorm.Dialector { return gormlite.OpenDB(pool) },
		SoleWriter: true,
		GivenUp:    sqlite3.BUSY,
	}
}

// Pool opens a pool until the end of the test.
func Pool(t *testing.T, connector driver.Connector) *sql.DB {
	t.Helper()
	pool := sql.OpenDB(connector)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// Use opens a database with plugins until the end of the test.
func Use(t testing.TB, dialector gorm.Dialector, plugins ...gorm.Plugin) *gorm.DB {
	t.Helper()
	db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard})
	testerr.Must(t, err)
	pool, err := db.DB()
	testerr.Must(t, err)
	t.Cleanup(func() { testerr.None(t, pool.Close()) })
	for _, plugin := range plugins {
		testerr.Must(t, db.Use(plugin))
	}
	return db
}

// Each runs a test on every database at once, as parallel subtests, beside other tests. The subtest
// of a server that there is none of is skipped; in CI it fails.
func Each(t *testing.T, test func(t *testing.T, fresh func(*testing.T) gormplugintest.Database)) {
	t.Helper()
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, SQLite)
	})
	// In the order of a language, in which slashes hardly count, the plugin's ranges must not miss
	// rows, or take in others.
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, func(t *testing.T) gormplugintest.Database { return Postgres(t, WordOrder, nil) })
	})
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		t.Parallel()
		test(t, func(t *testing.T) gormplugintest.Database { return gormplugintest.OnMySQL(t, server, nil) })
	})
}
