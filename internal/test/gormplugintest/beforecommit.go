package gormplugintest

import (
	"errors"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// beforeCommitChecks are about [gormplugin.WithBeforeCommit], beside what the state machine sees.
func beforeCommitChecks() []check {
	return []check{
		{"an error, or a panic", func(w *world) {
			n := new(notes)
			for _, fail := range []func() error{func() error { return errStop }, func() error { panic(errStop) }} {
				n.lines = nil
				ctx := gormplugin.WithBeforeCommit(w.Context(), func(*gorm.DB) error { return fail() })
				func() {
					defer func() { _ = recover() }()
					w.fails(w.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
						w.suiteIn(tx, "a")
						w.register(tx, n, "a")
						return nil
					}), errStop)
				}()
				w.told(n, "a rolled back")
				w.has()
				w.settled(errStop)
			}
		}},
		{"the outer function first, and no commit", func(w *world) {
			n := new(notes)
			ctx := gormplugin.WithBeforeCommit(w.Context(), func(*gorm.DB) error { n.add("outer"); return nil })
			ctx = gormplugin.WithBeforeCommit(ctx, func(tx *gorm.DB) error { n.add("inner"); return tx.Commit().Error })
			if err := w.db.WithContext(ctx).Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error; err == nil {
				w.Error("a function could commit")
			}
			w.told(n, "outer, inner")
			w.has()
		}},
		{"rows that are still open", func(w *world) {
			ctx := gormplugin.WithBeforeCommit(w.Context(), func(tx *gorm.DB) error { return tx.Create(&Other{Name: "before"}).Error })
			w.must(w.db.Create([]Other{{Name: "x"}, {Name: "y"}}).Error)
			tx := w.db.WithContext(ctx).Begin()
			w.must(tx.Create(&Other{}).Error)
			rows, err := tx.Model(&Other{}).Rows()
			w.must(err)
			defer func() { _ = errors.Join(rows.Err(), rows.Close()) }() // the commit closes them
			rows.Next()
			w.must(tx.Commit().Error)
		}},
		{"a transaction that only reads, prepared or not", func(w *world) {
			for _, prepare := range []bool{false, true, true} {
				for want, statement := range []string{"SELECT COUNT(*) FROM others", "INSERT INTO others (name) VALUES ('x')"} {
					calls := 0
					ctx := gormplugin.WithBeforeCommit(w.Context(), func(*gorm.DB) error { calls++; return nil })
					db := w.db.Session(&gorm.Session{PrepareStmt: prepare, Context: ctx})
					w.must(db.Transaction(func(tx *gorm.DB) error { return tx.Exec(statement).Error }))
					if calls != want {
						w.Errorf("%s, prepared: %t: %d calls", statement, prepare, calls)
					}
				}
			}
		}},
		{"the database asks for a retry", func(w *world) {
			tries := 0
			n := new(notes)
			ctx := gormplugin.WithBeforeCommit(w.Context(), func(tx *gorm.DB) error {
				w.register(tx, n, "a")
				if tries++; tries < 3 {
					return gormplugin.ErrRetry
				}
				return nil
			})
			w.must(w.db.WithContext(ctx).Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error)
			w.told(n, "a rolled back, a rolled back, a, a committed")
			w.has("/a")
		}},
	}
}
