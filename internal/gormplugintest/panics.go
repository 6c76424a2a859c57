package gormplugintest

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// checkPanics has hooks panic, and functions of transactions. The panic comes out as it was, the
// transaction is rolled back, and its locks are let go once, after that.
func checkPanics(t *testing.T, d Database) {
	writes := map[string]func(db *gorm.DB, a *Suite) error{
		"create": func(db *gorm.DB, a *Suite) error { return db.Create(&Suite{ParentID: &a.ID, Name: "new"}).Error },
		"update": func(db *gorm.DB, a *Suite) error { return db.Model(&Suite{ID: a.ID}).Update("name", "b").Error },
		"delete": func(db *gorm.DB, a *Suite) error { return db.Delete(&Suite{ID: a.ID}).Error },
	}
	for kind, write := range writes {
		t.Run("a hook of "+kind+" in a transaction", func(t *testing.T) {
			w := newWorld(t, d, settings{})
			a := w.build("/a")
			w.must(w.before(kind, func(*gorm.DB) { panic(errStop) }))
			for _, transaction := range []func(fn func(*gorm.DB) error){
				func(fn func(*gorm.DB) error) { _ = w.db.Transaction(fn) },
				func(fn func(*gorm.DB) error) { _ = gormplugin.Transaction(w.Context(), w.db, fn) },
			} {
				w.panics(func() { transaction(func(tx *gorm.DB) error { return write(tx, a) }) })
				w.settled(errStop)
			}
			w.has("/a")
		})
	}
	t.Run("the function of a transaction", func(t *testing.T) {
		w := newWorld(t, d, settings{})
		a := w.build("/a/b")
		w.panics(func() {
			_ = w.db.Transaction(func(tx *gorm.DB) error {
				w.must(writes["update"](tx, a))
				w.must(tx.Transaction(func(inner *gorm.DB) error { return writes["create"](inner, w.root) }))
				panic(errStop)
			})
		})
		w.settled(errStop)
		w.has("/a", "/a/b")
	})
}

// panics checks that f panics with errStop.
func (w *world) panics(f func()) {
	w.Helper()
	defer func() {
		w.Helper()
		if err, ok := recover().(error); !ok || !errors.Is(err, errStop) {
			w.Errorf("recovered %v", err)
		}
	}()
	f()
}
