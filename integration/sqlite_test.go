package integration

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"path/filepath"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/glebarez/sqlite"
	"github.com/ncruces/go-sqlite3"
	ncruces "github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/gormlite"
	"go.uber.org/goleak"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/idempotencytest"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

func TestMain(m *testing.M) {
	if idempotencytest.Child(dialectorOf) {
		os.Exit(0)
	}
	if err := gormplugintest.Checks(); err != nil {
		panic(err)
	}
	gin.SetMode(gin.ReleaseMode)
	// GORM's cache of prepared statements has a goroutine that it never ends.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("gorm.io/gorm/internal/lru.NewLRU[...].func1"))
}

// fileName names a new SQLite file, as both drivers understand it.
func fileName(t *testing.T, parameters string) string {
	t.Helper()
	return "file:" + filepath.Join(t.TempDir(), "test.db") + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(off)" + parameters
}

// connectorTo returns a connector to a new SQLite file.
func connectorTo(t *testing.T, parameters string) driver.Connector {
	t.Helper()
	connector, err := (&ncruces.SQLite{}).OpenConnector(fileName(t, parameters))
	if err != nil {
		t.Fatal(err)
	}
	return connector
}

// sqliteDatabase is a new file, whose transactions begin as writers.
func sqliteDatabase(t *testing.T) gormplugintest.Database {
	t.Helper()
	return gormplugintest.Database{
		Connector:  connectorTo(t, "&_txlock=immediate"),
		Dialector:  func(pool *sql.DB) gorm.Dialector { return gormlite.OpenDB(pool) },
		SoleWriter: true,
		GivenUp:    sqlite3.BUSY,
	}
}

// What is done in turn, which the race detector watches on PostgreSQL.
func TestSQLite(t *testing.T) {
	t.Parallel()
	testserver.NotUnderRace(t)
	d := sqliteDatabase(t)
	gormplugintest.RunStatements(t, d)
	gormplugintest.RunTransactions(t, d)
}

func TestSQLiteRaces(t *testing.T) {
	t.Parallel()
	gormplugintest.RunRaces(t, sqliteDatabase(t))
}

// A transaction that was begun DEFERRED is just as safe: it becomes the database's writer before
// the plugin relies on what it reads.
func TestSQLiteDeferred(t *testing.T) {
	t.Parallel()
	testserver.NotUnderRace(t)
	d := sqliteDatabase(t)
	d.Connector = connectorTo(t, "&_txlock=deferred")
	gormplugintest.RunTransactions(t, d)
	gormplugintest.RunRaces(t, d)
}

// glebarezConnector connects by the driver of modernc.org's translation of SQLite, which has no
// connector of its own.
type glebarezConnector struct {
	driver driver.Driver
	name   string
}

// Connect implements [driver.Connector].
func (c glebarezConnector) Connect(context.Context) (driver.Conn, error) {
	return c.driver.Open(c.name)
}

// Driver implements [driver.Connector].
func (c glebarezConnector) Driver() driver.Driver { return c.driver }

func TestSQLiteGlebarez(t *testing.T) {
	t.Parallel()
	testserver.NotUnderRace(t)
	registered, err := sql.Open(sqlite.DriverName, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := registered.Close(); err != nil {
		t.Fatal(err)
	}
	d := gormplugintest.Database{
		Connector:  glebarezConnector{registered.Driver(), fileName(t, "&_txlock=immediate")},
		Dialector:  func(pool *sql.DB) gorm.Dialector { return &sqlite.Dialector{Conn: pool} },
		SoleWriter: true,
	}
	// The database is the same; what differs is the driver.
	gormplugintest.RunMachine(t, d)
	gormplugintest.RunTransactions(t, d)
}
