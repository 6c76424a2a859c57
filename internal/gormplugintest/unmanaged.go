package gormplugintest

import (
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// checkUnmanaged writes by connections that the plugin did not hand out, of whose transactions it
// could not tell when they end: all of it is refused, and nothing is written.
func checkUnmanaged(t *testing.T, d Database) {
	w := newWorld(t, d, settings{})
	at := w.changeable()
	tree := w.state()
	db := open(t, d, settings{}, new(trace))
	before := db.WithContext(t.Context())
	w.must(db.Use(NewPlugin(w.locker)))
	type write func(db *gorm.DB) error
	for _, session := range []struct {
		name string
		run  func(write) error
	}{
		{"a session made before Use", func(do write) error { return do(before) }},
		{"its transaction", func(do write) error { return before.Transaction(do) }},
		{"its transaction with further tries", func(do write) error { return gormplugin.Transaction(t.Context(), before, do) }},
		{"Connection", func(do write) error { return db.Connection(do) }},
		{"a bare transaction", func(do write) error {
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
		t.Run(session.name, func(t *testing.T) {
			w := *w
			w.T = t
			for _, c := range changes() {
				w.isA(session.run(func(db *gorm.DB) error { return c.run(db, at) }), gormplugin.ErrUnmanagedTransaction)
			}
			w.isA(session.run(func(db *gorm.DB) error {
				_, err := gormplugin.LockSubtrees(db, &Suite{}, at["/a"].ID)
				return err
			}), gormplugin.ErrUnmanagedTransaction)
			err := session.run(func(db *gorm.DB) error {
				return db.Exec("UPDATE suites SET name = 'x' WHERE id = ?", at["/a"].ID).Error
			})
			w.fails(err, gormplugin.ErrUnsupported)
			if now := w.state(); now != tree {
				t.Errorf("the tree was %s and is %s", tree, now)
			}
			if held := w.held(); held != "" {
				t.Errorf("%s is held", held)
			}
		})
	}
}
