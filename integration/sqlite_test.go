package integration

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/glebarez/sqlite"
	"go.uber.org/goleak"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/idempotencytest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
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

func TestSQLiteRaces(t *testing.T) {
	t.Parallel()
	gormplugintest.RunRaces(t, databases.SQLite(t))
}

// A transaction that was begun DEFERRED is just as safe: it becomes the database's writer before
// the plugin relies on what it reads.
func TestSQLiteDeferred(t *testing.T) {
	t.Parallel()
	d := databases.SQLite(t)
	d.Connector, d.Again = databases.SQLiteConnector(t, "&_txlock=deferred"), true
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
	registered, err := sql.Open(sqlite.DriverName, "")
	testerr.Must(t, err)
	testerr.Must(t, registered.Close())
	d := gormplugintest.Database{
		Connector:  glebarezConnector{registered.Driver(), databases.SQLiteFile(t, "&_txlock=immediate")},
		Dialector:  func(pool *sql.DB) gorm.Dialector { return &sqlite.Dialector{Conn: pool} },
		SoleWriter: true,
		Again:      true,
	}
	// The database is the same; what differs is the driver.
	gormplugintest.RunMachine(t, d)
	gormplugintest.RunTransactions(t, d)
}
