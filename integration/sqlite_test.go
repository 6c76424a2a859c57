package integration

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"sync/atomic"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/glebarez/sqlite"
	"github.com/ncruces/go-sqlite3/gormlite"
	"go.uber.org/goleak"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/idempotencytest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
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
	d := databases.SQLiteWith(t, "&_txlock=deferred")
	d.Again = true
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

// SQLite refuses a COMMIT while a deferred foreign key is broken, and leaves the transaction open.
// It is rolled back, as its functions learn, and the next user of the connection does not commit
// it.
func TestTransaction_commitRefusedBySQLite(t *testing.T) {
	t.Parallel()
	for name, dialector := range map[string]gorm.Dialector{
		"ncruces":  gormlite.Open(databases.SQLiteFile(t, "&_pragma=foreign_keys(1)")),
		"glebarez": sqlite.Open(databases.SQLiteFile(t, "&_pragma=foreign_keys(1)")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := databases.Use(t, dialector)
			pool, err := db.DB()
			testerr.Must(t, err)
			pool.SetMaxOpenConns(1)
			testerr.Must(t, db.Use(gormplugintest.NewPlugin(pathlock.New(memstore.New()))))
			testerr.Must(t, db.Exec("CREATE TABLE orders (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES orders (id) DEFERRABLE INITIALLY DEFERRED)").Error)
			told := gormplugin.Unknown
			err = db.Transaction(func(tx *gorm.DB) error {
				testerr.Must(t, gormplugin.AfterEnd(tx, func(_ context.Context, outcome gormplugin.Outcome) { told = outcome }))
				return tx.Exec("INSERT INTO orders (id, parent) VALUES (1, 7)").Error
			})
			if err == nil || told != gormplugin.RolledBack {
				t.Errorf("the error is %v, the outcome %d", err, told)
			}
			testerr.Must(t, db.Transaction(func(tx *gorm.DB) error { return tx.Exec("INSERT INTO orders (id) VALUES (7)").Error }, &sql.TxOptions{}))
			var orders []int
			testerr.Must(t, db.Raw("SELECT id FROM orders").Scan(&orders).Error)
			if len(orders) != 1 {
				t.Errorf("the orders are %v", orders)
			}
		})
	}
}

// suspended is the context of a lock whose lease has ended while the host was suspended, before its
// Done is closed, as long as the Bool is set.
type suspended struct {
	context.Context
	*atomic.Bool
}

// Err implements [context.Context].
func (c suspended) Err() error {
	if c.Load() {
		return pathlock.ErrLost
	}
	return c.Context.Err()
}

// A lost lease is seen before each statement of a transaction is sent, and before its COMMIT.
func TestTransaction_seesALostLease(t *testing.T) {
	type branch = gormplugintest.Branch
	db := databases.Use(t, gormlite.Open(databases.SQLiteFile(t, "&_txlock=immediate")), gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&branch{})))
	testerr.Must(t, gormplugin.AutoMigrate(db))
	ctx := suspended{t.Context(), new(atomic.Bool)}
	tx := db.WithContext(ctx).Begin()
	testerr.Must(t, tx.Create(&branch{TreeID: 1, Name: "a"}).Error)
	ctx.Store(true)
	var names []string
	for i, statement := range []*gorm.DB{tx.Exec("PRAGMA user_version = 1"), tx.Raw("SELECT name FROM branches").Scan(&names)} {
		if statement.Error == nil {
			t.Errorf("statement %d was sent", i)
		}
	}
	if err := tx.Commit().Error; err == nil {
		t.Error("committed")
	}
}
