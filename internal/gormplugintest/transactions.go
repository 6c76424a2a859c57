package gormplugintest

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// errStop makes a transaction roll back.
var errStop = errors.New("stop")

func transactionChecks() []check {
	return []check{
		{"the locks of a statement come before its transaction and go after it", func(w *world) {
			a := w.build("/a")
			w.trace.reset()
			w.must(w.db.Model(a).Update("name", "b").Error)
			if got := w.trace.String(); got != "grant begin commit release" {
				w.Errorf("events: %s", got)
			}
		}},
		{"the locks of a transaction go after its commit", func(w *world) {
			a := w.build("/a")
			w.trace.reset()
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				w.must(tx.Model(a).Update("name", "b").Error)
				return tx.Create(&Suite{ParentID: &a.ID, Name: "c"}).Error
			}))
			if got := w.trace.String(); got != "begin grant commit release" && got != "begin grant grant commit release release" {
				w.Errorf("events: %s", got)
			}
			w.has("/b", "/b/c")
		}},
		{"and after its rollback", func(w *world) {
			a := w.build("/a")
			w.trace.reset()
			w.fails(w.db.Transaction(func(tx *gorm.DB) error {
				w.must(tx.Model(&Suite{ID: a.ID}).Update("name", "b").Error)
				return errStop
			}), errStop)
			if got := w.trace.String(); got != "begin grant rollback release" {
				w.Errorf("events: %s", got)
			}
			w.has("/a")
		}},
		{"a statement that GORM forgets when a hook panics", func(w *world) {
			w.must(w.db.Callback().Create().Before("gorm:after_create").Register("test:panic", func(tx *gorm.DB) {
				if s, ok := tx.Statement.Dest.(*Suite); ok && s.Name == "panic" {
					panic("in a hook")
				}
			}))
			func() {
				defer func() { _ = recover() }()
				_ = w.db.Create(&Suite{ParentID: &w.root.ID, Name: "panic"}).Error
			}()
			for w.held() != "" {
				runtime.GC()
			}
			if got := w.trace.String(); got != "grant begin rollback release" {
				w.Errorf("events: %s", got)
			}
			w.has()
		}},
		{"a nested transaction's locks last as long as the outer one", func(w *world) {
			w.trace.reset()
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				w.fails(tx.Transaction(func(inner *gorm.DB) error {
					w.must(inner.Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error)
					return errStop
				}), errStop)
				if got := w.held(); got != "X /a" {
					w.Errorf("holds %q after the savepoint", got)
				}
				return tx.Create(&Suite{ParentID: &w.root.ID, Name: "b"}).Error
			}))
			if got := w.trace.String(); got != "begin grant grant commit release release" {
				w.Errorf("events: %s", got)
			}
			w.has("/b")
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
		{"Assert locks a node where it is", func(w *world) {
			b := w.build("/a/b")
			_, err := gormplugin.Assert(w.db, &Suite{}, b.ID)
			w.fails(err, gormplugin.ErrUnmanagedTransaction)
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				location, err := gormplugin.Assert(tx, &Suite{}, b.ID)
				w.must(err)
				if location.Path.String() != "/a/b" || location.Tree != w.tree() {
					w.Errorf("got %v", location)
				}
				_, err = gormplugin.Assert(tx, &Suite{}, int64(1)<<60)
				w.fails(err, pathlock.ErrNotFound)
				return nil
			}))
		}},
		{"Assert sees a path that its ancestors contradict", func(w *world) {
			b := w.build("/a/b")
			w.must(gormplugin.AllowRawWrites(w.db).Exec("UPDATE suites SET path = '/x/b' WHERE id = ?", b.ID).Error)
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				_, err := gormplugin.Assert(tx, &Suite{}, b.ID)
				w.fails(err, pathlock.ErrPathChanged)
				return nil
			}))
			w.must(gormplugin.AllowRawWrites(w.db).Exec("UPDATE suites SET path = '/a/b' WHERE id = ?", b.ID).Error)
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

// checkModes runs the whole life of a row, and of its locks, in every way in which
// GORM can be set up to run statements.
func checkModes(t *testing.T, d Database) {
	for _, mode := range []struct {
		name   string
		config gorm.Config
		use    func(*gorm.DB) *gorm.DB
		pool   int
	}{
		{name: "as is"},
		{name: "SkipDefaultTransaction", config: gorm.Config{SkipDefaultTransaction: true}},
		{name: "SkipDefaultTransaction of a session", use: func(db *gorm.DB) *gorm.DB { return db.Session(&gorm.Session{SkipDefaultTransaction: true}) }},
		{name: "PrepareStmt", config: gorm.Config{PrepareStmt: true}},
		{name: "PrepareStmt of a session", use: func(db *gorm.DB) *gorm.DB { return db.Session(&gorm.Session{PrepareStmt: true}) }},
		{name: "PrepareStmt twice", config: gorm.Config{PrepareStmt: true, SkipDefaultTransaction: true}, use: func(db *gorm.DB) *gorm.DB { return db.Session(&gorm.Session{PrepareStmt: true}) }},
		{name: "TranslateError", config: gorm.Config{TranslateError: true}},
		{name: "one connection", pool: 1},
	} {
		t.Run(mode.name, func(t *testing.T) {
			w := newWorld(t, d, settings{config: mode.config, connections: mode.pool})
			if mode.use == nil {
				mode.use = func(db *gorm.DB) *gorm.DB { return db }
			}
			life := func(db *gorm.DB, name string) {
				w.Helper()
				a := &Suite{ParentID: &w.root.ID, Name: name}
				w.must(db.Create(a).Error)
				w.must(db.Create(&Suite{ParentID: &a.ID, Name: "b"}).Error)
				w.must(db.Model(a).Update("name", name+"!").Error)
				w.fails(behindSavepoint(db, func(tx *gorm.DB) error {
					return tx.Create(&Suite{ParentID: &w.root.ID, Name: name + "!"}).Error
				}), gormplugin.ErrNameTaken)
				w.must(db.Model(&Suite{}).Where("parent_id = ? AND name = ?", a.ID, "b").Update("parent_id", w.root.ID).Error)
				w.must(db.Delete(a).Error)
				w.must(db.Where("plan_id = ? AND name = ?", w.root.PlanID, "b").Delete(&Suite{}).Error)
			}
			db := mode.use(w.db)
			life(db, "implicit")
			w.must(db.Transaction(func(tx *gorm.DB) error { life(tx, "explicit"); return nil }))
			w.must(w.db.Transaction(func(tx *gorm.DB) error { life(mode.use(tx), "inside"); return nil }))
			w.must(db.Transaction(func(tx *gorm.DB) error {
				return tx.Transaction(func(inner *gorm.DB) error { life(inner, "nested"); return nil })
			}))
			tx := db.Begin()
			life(tx, "begun")
			w.must(tx.Commit().Error)
			w.has()

			w.must(db.Transaction(func(tx *gorm.DB) error { w.savepoints(tx); return nil }))
			w.must(w.db.Transaction(func(tx *gorm.DB) error { w.savepoints(mode.use(tx)); return nil }))
			w.has()

			w.trace.reset()
			w.suiteIn(db, "last")
			w.must(db.Transaction(func(tx *gorm.DB) error { w.suiteIn(tx, "very last"); return nil }))
			if got := w.trace.String(); got != "grant begin commit release begin grant commit release" {
				w.Errorf("events: %s", got)
			}
		})
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

// behindSavepoint runs what is expected to fail in a transaction that goes on: PostgreSQL runs
// nothing more in one after a failed statement, except what takes it back to a savepoint.
func behindSavepoint(tx *gorm.DB, do func(tx *gorm.DB) error) error { return tx.Transaction(do) }
