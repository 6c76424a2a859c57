package gormplugintest

import (
	"errors"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// committing are statements that end the transaction they are run in, by dialect.
var committing = map[string][]string{
	"mysql": {
		"COMMIT", "ROLLBACK", "BEGIN", "/*!50000 COMMIT */", "CREATE TABLE IF NOT EXISTS raw_end (id INT)", "LOCK TABLES others WRITE", "SET autocommit = 1",
	},
	"postgres": {"COMMIT", "ROLLBACK"},
	"sqlite":   {"COMMIT", "END TRANSACTION", "ROLLBACK"},
}

func rawEndChecks() []check {
	return []check{
		{"after a guarded write, nothing that ends the transaction is run in it", func(w *world) {
			w.eachEnd(func(statement string, touch func(tx *gorm.DB) error) {
				w.fails(w.db.Transaction(func(tx *gorm.DB) error {
					w.must(touch(tx))
					err := tx.Exec(statement).Error
					ended, ok := errors.AsType[*gormplugin.TransactionEndError](err)
					if !ok || ended.Ended || !errors.Is(err, gormplugin.ErrUnsupported) {
						w.Errorf("a write, then %q: got %v", statement, err)
					}
					return errStop
				}), errStop)
			})
		}},
		{"after what has ended the transaction, nothing guarded is written in it, and other tables are", func(w *world) {
			w.eachEnd(func(statement string, touch func(tx *gorm.DB) error) {
				tx := w.db.Begin()
				// Whether there is what it alters does not matter.
				var unwanted *gormplugin.TransactionEndError
				others := errors.Join(tx.Exec(statement).Error, tx.Session(&gorm.Session{}).Exec("UPDATE others SET name = 'x' WHERE id = -1").Error)
				if errors.As(others, &unwanted) {
					w.Errorf("%q on other tables: got %v", statement, others)
				}
				err := touch(tx.Session(&gorm.Session{NewDB: true}))
				ended, ok := errors.AsType[*gormplugin.TransactionEndError](err)
				inDoubt := ok && strings.HasPrefix(statement, "/*!") && ended.Statement == "SCRIPT"
				if !ok || !ended.Ended || !inDoubt && !strings.Contains(statement, ended.Statement) {
					w.Errorf("%q, then a write: got %v", statement, err)
				}
				if w.db.Name() == "mysql" {
					_ = tx.Exec("UNLOCK TABLES").Error
				}
				_ = tx.Rollback().Error
			})
		}},
	}
}

// eachEnd calls f with each statement that ends a transaction, and each way in which one comes to
// rest on its being one.
func (w *world) eachEnd(f func(statement string, touch func(tx *gorm.DB) error)) {
	w.Helper()
	for _, statement := range committing[w.db.Name()] {
		f(statement, func(tx *gorm.DB) error { return tx.Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error })
		f(statement, func(tx *gorm.DB) error {
			_, err := gormplugin.LockSubtrees(tx, &Suite{}, w.root.ID)
			return err
		})
		f(statement, func(tx *gorm.DB) error {
			return gormplugin.AllowRawWrites(tx).Exec("UPDATE suites SET note = 'x' WHERE id = ?", w.root.ID).Error
		})
	}
	w.has()
}
