package integration

import (
	"context"
	"testing"
	"time"

	"github.com/glebarez/sqlite"
	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// SQLite rolls a transaction back by itself where a statement that writes is interrupted, and where
// a trigger or a constraint says so. Nothing more runs in it then; after any other error, it goes
// on.
func TestTransaction_errorsThatEndItOnSQLite(t *testing.T) {
	for name, dialector := range map[string]func(t *testing.T) gorm.Dialector{
		"ncruces":  func(t *testing.T) gorm.Dialector { return gormlite.Open(databases.SQLiteFile(t, "&_txlock=immediate")) },
		"glebarez": func(t *testing.T) gorm.Dialector { return sqlite.Open(databases.SQLiteFile(t, "&_txlock=immediate")) },
	} {
		for _, c := range []struct {
			name  string
			fail  func(tx *gorm.DB) error
			ended bool
		}{
			{"a trigger that rolls back", func(tx *gorm.DB) error { return tx.Exec("INSERT INTO others (name) VALUES ('roll back')").Error }, true},
			{"a trigger that aborts", func(tx *gorm.DB) error { return tx.Exec("INSERT INTO others (name) VALUES ('abort')").Error }, false},
			{"a constraint that rolls back", func(tx *gorm.DB) error { return tx.Exec("INSERT INTO picky (id) VALUES (1)").Error }, true},
			{"a table that is not there", func(tx *gorm.DB) error { return tx.Exec("INSERT INTO nowhere (name) VALUES ('x')").Error }, false},
			{"a row that is not there", func(tx *gorm.DB) error { return tx.Take(&gormplugintest.Other{}, -1).Error }, false},
			{"a full database", func(tx *gorm.DB) error {
				return tx.Exec("INSERT INTO others (name) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000) SELECT hex(randomblob(10000)) FROM n").Error
			}, false},
			{"an interruption", func(tx *gorm.DB) error {
				ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
				defer cancel()
				return tx.WithContext(ctx).Exec("INSERT INTO others (name) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000000) SELECT 'x' FROM n WHERE i % 1000000 = 0").Error
			}, true},
		} {
			t.Run(name+": "+c.name, func(t *testing.T) {
				db, err := gorm.Open(dialector(t), &gorm.Config{Logger: logger.Discard})
				testerr.Must(t, err)
				pool, err := db.DB()
				testerr.Must(t, err)
				pool.SetMaxOpenConns(1)
				defer func() { testerr.Must(t, pool.Close()) }()
				testerr.Must(t, db.AutoMigrate(append(gormplugintest.Models(), &gormplugintest.Other{})...))
				testerr.Must(t, db.Use(gormplugintest.NewPlugin(pathlock.New(memstore.New()))))
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
		}
	}
}
