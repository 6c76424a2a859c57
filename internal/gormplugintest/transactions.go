package gormplugintest

import (
	"context"
	"errors"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// errStop makes a transaction roll back.
var errStop = errors.New("stop")

func transactionChecks() []check {
	return []check{
		{"savepoints as SQL", func(w *world) {
			for _, session := range []gorm.Session{{}, {PrepareStmt: true}} {
				w.must(w.db.Transaction(func(tx *gorm.DB) error { w.savepoints(tx.Session(&session)); return nil }))
			}
			w.has()
		}},
		{"where the context holds the locks, none are taken", func(w *world) {
			a := w.build("/a")
			lock, err := w.locker.Acquire(w.Context(), pathlock.Request{Tree: w.tree(), Claims: []pathlock.Claim{pathlock.X(pathlock.Root())}})
			w.must(err)
			w.trace.reset()
			w.must(w.db.WithContext(lock.Context()).Model(a).Update("name", "b").Error)
			if got := w.trace.String(); got != "begin commit" {
				w.Errorf("events: %s", got)
			}
			if got := w.held(); got != "X /" {
				w.Errorf("the request still holds %s", got)
			}
			w.must(lock.Release(w.Context()))
		}},
		{"statements of a transaction do not stand in each other's way", func(w *world) {
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				a := &Suite{ParentID: &w.root.ID, Name: "a"}
				w.must(tx.Create(a).Error)
				w.must(tx.WithContext(context.Background()).Create(&Suite{ParentID: &a.ID, Name: "b"}).Error)
				w.must(tx.Model(a).Update("name", "c").Error)
				return tx.Delete(a).Error
			}))
			w.has()
		}},
		{"the end of the context rolls back first and lets go then", func(w *world) {
			ctx, cancel := context.WithCancel(w.Context())
			tx := w.db.WithContext(ctx).Begin()
			w.must(tx.Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error)
			w.trace.reset()
			cancel()
			w.fails(tx.Commit().Error, context.Canceled)
			if got := w.trace.String(); got != "rollback release" {
				w.Errorf("events: %s", got)
			}
			w.has()
		}},
		{"an ended context takes no lock and writes nothing", func(w *world) {
			ctx, cancel := context.WithCancel(w.Context())
			cancel()
			w.fails(w.db.WithContext(ctx).Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error, context.Canceled)
			w.has()
		}},
		{"a transaction's wait for locks is bounded, and its rows stay as they were", func(w *world) {
			a := w.build("/a")
			defer w.holding("/a")()
			w.fails(w.db.Transaction(func(tx *gorm.DB) error {
				return tx.Model(&Suite{ID: a.ID}).Update("name", "b").Error
			}), pathlock.ErrConflict)
			w.has("/a")
		}},
		{"Transaction runs again what the database gave up, a bounded number of times", func(w *world) {
			runs := 0
			w.must(gormplugin.Transaction(w.Context(), w.db, func(tx *gorm.DB) error {
				if runs++; runs < 3 {
					return gormplugin.ErrRetry
				}
				return tx.Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error
			}))
			w.has("/a")
			runs = 0
			w.fails(gormplugin.Transaction(w.Context(), w.db, func(*gorm.DB) error { runs++; return gormplugin.ErrRetry }), gormplugin.ErrRetry)
			if runs != 10 {
				w.Errorf("%d runs", runs)
			}
			runs = 0
			w.fails(gormplugin.Transaction(w.Context(), w.db, func(*gorm.DB) error { runs++; return errStop }), errStop)
			if runs != 1 {
				w.Errorf("%d runs of what is no retryable failure", runs)
			}
		}},
	}
}

// savepoints sets savepoints, by GORM's methods and as SQL, goes back to each, and releases it.
// MySQL prepares none of these statements.
func (w *world) savepoints(tx *gorm.DB) {
	w.Helper()
	w.must(tx.SavePoint("first").Error)
	w.suiteIn(tx, "gone")
	w.must(tx.RollbackTo("first").Error)
	for _, sql := range []string{"SAVEPOINT second", "ROLLBACK TO SAVEPOINT second", "RELEASE SAVEPOINT second"} {
		one := tx.Where("id = ?", 1) // whose statement is the one that runs
		before := one.Statement.ConnPool
		w.must(one.Exec(sql).Error)
		if one.Statement.ConnPool != before {
			w.Errorf("after %q the statement is on a %T, before on a %T", sql, one.Statement.ConnPool, before)
		}
	}
}

// suiteIn makes a row at the top on a session.
func (w *world) suiteIn(db *gorm.DB, name string) {
	w.Helper()
	w.must(db.Create(&Suite{ParentID: &w.root.ID, Name: name}).Error)
}
