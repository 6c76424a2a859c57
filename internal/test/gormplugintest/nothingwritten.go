package gormplugintest

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// checkRefused writes while the lock store does not answer, and on connections that the plugin did
// not hand out, so that it cannot know when their transactions end. The plugin refuses everything,
// and nothing is written, even if the transaction is committed.
func checkRefused(t *testing.T, d Database) {
	var away atomic.Bool
	w := newWorld(t, d, settings{store: &absent{memstore.New(), away.Load}})
	at := w.changeable()
	tree := w.state()
	away.Store(true)
	db := open(t, d, settings{}, new(trace))
	before := db.WithContext(t.Context())
	w.must(db.Use(NewPlugin(w.locker)))
	type write func(db *gorm.DB) error
	for _, session := range []struct {
		name string
		err  error
		run  func(write) error
	}{
		{"no lock store", pathlock.ErrUnavailable, func(do write) error { return do(w.db) }},
		{"no lock store, in a transaction", pathlock.ErrUnavailable, func(do write) (err error) {
			w.must(w.db.Transaction(func(tx *gorm.DB) error { err = do(tx); return nil }))
			return err
		}},
		{"a session made before Use", gormplugin.ErrUnmanagedTransaction, func(do write) error { return do(before) }},
		{"its transaction", gormplugin.ErrUnmanagedTransaction, func(do write) error { return before.Transaction(do) }},
		{"Connection", gormplugin.ErrUnmanagedTransaction, func(do write) error { return db.Connection(do) }},
		{"a bare transaction", gormplugin.ErrUnmanagedTransaction, func(do write) error {
			pool, err := db.DB()
			w.must(err)
			bare, err := pool.BeginTx(t.Context(), nil)
			w.must(err)
			tx := db.WithContext(t.Context())
			tx.Statement.ConnPool = bare
			err = do(tx)
			w.must(bare.Commit())
			return err
		}},
	} {
		for _, c := range changes() {
			err := session.run(func(db *gorm.DB) error { return c.run(db, at) })
			if advised := err != nil && strings.Contains(err.Error(), "db.Transaction"); !isA(err, session.err) || advised != (session.name == "Connection") {
				t.Errorf("%s, %s: got the error %v, want %v", c.name, session.name, err, session.err)
			}
		}
	}
	away.Store(false)
	if now := w.state(); now != tree {
		t.Errorf("the tree was %s and is %s", tree, now)
	}
}

// checkReplaced operates in a transaction whose DB was closed, and then replaced by another.
func checkReplaced(t *testing.T, d Database) {
	w := newWorld(t, d, settings{})
	a := w.build("/a")
	old := open(t, d, settings{}, new(trace))
	plugin := NewPlugin(w.locker)
	w.must(old.Use(plugin))
	pool, err := old.DB()
	w.must(err)
	w.must(old.Transaction(func(tx *gorm.DB) error {
		w.must(pool.Close())
		w.must(gormplugin.Rename(tx, &Suite{}, a.ID, "still"))
		w.must(open(t, d, settings{}, new(trace)).Use(plugin))
		for what, err := range map[string]error{
			"Rename": gormplugin.Rename(tx, &Suite{}, a.ID, "b"), "Subtree": gormplugin.Subtree(tx, &Suite{}, a.ID).Find(&[]Suite{}).Error,
			"AfterCommit": gormplugin.AfterCommit(tx, func(context.Context) {}),
		} {
			if pathlock.FailureOf(err) != pathlock.FailureDatabase || !strings.Contains(err.Error(), "no longer serves") {
				t.Errorf("%s: got the error %v", what, err)
			}
		}
		return nil
	}))
	w.has("/still")
}
