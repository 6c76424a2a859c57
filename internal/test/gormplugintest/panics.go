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
	w := newWorld(t, d, settings{})
	a := w.build("/a/b")
	panicking := false
	w.before("update", func(*gorm.DB) {
		if panicking {
			panic(errStop)
		}
	})
	rename := func(tx *gorm.DB) error { return tx.Model(&Suite{ID: a.ID}).Update("name", "c").Error }
	for _, panicking = range []bool{true, false} {
		for _, transaction := range []func(fn func(*gorm.DB) error) error{
			func(fn func(*gorm.DB) error) error { return w.db.Transaction(fn) },
			func(fn func(*gorm.DB) error) error { return gormplugin.Transaction(w.Context(), w.db, fn) },
		} {
			w.panics(func() {
				_ = transaction(func(tx *gorm.DB) error {
					w.must(tx.Transaction(rename))
					panic(errStop)
				})
			})
			w.settled(errStop)
		}
	}
	w.has("/a", "/a/b")
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
