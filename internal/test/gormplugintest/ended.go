package gormplugintest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// failing is something that fails in a transaction, and perhaps ends it on the server.
type failing struct {
	name string
	// made are the statements that prepare it.
	made  []string
	fail  func(tx *gorm.DB) error
	ended bool
}

// failings are those of a database. On MySQL a procedure fails with any number, with a ROLLBACK
// before it or without one, as a server does by its version, its settings and its plugins. SQLite
// rolls a transaction back by itself where a statement that writes is interrupted, and where a
// trigger or a constraint says so.
func failings(database string) (all []failing) {
	sql := func(statement string) func(tx *gorm.DB) error {
		return func(tx *gorm.DB) error { return tx.Exec(statement).Error }
	}
	const numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT "
	switch database {
	case "mysql":
		// ER_LOCK_WAIT_TIMEOUT, with innodb_rollback_on_timeout; ER_SIGNAL_EXCEPTION; and one that
		// nobody knows yet.
		for _, number := range []int{1205, 1644, 9999} {
			for _, ended := range []bool{true, false} {
				body := fmt.Sprintf("BEGIN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = %d; END", number)
				if ended {
					body = strings.Replace(body, "BEGIN", "BEGIN ROLLBACK;", 1)
				}
				all = append(all, failing{fmt.Sprint(number, " ", ended), []string{"DROP PROCEDURE IF EXISTS failing", "CREATE PROCEDURE failing() " + body}, sql("CALL failing()"), ended})
			}
		}
	case "sqlite":
		trigger := "CREATE TRIGGER IF NOT EXISTS %[1]s BEFORE INSERT ON others WHEN NEW.name = '%[1]s' BEGIN SELECT RAISE(%[1]s, 'said'); END"
		all = []failing{
			{"a trigger that rolls back", []string{fmt.Sprintf(trigger, "ROLLBACK")}, sql("INSERT INTO others (name) VALUES ('ROLLBACK')"), true},
			{"a trigger that aborts", []string{fmt.Sprintf(trigger, "ABORT")}, sql("INSERT INTO others (name) VALUES ('ABORT')"), false},
			{"a constraint that rolls back", []string{"CREATE TABLE IF NOT EXISTS picky (id INTEGER PRIMARY KEY ON CONFLICT ROLLBACK)"}, sql("INSERT INTO picky (id) VALUES (1), (1)"), true},
			{"INSERT OR ROLLBACK", nil, sql("INSERT OR ROLLBACK INTO others (id, name) VALUES (-1, 'x'), (-1, 'x')"), true},
			{"a table that is not there", nil, sql("INSERT INTO nowhere (name) VALUES ('x')"), false},
			{"a row that is not there", nil, func(tx *gorm.DB) error { return tx.Take(&Other{}, -1).Error }, false},
			{"a full database", nil, func(tx *gorm.DB) error {
				var pages int
				err := tx.Raw("PRAGMA page_count").Scan(&pages).Error
				for _, statement := range []string{
					fmt.Sprint("PRAGMA max_page_count = ", pages+300),
					"INSERT INTO others (name) " + numbers + "1000) SELECT hex(randomblob(10000)) FROM n",
					"PRAGMA max_page_count = 1000000",
				} {
					err = errors.Join(err, sql(statement)(tx))
				}
				return err
			}, false},
			{"an interruption", nil, func(tx *gorm.DB) error {
				ctx, cancel := context.WithTimeout(tx.Statement.Context, 500*time.Millisecond)
				defer cancel()
				return sql("INSERT INTO others (name) " + numbers + "100000000) SELECT 'x' FROM n WHERE i % 1000000 = 0")(tx.WithContext(ctx))
			}, true},
		}
	}
	return all
}

// checkEnded goes on after errors. Whatever error has ended a transaction on the server, nothing
// more runs in it; after an error that has not, it goes on.
func checkEnded(t *testing.T, d Database) {
	for when, latent := range map[string]bool{"after a guarded table": false, "before one": true} {
		w := newWorld(t, d, settings{connections: 1, config: gorm.Config{PrepareStmt: latent}})
		pool, err := w.db.DB()
		w.must(err)
		for _, f := range failings(w.db.Name()) {
			t.Run(when+": "+f.name, func(t *testing.T) {
				w := *w
				w.T = t
				for _, statement := range f.made {
					_, err := pool.ExecContext(t.Context(), statement)
					w.must(err)
				}
				tx := w.db.Begin()
				w.must(tx.Create(&Other{Name: t.Name()}).Error)
				if !latent {
					_, err := gormplugin.Assert(tx, &Suite{}, w.root.ID)
					w.must(err)
				}
				if f.fail(tx.Session(&gorm.Session{})) == nil {
					t.Fatal("no error")
				}
				w.goesOn(tx, f.ended)
			})
		}
	}
}

// goesOn writes in a transaction after an error. If the error has ended it, nothing is committed,
// and else all of it.
func (w *world) goesOn(tx *gorm.DB, ended bool) {
	w.Helper()
	name := w.Name()
	leaf := fmt.Sprintf("%x", name)
	other := func(tx *gorm.DB) error { return tx.Create(&Other{Name: name}).Error }
	for what, write := range map[string]func(tx *gorm.DB) error{
		"a guarded table": func(tx *gorm.DB) error { return tx.Create(&Case{SuiteID: w.root.ID, Name: leaf}).Error },
		"another table":   other,
		"raw SQL":         func(tx *gorm.DB) error { return tx.Exec("INSERT INTO others (name) VALUES (?)", name).Error },
		"a savepoint":     func(tx *gorm.DB) error { return tx.Transaction(other) },
	} {
		if err := write(tx.Session(&gorm.Session{})); (err != nil) != ended {
			w.Errorf("%s afterwards: %v", what, err)
		}
	}
	end, want := tx.Commit, 5
	if ended {
		end, want = tx.Rollback, 0
	}
	w.must(end().Error)
	var rows int
	w.must(w.db.Raw("SELECT (SELECT COUNT(*) FROM others WHERE name = ?) + (SELECT COUNT(*) FROM cases WHERE suite_id = ? AND name = ?)", name, w.root.ID, leaf).Scan(&rows).Error)
	if rows != want {
		w.Errorf("%d rows are committed, want %d", rows, want)
	}
}
