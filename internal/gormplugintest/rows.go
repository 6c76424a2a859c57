package gormplugintest

import (
	"context"
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

var errRow = errors.New("interrupted (9)")

// readers are what only reads, outside of GORM's chains of callbacks.
func readers() []change {
	rows := []string{"/a/b/c", "/d"}
	reader := func(name string, read func(tx *gorm.DB, id int64) error) change {
		return change{name, rows, func(w *world) func(*gorm.DB) error {
			id := w.build("/a").ID
			return func(db *gorm.DB) error {
				return db.Transaction(func(tx *gorm.DB) error { return read(tx, id) })
			}
		}}
	}
	return []change{
		reader("Subtree", func(tx *gorm.DB, id int64) error { return gormplugin.Subtree(tx, &Suite{}, id).Error }),
		reader("Resolve", func(tx *gorm.DB, id int64) error {
			_, err := gormplugin.Resolve(tx, &Suite{}, id)
			return err
		}),
		reader("Assert", func(tx *gorm.DB, id int64) error {
			_, err := gormplugin.Assert(tx, &Suite{}, id)
			return err
		}),
		reader("LockSubtrees", func(tx *gorm.DB, id int64) error {
			_, err := gormplugin.LockSubtrees(tx, &Suite{}, id)
			return err
		}),
	}
}

// checkRows has the context end before every single row that is read, and the driver fail to read
// it, with an error that does not tell why: the caller is told both, and nothing was written.
func checkRows(t *testing.T, d Database) {
	for _, change := range append(append(changes(), functions()...), readers()...) {
		t.Run(change.name, func(t *testing.T) {
			w := newWorld(t, d, settings{})
			for _, p := range change.rows {
				w.build(p)
			}
			statement := change.statement(w)
			before := w.state()
			for n := 1; ; n++ {
				ctx, cancel := context.WithCancelCause(context.Background())
				why := errors.New("the user has gone")
				read := 0
				w.trace.reset()
				w.trace.interceptRows(func() error {
					if read++; read != n {
						return nil
					}
					cancel(why)
					return errRow
				})
				err := statement(w.db.WithContext(ctx))
				w.trace.interceptRows(nil)
				cancel(nil)
				if read < n {
					w.must(err)
					if n == 1 {
						t.Error("nothing was read")
					}
					return
				}
				w.settled(err)
				if now := w.state(); now != before {
					t.Fatalf("row %d (%v): the tree was %s and is %s", n, err, before, now)
				}
				if !errors.Is(err, why) || !errors.Is(err, errRow) {
					t.Errorf("row %d: got the error %v", n, err)
				}
				if errors.Is(err, pathlock.ErrNotFound) {
					t.Errorf("row %d: taken for one that is not there: %v", n, err)
				}
			}
		})
	}
}
