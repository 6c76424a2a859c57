package gormplugintest

import (
	"errors"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// beforeCommitChecks are about [gormplugin.WithBeforeCommit], beside what the state machine sees.
func beforeCommitChecks() []check {
	return []check{
		{"an error or a panic, wherever it comes from", func(w *world) {
			n, b, where := new(notes), w.build("/a/b"), ""
			stop := func(here string) error {
				switch where {
				case here:
					panic(errStop)
				case here + " fails":
					return errStop
				default:
					return nil
				}
			}
			w.before("update", func(*gorm.DB) { _ = stop("a hook") })
			ctx := gormplugin.WithBeforeCommit(w.Context(), func(*gorm.DB) error { return stop("the commit") })
			for _, where = range []string{"a hook", "the transaction", "the commit", "the commit fails"} {
				for _, begin := range []func(fn func(*gorm.DB) error) error{
					func(fn func(*gorm.DB) error) error { return w.db.WithContext(ctx).Transaction(fn) },
					func(fn func(*gorm.DB) error) error { return gormplugin.Transaction(ctx, w.db, fn) },
				} {
					n.lines = nil
					panicked, err := recovered(func() error {
						return begin(func(tx *gorm.DB) error {
							w.register(tx, n, "b")
							w.must(tx.Transaction(func(tx *gorm.DB) error { return tx.Model(&Suite{ID: b.ID}).Update("name", "c").Error }))
							return stop("the transaction")
						})
					})
					if w.fails(err, errStop); panicked == strings.HasSuffix(where, "fails") {
						w.Errorf("%s: a panic came out: %t", where, panicked)
					}
					w.told(n, "b rolled back")
					w.has("/a", "/a/b")
					w.settled(errStop)
				}
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
					w.must(db.Transaction(func(tx *gorm.DB) error {
						_ = tx.ToSQL(func(tx *gorm.DB) *gorm.DB { return tx.Create(&Other{}).Exec("DELETE FROM others") })
						return tx.Exec(statement).Error
					}))
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

// recovered runs f, and returns its error, or what it panics with.
func recovered(f func() error) (panicked bool, err error) {
	defer func() {
		if panicked {
			err, _ = recover().(error)
		}
	}()
	panicked = true
	err = f()
	return false, err
}
