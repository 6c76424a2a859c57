package gormplugintest

import (
	"errors"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// guardChecks are about who is kept out, and from what, by [gormplugin.Assert] and
// [gormplugin.LockSubtrees].
func guardChecks() []check {
	return []check{
		{"a node whose own path is not what follows from its place is not asserted", func(w *world) {
			b := w.build("/a/b")
			put := func(path string) {
				w.must(gormplugin.AllowRawWrites(w.db).Exec("UPDATE suites SET path = ? WHERE id = ?", path, b.ID).Error)
			}
			put("/a/x")
			for _, guard := range []func(*gorm.DB, any, ...any) ([]pathlock.Location, error){gormplugin.AssertAll, gormplugin.LockSubtrees} {
				w.fails(w.db.Transaction(func(tx *gorm.DB) error { _, err := guard(tx, &Suite{}, b.ID); return err }), pathlock.ErrPathChanged)
			}
			put("/a/b")
		}},
		{"LockSubtrees keeps others out of the subtree until the end", func(w *world) {
			a, ab := w.build("/a"), w.build("/ab")
			w.build("/a/b")
			ask := func(claim pathlock.Claim) error {
				lock, err := w.locker.Acquire(w.Context(), pathlock.Request{Tree: w.tree(), Claims: []pathlock.Claim{claim}, Wait: pathlock.NoWait})
				if err == nil {
					w.must(lock.Release(w.Context()))
				}
				return err
			}
			path := pathlock.MustParsePath
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				_, err := gormplugin.LockSubtrees(tx, &Suite{}, a.ID)
				w.must(err)
				for _, claim := range []pathlock.Claim{
					pathlock.X(path("/a")), pathlock.S(path("/a")), pathlock.X(path("/a/b")), pathlock.S(path("/a/new")), pathlock.X(path("/")),
				} {
					w.fails(ask(claim), pathlock.ErrConflict)
				}
				w.must(ask(pathlock.X(path("/ab"))))
				// What the transaction has locked does not stand in its own way.
				w.must(tx.Create(&Suite{ParentID: &a.ID, Name: "c"}).Error)
				_, err = gormplugin.LockSubtrees(tx, &Suite{}, ab.ID, a.ID)
				w.must(err)
				w.fails(ask(pathlock.X(path("/ab"))), pathlock.ErrConflict)
				return nil
			}))
			w.must(ask(pathlock.X(path("/"))))
			w.has("/a", "/a/b", "/a/c", "/ab")
		}},
		{"nodes of several trees, in the order in which they were asked for", func(w *world) {
			here := w.root
			trees := []string{w.tree().ID()}
			ids := []any{w.build("/a/b").ID}
			for range 2 {
				w.root = w.newPlan()
				trees, ids = append(trees, w.tree().ID()), append(ids, w.build("/a/b").ID)
			}
			w.root = here
			ids, trees = append(ids, w.build("/c").ID), append(trees, w.tree().ID())
			for name, guard := range map[string]func(*gorm.DB, any, ...any) ([]pathlock.Location, error){
				"AssertAll": gormplugin.AssertAll, "LockSubtrees": gormplugin.LockSubtrees,
			} {
				w.must(w.db.Transaction(func(tx *gorm.DB) error {
					at, err := guard(tx, &Suite{}, ids...)
					w.must(err)
					for i, l := range at {
						want := "/a/b"
						if i == 3 {
							want = "/c"
						}
						if l.Path.String() != want || l.Tree.ID() != trees[i] {
							w.Errorf("%s: row %v is at %v, want %s in %s", name, ids[i], l, want, trees[i])
						}
					}
					locked, err := w.locker.Trees(w.Context())
					w.must(err)
					if want := map[string]int{"AssertAll": 0, "LockSubtrees": 3}[name]; len(locked) != want {
						w.Errorf("%s has locked in %v, want %d trees", name, locked, want)
					}
					return nil
				}))
			}
		}},
		{"one wrong node of several", func(w *world) {
			a, b := w.build("/a"), w.build("/b")
			gone := w.build("/gone")
			w.must(w.db.Delete(gone).Error)
			raw := gormplugin.AllowRawWrites(w.db)
			w.must(raw.Exec("UPDATE suites SET path = '/x' WHERE id = ?", b.ID).Error)
			for want, id := range map[error]int64{pathlock.ErrPathChanged: b.ID, pathlock.ErrNotFound: gone.ID} {
				tx := w.db.Begin()
				_, err := gormplugin.AssertAll(tx, &Suite{}, a.ID, id)
				w.fails(err, want)
				_, err = gormplugin.LockSubtrees(tx, &Suite{}, a.ID, id)
				w.fails(err, want)
				w.must(tx.Rollback().Error)
			}
			if changed, ok := errors.AsType[*gormplugin.PathChangedError](w.assertion(b)); !ok || changed.ID != b.ID || changed.Actual != "/b" {
				w.Errorf("got %#v", changed)
			}
			w.must(raw.Exec("UPDATE suites SET path = '/b' WHERE id = ?", b.ID).Error)
		}},
	}
}

// assertion returns what Assert says of a row in a transaction of its own.
func (w *world) assertion(s *Suite) error {
	return w.db.Transaction(func(tx *gorm.DB) error {
		_, err := gormplugin.Assert(tx, &Suite{}, s.ID)
		return err
	})
}
