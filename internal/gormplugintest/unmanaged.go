package gormplugintest

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// unmanagedWrites are the ways to write, or to prepare a write, that need to know when the
// transaction ends.
var unmanagedWrites = []struct {
	name  string
	write func(db *gorm.DB, a, d *Suite) error
}{
	{"Create", func(db *gorm.DB, a, _ *Suite) error { return db.Create(&Suite{ParentID: &a.ID, Name: "new"}).Error }},
	{"Update", func(db *gorm.DB, a, _ *Suite) error { return db.Model(&Suite{ID: a.ID}).Update("name", "x").Error }},
	{"Delete", func(db *gorm.DB, a, _ *Suite) error { return db.Delete(&Suite{ID: a.ID}).Error }},
	{"the function Copy", func(db *gorm.DB, a, d *Suite) error {
		_, err := gormplugin.Copy(db, &Suite{}, a.ID, gormplugin.Below(d.ID))
		return err
	}},
	{"LockSubtrees", func(db *gorm.DB, a, d *Suite) error {
		_, err := gormplugin.LockSubtrees(db, &Suite{}, a.ID, d.ID)
		return err
	}},
}

// checkUnmanaged writes by connections that the plugin did not hand out, of whose transactions it
// could not tell when they end: all of it is refused, and nothing is written.
func checkUnmanaged(t *testing.T, d Database) {
	w := newWorld(t, d, settings{})
	a, parent := w.build("/a"), w.build("/d")
	w.build("/a/b")
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
			for _, u := range unmanagedWrites {
				err := session.run(func(db *gorm.DB) error { return u.write(db, a, parent) })
				if !errors.Is(err, gormplugin.ErrUnmanagedTransaction) {
					t.Errorf("%s: got the error %v", u.name, err)
				}
			}
			err := session.run(func(db *gorm.DB) error {
				return db.Exec("UPDATE suites SET name = 'x' WHERE id = ?", a.ID).Error
			})
			w.fails(err, gormplugin.ErrUnsupported)
			if now := w.state(); now != tree || w.build("/a").Note != "" {
				t.Errorf("the tree was %s and is %s", tree, now)
			}
			if held := w.held(); held != "" {
				t.Errorf("%s is held", held)
			}
		})
	}
}
