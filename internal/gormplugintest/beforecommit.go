package gormplugintest

import (
	"errors"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// beforeCommitChecks are about [gormplugin.WithBeforeCommit], beside what the state machine sees.
func beforeCommitChecks() []check {
	return []check{
		{"before the commit: the outer function first, in a statement's own transaction, too", func(w *world) {
			n := new(notes)
			ctx := gormplugin.WithBeforeCommit(w.Context(), func(*gorm.DB) error { n.add("outer"); return nil })
			ctx = gormplugin.WithBeforeCommit(ctx, func(*gorm.DB) error { n.add("inner"); return nil })
			w.must(w.db.WithContext(ctx).Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error)
			w.must(w.db.WithContext(ctx).Create(&Other{}).Error)
			w.told(n, "outer, inner, outer, inner")
		}},
		{"before the commit: an error, or a panic", func(w *world) {
			n := new(notes)
			for _, fail := range []func() error{func() error { return errStop }, func() error { panic(errStop) }} {
				n.lines = nil
				ctx := gormplugin.WithBeforeCommit(w.Context(), func(tx *gorm.DB) error { return fail() })
				run := func() error {
					return w.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
						w.suiteIn(tx, "a")
						w.register(tx, n, "a")
						return nil
					})
				}
				func() {
					defer func() { _ = recover() }()
					w.fails(run(), errStop)
				}()
				w.told(n, "a rolled back")
				w.has()
				w.settled(errStop)
			}
		}},
		{"before the commit: a commit", func(w *world) {
			calls := 0
			ctx := gormplugin.WithBeforeCommit(w.Context(), func(tx *gorm.DB) error { calls++; return tx.Commit().Error })
			if err := w.db.WithContext(ctx).Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error; err == nil || calls != 1 {
				w.Errorf("got the error %v after %d calls", err, calls)
			}
			w.has()
		}},
		{"before the commit: a transaction that only reads, prepared or not", func(w *world) {
			calls := 0
			ctx := gormplugin.WithBeforeCommit(w.Context(), func(*gorm.DB) error { calls++; return nil })
			for _, prepare := range []bool{false, true, true} {
				db := w.db.Session(&gorm.Session{PrepareStmt: prepare, Context: ctx})
				w.must(db.Transaction(func(tx *gorm.DB) error {
					var n int
					return errors.Join(tx.Find(&[]Other{}, "id > ?", 0).Error,
						tx.Raw("SELECT COUNT(*) FROM others WHERE id IN (?)", []int{1, 2}).Scan(&n).Error)
				}))
				if calls != 0 {
					w.Errorf("prepared: %t: %d calls", prepare, calls)
				}
				calls = 0
				w.must(db.Transaction(func(tx *gorm.DB) error {
					return tx.Exec("INSERT INTO others (name) VALUES (?)", "x").Error
				}))
				if calls != 1 {
					w.Errorf("prepared: %t: %d calls after a write", prepare, calls)
				}
				calls = 0
			}
		}},
		{"before the commit: the database asks for a retry", func(w *world) {
			for _, run := range []func(db *gorm.DB) error{
				func(db *gorm.DB) error { return db.Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error },
				func(db *gorm.DB) error {
					return gormplugin.Transaction(db.Statement.Context, db, func(tx *gorm.DB) error { return tx.Create(&Suite{ParentID: &w.root.ID, Name: "b"}).Error })
				},
			} {
				tries := 0
				ctx := gormplugin.WithBeforeCommit(w.Context(), func(*gorm.DB) error {
					if tries++; tries < 3 {
						return gormplugin.ErrRetry
					}
					return nil
				})
				w.must(run(w.db.WithContext(ctx)))
				if tries != 3 {
					w.Errorf("%d tries", tries)
				}
			}
			w.has("/a", "/b")
			tries := 0
			ctx := gormplugin.WithBeforeCommit(w.Context(), func(*gorm.DB) error { tries++; return gormplugin.ErrRetry })
			w.fails(w.db.WithContext(ctx).Create(&Other{}).Error, gormplugin.ErrRetry)
			if tries != 1 {
				w.Errorf("%d tries of a statement on another table", tries)
			}
		}},
	}
}
