//go:build cgo

// Package drivers tests drivers by other people. It is apart from the other tests since the driver
// by mattn has the name of another one that these link.
package drivers

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mattn/go-sqlite3"
	"gorm.io/driver/postgres"
	"gorm.io/driver/sqlite"
	"gorm.io/driver/sqlserver"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// named connects by a driver that has no connector of its own.
type named struct {
	driver driver.Driver
	source string
}

func (n named) Connect(context.Context) (driver.Conn, error) { return n.driver.Open(n.source) }
func (n named) Driver() driver.Driver                        { return n.driver }

// Drivers differ in how transactions end, and in how errors read. The tests of package integration
// go through pgx in database/sql, and through two other drivers of SQLite.
func TestDrivers_mattn(t *testing.T) {
	d := gormplugintest.Database{
		Connector: named{
			new(sqlite3.SQLiteDriver),
			"file:" + filepath.Join(t.TempDir(), "test.db") + "?_busy_timeout=10000&_journal_mode=WAL&_synchronous=OFF&_txlock=immediate",
		},
		Dialector:  func(pool *sql.DB) gorm.Dialector { return sqlite.New(sqlite.Config{Conn: pool}) },
		SoleWriter: true, Again: true, GivenUp: sqlite3.Error{Code: sqlite3.ErrBusy},
	}
	gormplugintest.RunMachine(t, d)
	gormplugintest.RunTransactions(t, d)
}

// A driver of MySQL whose errors have a type of their own, as those of go-mysql-org/go-mysql have.
type (
	foreign struct{ driver.Connector }
	spoken  struct{ driver.Conn }
)

func (f foreign) Driver() driver.Driver            { return f }
func (f foreign) Open(string) (driver.Conn, error) { return nil, driver.ErrSkip }
func (f foreign) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := f.Connector.Connect(ctx)
	return spoken{conn}, err
}

func (s spoken) Prepare(query string) (driver.Stmt, error) {
	stmt, err := s.Conn.Prepare(query)
	if err != nil {
		err = errors.New(err.Error())
	}
	return stmt, err
}

// of is a dialector by another name.
type of struct {
	gorm.Dialector
	name string
}

func (o of) Name() string { return o.name }

// An unsupported database is refused by name, and the error names the supported ones.
func TestDrivers_refused(t *testing.T) {
	pool := sql.OpenDB(named{})
	t.Cleanup(func() { _ = pool.Close() })
	refused := map[string]gorm.Dialector{
		`"sqlserver" is not known; known are mysql, postgres, sqlite`: sqlserver.New(sqlserver.Config{Conn: pool}),
		`"gaussdb" is not known; known are mysql, postgres, sqlite`:   of{postgres.New(postgres.Config{Conn: pool}), "gaussdb"},
		`"opengauss" is not known`:                                    of{postgres.New(postgres.Config{Conn: pool}), "opengauss"},
	}
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		d := gormplugintest.OnMySQL(t, server, nil)
		own := sql.OpenDB(foreign{d.Connector})
		t.Cleanup(func() { _ = own.Close() })
		uses(t, d.Dialector(own), "the driver github.com/pathlock-go/pathlock/integration/drivers", "use github.com/go-sql-driver/mysql")
	})
	for says, dialector := range refused {
		uses(t, dialector, says)
	}
}

// uses checks what the error of Use says.
func uses(t *testing.T, dialector gorm.Dialector, says ...string) {
	t.Helper()
	db, err := gorm.Open(dialector, &gorm.Config{DisableAutomaticPing: true})
	testerr.Must(t, err)
	err = db.Use(gormplugin.New(pathlock.New(memstore.New())))
	for _, says := range says {
		if !errors.Is(err, gormplugin.ErrUnsupportedDatabase) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want that %s", dialector.Name(), err, says)
		}
	}
}
