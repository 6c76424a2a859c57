package gormplugintest

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// hookedWrite is a write with hooks before and after it.
type hookedWrite struct {
	name string
	// hook has a function called where the hooks of the write are, before it or after it.
	hook func(db *gorm.DB, after bool, f func(tx *gorm.DB)) error
	// write changes the row at /a.
	write func(db *gorm.DB, a *Suite) error
}

func hookedWrites() []hookedWrite {
	at := func(after bool) string { return map[bool]string{false: "before", true: "after"}[after] }
	return []hookedWrite{
		{"Create", func(db *gorm.DB, after bool, f func(*gorm.DB)) error {
			return db.Callback().Create().Before("gorm:"+at(after)+"_create").Register("test:hook", f)
		}, func(db *gorm.DB, a *Suite) error {
			return db.Create(&Suite{ParentID: &a.ID, Name: "new"}).Error
		}},
		{"Update", func(db *gorm.DB, after bool, f func(*gorm.DB)) error {
			return db.Callback().Update().Before("gorm:"+at(after)+"_update").Register("test:hook", f)
		}, func(db *gorm.DB, a *Suite) error {
			return db.Model(&Suite{ID: a.ID}).Update("name", "b").Error
		}},
		{"Delete", func(db *gorm.DB, after bool, f func(*gorm.DB)) error {
			return db.Callback().Delete().Before("gorm:"+at(after)+"_delete").Register("test:hook", f)
		}, func(db *gorm.DB, a *Suite) error {
			return db.Delete(&Suite{ID: a.ID}).Error
		}},
	}
}

// panicChecks have the caller's own functions panic. The panic comes out as it was, the transaction
// is rolled back, and its locks are let go once, after that.
func panicChecks() []check {
	var checks []check
	for _, h := range hookedWrites() {
		for _, after := range []bool{false, true} {
			name := fmt.Sprintf("a hook of %s, after the write: %v, ", h.name, after)
			checks = append(checks,
				check{name + "in a transaction", func(w *world) { h.panicsWithin(w, after) }},
				check{name + "alone, when the context ends", func(w *world) { h.panicsAlone(w, after) }},
			)
		}
	}
	return append(checks,
		check{"the function of a transaction", func(w *world) {
			a := w.build("/a/b")
			for _, transaction := range transactionFunctions() {
				w.trace.reset()
				w.panics(func() {
					_ = transaction(w.db, func(tx *gorm.DB) error {
						w.must(tx.Model(&Suite{ID: a.ID}).Update("name", "x").Error)
						w.must(tx.Transaction(func(inner *gorm.DB) error {
							return inner.Create(&Suite{ParentID: &w.root.ID, Name: "y"}).Error
						}))
						panic(errStop)
					})
				})
				w.rolledBack()
				w.has("/a", "/a/b")
			}
		}},
	)
}

// transactionFunctions are the ways to run a function in a transaction.
func transactionFunctions() []func(db *gorm.DB, fn func(*gorm.DB) error) error {
	return []func(db *gorm.DB, fn func(*gorm.DB) error) error{
		func(db *gorm.DB, fn func(*gorm.DB) error) error { return db.Transaction(fn) },
		func(db *gorm.DB, fn func(*gorm.DB) error) error {
			return gormplugin.Transaction(db.Statement.Context, db, fn)
		},
	}
}

// panicsWithin has the hook panic in a transaction of the caller's.
func (h hookedWrite) panicsWithin(w *world, after bool) {
	a := w.build("/a")
	w.must(h.hook(w.db, after, func(*gorm.DB) { panic(errStop) }))
	for _, transaction := range transactionFunctions() {
		w.trace.reset()
		w.panics(func() { _ = transaction(w.db, func(tx *gorm.DB) error { return h.write(tx, a) }) })
		w.rolledBack()
		w.has("/a")
	}
}

// panicsAlone has the hook panic in a transaction that the statement began. GORM forgets it, and it
// lasts until the context ends, as long as somebody has it.
func (h hookedWrite) panicsAlone(w *world, after bool) {
	a := w.build("/a")
	var running gorm.ConnPool
	w.must(h.hook(w.db, after, func(tx *gorm.DB) {
		running = tx.Statement.ConnPool
		panic(errStop)
	}))
	ctx, cancel := context.WithCancel(w.Context())
	defer cancel()
	w.trace.reset()
	w.panics(func() { _ = h.write(w.db.WithContext(ctx), a) })
	if got := w.trace.String(); got != "grant begin" {
		w.Errorf("before the end of the context: %s", got)
	}
	cancel()
	for w.held() != "" {
		runtime.Gosched()
	}
	runtime.KeepAlive(running)
	w.rolledBack()
	w.has("/a")
}

// panics checks that f panics with errStop.
func (w *world) panics(f func()) {
	w.Helper()
	defer func() {
		w.Helper()
		r := recover()
		if err, ok := r.(error); !ok || !errors.Is(err, errStop) {
			w.Errorf("recovered %v", r)
		}
	}()
	f()
}

// rolledBack checks that what there was has been rolled back, and its locks been let go once after
// that.
func (w *world) rolledBack() {
	w.Helper()
	w.settled(errStop)
	for _, e := range w.trace.ran() {
		if e == "commit" {
			w.Error("it was committed")
		}
	}
}
