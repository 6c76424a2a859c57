package gormplugintest

import (
	"context"
	"errors"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// committing are statements that end the transaction they are run in, by dialect.
var committing = map[string][]string{
	"mysql": {
		"COMMIT", "ROLLBACK", "BEGIN", "START TRANSACTION", "/*!50000 COMMIT */", "SELECT 1 FROM others WHERE id = 0 FOR UPDATE; COMMIT",
		"CREATE TABLE raw_end (id INT)", "CREATE INDEX raw_end_note ON others (name)", "ALTER TABLE others ADD raw_end INT", "ALTER TABLE others DROP raw_end",
		"RENAME TABLE raw_end TO raw_end2", "TRUNCATE raw_end2", "DROP TABLE raw_end2", "DROP INDEX raw_end_note ON others",
		"LOCK TABLES others WRITE", "ANALYZE TABLE others", "SET autocommit = 1", "FLUSH STATUS",
	},
	"postgres": {"COMMIT", "END", "ROLLBACK", "ABORT", "COMMIT WORK"},
	"sqlite":   {"COMMIT", "END TRANSACTION", "ROLLBACK"},
}

// harmless are statements that don't.
var harmless = map[string][]string{
	"mysql":    {"CREATE TEMPORARY TABLE raw_end (id INT)", "DROP TEMPORARY TABLE raw_end", "SAVEPOINT a", "ROLLBACK TO SAVEPOINT a", "RELEASE SAVEPOINT a", "DO 1"},
	"postgres": {"CREATE TABLE raw_end (id INT)", "ALTER TABLE raw_end ADD x INT", "DROP TABLE raw_end", "SAVEPOINT a", "ROLLBACK TO SAVEPOINT a", "RELEASE SAVEPOINT a"},
	"sqlite":   {"CREATE TABLE raw_end (id INT)", "ALTER TABLE raw_end ADD x INT", "DROP TABLE raw_end", "SAVEPOINT a", "ROLLBACK TO SAVEPOINT a", "RELEASE SAVEPOINT a"},
}

func rawEndChecks() []check {
	return []check{
		{"after a guarded write, nothing that ends the transaction is run in it", func(w *world) {
			for _, statement := range committing[w.db.Name()] {
				for kind, touch := range w.touches() {
					err := w.db.Transaction(func(tx *gorm.DB) error {
						w.must(touch(tx))
						err := tx.Exec(statement).Error
						ended, ok := errors.AsType[*gormplugin.TransactionEndError](err)
						if !ok || ended.Ended || !errors.Is(err, gormplugin.ErrUnsupported) {
							w.Errorf("%s, then %q: got %v", kind, statement, err)
						}
						return errUndone
					})
					w.fails(err, errUndone)
				}
			}
			w.has()
		}},
		{"after what has ended the transaction, nothing guarded is written in it", func(w *world) {
			for _, statement := range committing[w.db.Name()] {
				for kind, touch := range w.touches() {
					w.dropLeftOvers()
					w.inTransaction(func(tx *gorm.DB) {
						// Whether there is what it alters does not matter.
						_ = tx.Exec(statement).Error
						err := touch(tx)
						ended, ok := errors.AsType[*gormplugin.TransactionEndError](err)
						if !ok || !ended.Ended || !strings.Contains(statement, ended.Statement) {
							w.Errorf("%q, then %s: got %v", statement, kind, err)
						}
					})
				}
			}
			w.dropLeftOvers()
			w.has()
		}},
		{"what does not end the transaction is run in it", func(w *world) {
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				w.must(w.touches()["Create"](tx))
				for _, statement := range harmless[w.db.Name()] {
					w.must(tx.Exec(statement).Error)
				}
				w.must(tx.Create(&Suite{ParentID: &w.root.ID, Name: "b"}).Error)
				return nil
			}))
			w.has("/a", "/b")
		}},
		{"a transaction that touches no guarded table is the caller's own", func(w *world) {
			for _, statement := range committing[w.db.Name()] {
				w.dropLeftOvers()
				w.inTransaction(func(tx *gorm.DB) {
					if err := tx.Exec(statement).Error; isEnd(err) {
						w.Errorf("%q: got %v", statement, err)
					}
					if err := tx.Exec("UPDATE others SET name = 'x' WHERE id = -1").Error; isEnd(err) {
						w.Errorf("%q, then an UPDATE: got %v", statement, err)
					}
				})
			}
			w.dropLeftOvers()
		}},
	}
}

// errUndone ends transactions that are not to be committed.
var errUndone = errors.New("undone")

// isEnd reports whether an error is about the end of a transaction.
func isEnd(err error) bool {
	_, ok := errors.AsType[*gormplugin.TransactionEndError](err)
	return ok
}

// touches are the ways in which a transaction comes to rest on its being one.
func (w *world) touches() map[string]func(tx *gorm.DB) error {
	return map[string]func(tx *gorm.DB) error{
		"Create": func(tx *gorm.DB) error { return tx.Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error },
		"Update": func(tx *gorm.DB) error {
			return tx.Model(&Suite{}).Where("id = ?", w.root.ID).Update("note", "x").Error
		},
		"Assert": func(tx *gorm.DB) error {
			_, err := gormplugin.Assert(tx, &Suite{}, w.root.ID)
			return err
		},
		"LockSubtrees": func(tx *gorm.DB) error {
			_, err := gormplugin.LockSubtrees(tx, &Suite{}, w.root.ID)
			return err
		},
		"raw": func(tx *gorm.DB) error {
			return gormplugin.AllowRawWrites(tx).Exec("UPDATE suites SET note = 'x' WHERE id = ?", w.root.ID).Error
		},
	}
}

// inTransaction runs fn in a transaction that is rolled back, on a connection whose session is not
// used again: the transaction may have ended before, and tables may be locked.
func (w *world) inTransaction(fn func(tx *gorm.DB)) {
	w.Helper()
	tx := w.db.Begin()
	w.must(tx.Error)
	fn(tx)
	if w.db.Name() == "mysql" {
		_ = tx.Exec("UNLOCK TABLES").Error
	}
	_ = tx.Rollback().Error
}

// dropLeftOvers drops what statements of the tests have made.
func (w *world) dropLeftOvers() {
	w.Helper()
	pool, err := w.db.DB()
	w.must(err)
	for _, statement := range []string{"DROP TABLE IF EXISTS raw_end", "DROP TABLE IF EXISTS raw_end2"} {
		_, err := pool.ExecContext(context.Background(), statement)
		w.must(err)
	}
	if w.db.Name() == "mysql" {
		for _, statement := range []string{"DROP INDEX raw_end_note ON others", "ALTER TABLE others DROP raw_end"} {
			_, _ = pool.ExecContext(context.Background(), statement) // there may be none
		}
	}
}
