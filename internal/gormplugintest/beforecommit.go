package gormplugintest

import (
	"database/sql"
	"errors"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// beforeCommitChecks are about [gormplugin.WithBeforeCommit].
func beforeCommitChecks() []check {
	return []check{
		{"before the commit: in the transaction, whoever began it", func(w *world) {
			n := new(notes)
			ctx := gormplugin.WithBeforeCommit(w.Context(), func(tx *gorm.DB) error {
				n.add("outer")
				return tx.Model(&Suite{}).Where("plan_id = ? AND path <> ''", w.root.PlanID).Update("note", "seen").Error
			})
			ctx = gormplugin.WithBeforeCommit(ctx, func(*gorm.DB) error { n.add("inner"); return nil })
			db := w.db.WithContext(ctx)
			a := &Suite{ParentID: &w.root.ID, Name: "a"}
			w.must(db.Create(a).Error)
			w.told(n, "outer, inner")
			var now Suite
			w.must(w.db.Take(&now, a.ID).Error)
			if now.Note != "seen" {
				w.Errorf("the note is %q", now.Note)
			}
			n.lines = nil
			w.must(db.Transaction(func(tx *gorm.DB) error {
				w.must(tx.Transaction(func(tx *gorm.DB) error { return tx.Model(a).Update("name", "b").Error }))
				w.told(n, "")
				return nil
			}))
			w.told(n, "outer, inner")
			n.lines = nil
			w.must(db.Create(&Other{}).Error)
			w.told(n, "outer, inner")
			n.lines = nil
			w.must(db.Transaction(func(tx *gorm.DB) error { return tx.Find(&[]Suite{}).Error }))
			w.fails(db.Transaction(func(tx *gorm.DB) error {
				w.suiteIn(tx, "c")
				return errStop
			}), errStop)
			w.told(n, "")
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
			n := new(notes)
			commit := func(tx *gorm.DB) error { return tx.Commit().Error }
			elsewhere := func(tx *gorm.DB) error {
				done := make(chan error, 1)
				go func() { done <- commit(tx) }()
				return <-done
			}
			for name, run := range map[string]func(tx *gorm.DB) error{"here": commit, "elsewhere": elsewhere} {
				calls, ignores := 0, false
				ctx := gormplugin.WithBeforeCommit(w.Context(), func(tx *gorm.DB) error {
					calls++
					if err := run(tx); err == nil || !ignores {
						return err
					}
					return nil
				})
				if err := w.db.WithContext(ctx).Create(&Suite{ParentID: &w.root.ID, Name: name}).Error; err == nil || calls != 1 {
					w.Errorf("%s: got the error %v after %d calls", name, err, calls)
				}
				w.has()
				ignores = true
				tx := w.db.WithContext(ctx).Begin()
				w.must(tx.Create(&Other{}).Error)
				w.must(gormplugin.AfterCommit(tx, n.commit(name)))
				w.must(tx.Commit().Error)
				w.fails(tx.Commit().Error, sql.ErrTxDone)
				if calls != 2 {
					w.Errorf("%s: %d calls", name, calls)
				}
			}
			if got := n.String(); got != "here, elsewhere" && got != "elsewhere, here" {
				w.Errorf("told %q", got)
			}
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
