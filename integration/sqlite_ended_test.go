package integration

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/glebarez/sqlite"
	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// onSQLite runs a test by two drivers, each on a file with one connection and the tables of the
// test suite.
func onSQLite(t *testing.T, parameters string, test func(t *testing.T, db *gorm.DB, pool *sql.DB)) {
	for name, open := range map[string]func(string) gorm.Dialector{"ncruces": gormlite.Open, "glebarez": sqlite.Open} {
		t.Run(name, func(t *testing.T) {
			db := databases.Use(t, open(databases.SQLiteFile(t, parameters)))
			pool, err := db.DB()
			testerr.Must(t, err)
			pool.SetMaxOpenConns(1)
			testerr.Must(t, db.AutoMigrate(append(gormplugintest.Models(), &gormplugintest.Other{})...))
			testerr.Must(t, db.Use(gormplugintest.NewPlugin(pathlock.New(memstore.New()))))
			test(t, db, pool)
		})
	}
}

// SQLite refuses a COMMIT while a deferred foreign key is broken, and leaves the transaction open.
// It is rolled back, as its functions are told, and not committed by whoever comes next on the
// connection.
func TestTransaction_commitRefusedBySQLite(t *testing.T) {
	onSQLite(t, "&_pragma=foreign_keys(1)", func(t *testing.T, db *gorm.DB, _ *sql.DB) {
		testerr.Must(t, db.Exec("CREATE TABLE orders (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES orders (id) DEFERRABLE INITIALLY DEFERRED)").Error)
		told := gormplugin.Unknown
		err := db.Transaction(func(tx *gorm.DB) error {
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

// SQLite rolls a transaction back by itself where a statement that writes is interrupted, and where
// a trigger or a constraint says so. Nothing more runs in it then; after any other error, it goes
// on.
func TestTransaction_errorsThatEndItOnSQLite(t *testing.T) {
	exec := func(statement string) func(*gorm.DB) error {
		return func(tx *gorm.DB) error { return tx.Exec(statement).Error }
	}
	for _, c := range []struct {
		name  string
		fail  func(tx *gorm.DB) error
		ended bool
	}{
		{"a trigger that rolls back", exec("INSERT INTO others (name) VALUES ('roll back')"), true},
		{"a trigger that aborts", exec("INSERT INTO others (name) VALUES ('abort')"), false},
		{"a constraint that rolls back", exec("INSERT INTO picky (id) VALUES (1)"), true},
		{"a table that is not there", exec("INSERT INTO nowhere (name) VALUES ('x')"), false},
		{"a row that is not there", func(tx *gorm.DB) error { return tx.Take(&gormplugintest.Other{}, -1).Error }, false},
		{"a full database", exec("INSERT INTO others (name) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000) SELECT hex(randomblob(10000)) FROM n"), false},
		{"an interruption", func(tx *gorm.DB) error {
			ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
			defer cancel()
			return tx.WithContext(ctx).Exec("INSERT INTO others (name) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000000) SELECT 'x' FROM n WHERE i % 1000000 = 0").Error
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			onSQLite(t, "&_txlock=immediate", func(t *testing.T, db *gorm.DB, pool *sql.DB) {
				for _, statement := range []string{
					"CREATE TABLE picky (id INTEGER PRIMARY KEY ON CONFLICT ROLLBACK)",
					"INSERT INTO picky (id) VALUES (1)",
					"CREATE TRIGGER roll BEFORE INSERT ON others WHEN NEW.name = 'roll back' BEGIN SELECT RAISE(ROLLBACK, 'rolled back'); END",
					"CREATE TRIGGER abort BEFORE INSERT ON others WHEN NEW.name = 'abort' BEGIN SELECT RAISE(ABORT, 'aborted'); END",
					"PRAGMA max_page_count = 300",
				} {
					_, err := pool.ExecContext(t.Context(), statement)
					testerr.Must(t, err)
				}
				folder := func(id string) *gormplugintest.Folder { return &gormplugintest.Folder{ID: id, DriveID: "d", Name: id} }
				tx := db.Begin()
				testerr.Must(t, tx.Create(folder("before")).Error)
				if err := c.fail(tx.Session(&gorm.Session{})); err == nil {
					t.Fatal("no error")
				}
				for what, write := range map[string]func(tx *gorm.DB) error{
					"a guarded table": func(tx *gorm.DB) error { return tx.Create(folder("after")).Error },
					"another table":   func(tx *gorm.DB) error { return tx.Create(&gormplugintest.Other{Name: "after"}).Error },
					"raw SQL":         func(tx *gorm.DB) error { return tx.Exec("INSERT INTO others (name) VALUES ('after')").Error },
				} {
					if err := write(tx.Session(&gorm.Session{})); (err != nil) != c.ended {
						t.Errorf("%s afterwards: %v", what, err)
					}
				}
				want := 0
				if c.ended {
					testerr.Must(t, tx.Rollback().Error)
				} else {
					testerr.Must(t, tx.Commit().Error)
					want = 4
				}
				var rows int
				testerr.Must(t, pool.QueryRowContext(t.Context(), "SELECT (SELECT COUNT(*) FROM folders) + (SELECT COUNT(*) FROM others)").Scan(&rows))
				if rows != want {
					t.Errorf("%d rows are committed, want %d", rows, want)
				}
			})
		})
	}
}
