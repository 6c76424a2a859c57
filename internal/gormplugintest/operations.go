package gormplugintest

import (
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// operationChecks are about Rename, Move and Delete as functions; what these do to a tree is that
// of the updates and deletions that they stand for.
func operationChecks() []check {
	return []check{
		{"a rename takes the subtree along", func(w *world) {
			for _, p := range []string{"/d1/x/y", "/d10/x", "/d1-x/x", "/D1/x"} {
				w.build(p)
			}
			w.must(gormplugin.Rename(w.db, &Suite{}, w.build("/d1").ID, "e"))
			w.has("/D1", "/D1/x", "/d1-x", "/d1-x/x", "/d10", "/d10/x", "/e", "/e/x", "/e/x/y")
		}},
		{"a move takes the subtree along, below a row or to the top", func(w *world) {
			w.build("/a/b/c")
			d := w.build("/d")
			w.must(gormplugin.Move(w.db, &Suite{}, w.build("/a/b").ID, d.ID))
			w.has("/a", "/d", "/d/b", "/d/b/c")
			w.must(gormplugin.Move(w.db, &Suite{}, w.build("/d/b").ID, w.build("/a").ParentID))
			w.has("/a", "/b", "/b/c", "/d")
		}},
		{"the row that a struct's parent pointed into stays as it is", func(w *world) {
			a, b := w.build("/a"), w.build("/b")
			s := &Suite{ParentID: &a.ID, Name: "s"}
			w.must(w.db.Create(s).Error)
			id := a.ID
			w.must(gormplugin.Move(w.db, s, s.ID, b.ID))
			if a.ID != id || *s.ParentID != b.ID || s.Path != "/b/s" {
				w.Errorf("the old parent's id is %d, want %d; the struct says %d, %s", a.ID, id, *s.ParentID, s.Path)
			}
		}},
		{"the top of a tree without a root row", func(w *world) {
			drive := w.tree().ID()
			a := &Flagged{DriveID: drive, Name: "a"}
			w.must(w.db.Create(a).Error)
			b := &Flagged{ParentID: a.ID, Name: "b"}
			w.must(w.db.Create(b).Error)
			w.must(gormplugin.Move(w.db, &Flagged{}, b.ID, nil))
			w.flagged("/a", "/b")
			// 0 stands for no parent here, as it does in rows that were created at the top.
			w.must(w.db.Where("parent_id = 0").Take(&Flagged{}, b.ID).Error)
			w.must(gormplugin.Move(w.db, &Flagged{}, a.ID, b.ID))
			w.flagged("/b", "/b/a")
			folder := func(id string, parent *string, name string) string {
				f := &Folder{ID: drive + id, DriveID: drive, ParentID: parent, Name: name}
				w.must(w.db.Create(f).Error)
				return f.ID
			}
			top := folder("-1", nil, "a")
			child := folder("-2", &top, "b")
			w.must(gormplugin.Move(w.db, &Folder{}, child, (*string)(nil)))
			w.must(w.db.Where("parent_id IS NULL AND path = '/b'").Take(&Folder{}, "id = ?", child).Error)
			_, err := gormplugin.Delete(w.db, &Folder{}, child)
			w.must(err)
		}},
		{"the top of a tree with a root row is below that", func(w *world) {
			a := w.build("/a/b")
			w.fails(gormplugin.Move(w.db, &Suite{}, a.ID, nil), gormplugin.ErrUnsupported)
			_, err := gormplugin.Copy(w.db, &Suite{}, a.ID, nil)
			w.fails(err, gormplugin.ErrUnsupported)
			w.has("/a", "/a/b")
		}},
		{"a deletion counts the subtree", func(w *world) {
			for _, p := range []string{"/a/b/c", "/a/d", "/ab"} {
				w.build(p)
			}
			a := w.build("/a")
			rows, err := gormplugin.Delete(w.db, &Suite{}, a.ID)
			w.must(err)
			if rows != 4 {
				w.Errorf("%d rows were deleted, want 4", rows)
			}
			w.has("/ab")
			if n := w.count(w.db.Unscoped()); n != 6 {
				w.Errorf("%d rows are in the table, want all 6", n)
			}
			rows, err = gormplugin.Delete(w.db.Unscoped(), &Suite{}, w.build("/ab").ID)
			w.must(err)
			if n := w.count(w.db.Unscoped()); rows != 1 || n != 5 {
				w.Errorf("%d rows were deleted and %d are left, want 1 and 5", rows, n)
			}
		}},
		{"leaves are renamed, moved and deleted as well", func(w *world) {
			a, b := w.build("/a"), w.build("/b")
			leaf := &Case{SuiteID: a.ID, Name: "t"}
			w.must(w.db.Create(leaf).Error)
			w.must(gormplugin.Rename(w.db, &Case{}, leaf.ID, "u"))
			w.must(gormplugin.Move(w.db, &Case{}, leaf.ID, b.ID))
			at, err := gormplugin.Resolve(w.db, &Case{}, leaf.ID)
			w.must(err)
			if at.Path.String() != "/b/u" {
				w.Errorf("it is at %v", at)
			}
			w.fails(gormplugin.Move(w.db, &Case{}, leaf.ID, nil), gormplugin.ErrMisplaced)
			rows, err := gormplugin.Delete(w.db, &Case{}, leaf.ID)
			w.must(err)
			if rows != 1 {
				w.Errorf("%d rows were deleted, want 1", rows)
			}
		}},
		{"a row that is not there, or deleted", func(w *world) {
			gone := w.build("/gone")
			w.must(w.db.Delete(gone).Error)
			for _, id := range []any{gone.ID, int64(1) << 60, fmt.Sprint(gone.ID), nil, &gone.ID} {
				for _, db := range []*gorm.DB{w.db, w.db.Unscoped()} {
					w.fails(gormplugin.Rename(db, &Suite{}, id, "x"), pathlock.ErrNotFound)
					w.fails(gormplugin.Move(db, &Suite{}, id, w.root.ID), pathlock.ErrNotFound)
					_, err := gormplugin.Delete(db, &Suite{}, id)
					w.fails(err, pathlock.ErrNotFound)
					_, err = gormplugin.Copy(db, &Suite{}, id, w.root.ID, gormplugin.CopyAs("x"))
					w.fails(err, pathlock.ErrNotFound)
				}
				_, err := gormplugin.Resolve(w.db, &Suite{}, id)
				w.fails(err, pathlock.ErrNotFound)
				w.fails(gormplugin.Subtree(w.db, &Suite{}, id).Find(&[]Suite{}).Error, pathlock.ErrNotFound)
				w.fails(gormplugin.Leaves(w.db, &Case{}, id).Find(&[]Case{}).Error, pathlock.ErrNotFound)
				var rows int64
				w.fails(gormplugin.Subtree(w.db, &Suite{}, id).Count(&rows).Error, pathlock.ErrNotFound)
				w.fails(gormplugin.Leaves(w.db, &Case{}, id).Pluck("name", &[]string{}).Error, pathlock.ErrNotFound)
				w.fails(gormplugin.Subtree(w.db, &Suite{}, id).Update("note", "x").Error, pathlock.ErrNotFound)
			}
			w.fails(gormplugin.Rename(w.db, &Suite{}, "x", "x"), pathlock.ErrInvalidID)
			w.fails(gormplugin.Rename(w.db, &Suite{}, []int{1}, "x"), pathlock.ErrInvalidID)
		}},
		{"a parent that is not there, deleted, or no id", func(w *world) {
			a, gone := w.build("/a"), w.build("/gone")
			w.must(w.db.Delete(gone).Error)
			for _, parent := range []any{gone.ID, int64(1) << 60, 0} {
				w.fails(gormplugin.Move(w.db, &Suite{}, a.ID, parent), pathlock.ErrNotFound)
				_, err := gormplugin.Copy(w.db, &Suite{}, a.ID, parent)
				w.fails(err, pathlock.ErrNotFound)
			}
			w.has("/a")
		}},
		{"a move into the own subtree takes no lock", func(w *world) {
			b := w.build("/a/b")
			w.trace.reset()
			w.fails(gormplugin.Move(w.db, &Suite{}, w.build("/a").ID, b.ID), gormplugin.ErrWouldCycle)
			w.fails(gormplugin.Move(w.db, &Suite{}, b.ID, b.ID), gormplugin.ErrWouldCycle)
			if got := w.trace.String(); got != "" {
				w.Errorf("events: %s", got)
			}
			w.has("/a", "/a/b")
		}},
		{"what the row has already is no change", func(w *world) {
			b := w.build("/a/b")
			w.must(gormplugin.Rename(w.db, &Suite{}, b.ID, "b"))
			w.must(gormplugin.Move(w.db, &Suite{}, b.ID, b.ParentID))
			if now := w.build("/a/b"); now.Version != b.Version {
				w.Errorf("the version is %d, it was %d", now.Version, b.Version)
			}
		}},
		{"names that are taken, invalid, or too long", func(w *world) {
			a := w.build("/a")
			w.build("/b")
			w.build("/c/a")
			err := gormplugin.Rename(w.db, &Suite{}, a.ID, "b")
			w.fails(err, gormplugin.ErrNameTaken)
			w.wantTaken(err, "/b")
			w.fails(gormplugin.Move(w.db, &Suite{}, a.ID, w.build("/c").ID), gormplugin.ErrNameTaken)
			w.fails(gormplugin.Rename(w.db, &Suite{}, a.ID, "x/y"), pathlock.ErrInvalidPath)
			w.fails(gormplugin.Rename(w.db, &Suite{}, a.ID, strings.Repeat("x", 256)), gormplugin.ErrPathTooLong)
			w.fails(gormplugin.Rename(w.db, &Suite{}, w.root.ID, "x"), gormplugin.ErrMisplaced)
			w.has("/a", "/b", "/c", "/c/a")
		}},
		{"conditions narrow down what is found", func(w *world) {
			a := w.build("/a")
			mine := w.db.Where("note = ?", "mine")
			w.fails(gormplugin.Rename(mine.Session(&gorm.Session{}), &Suite{}, a.ID, "b"), pathlock.ErrNotFound)
			_, err := gormplugin.Copy(mine.Session(&gorm.Session{}), &Suite{}, a.ID, w.root.ID, gormplugin.CopyAs("b"))
			w.fails(err, gormplugin.ErrUnsupported)
			w.must(w.db.Model(a).Update("note", "mine").Error)
			w.must(gormplugin.Rename(w.db.Where("note = ?", "mine"), &Suite{}, a.ID, "b"))
			w.has("/b")
		}},
		{"in the caller's transaction, under one owner, until its end", func(w *world) {
			b := w.build("/a/b")
			w.build("/c")
			c := w.build("/c")
			tx := w.db.Begin()
			w.must(gormplugin.Rename(tx, &Suite{}, b.ID, "x"))
			w.must(gormplugin.Move(tx, &Suite{}, b.ID, c.ID))
			rows, err := gormplugin.Copy(tx, &Suite{}, c.ID, c.ID, gormplugin.CopyAs("y"))
			w.must(err)
			if rows != 2 {
				w.Errorf("%d rows were copied, want 2", rows)
			}
			if got, want := w.held(), "X /a/b, X /a/x, X /c/x, X /c/y"; got != want {
				w.Errorf("holds %s, want %s", got, want)
			}
			w.must(tx.Rollback().Error)
			w.has("/a", "/a/b", "/c")
		}},
		{"a DB that does not use the plugin, and a model that is not registered", func(w *world) {
			bare, err := gorm.Open(w.db.Dialector, &gorm.Config{})
			w.must(err)
			for _, err := range []error{
				gormplugin.Rename(bare, &Suite{}, 1, "x"),
				gormplugin.Move(w.db, &Other{}, 1, 2),
				gormplugin.Subtree(w.db, &Other{}, 1).Find(&[]Other{}).Error,
				gormplugin.Children(bare, &Suite{}, 1).Find(&[]Suite{}).Error,
				gormplugin.Ancestors(w.db, &Other{}, 1).Find(&[]Suite{}).Error,
				gormplugin.At(w.db, &Other{}, 1, pathlock.Root()).Take(&Other{}).Error,
			} {
				if err == nil || !strings.HasPrefix(err.Error(), "gormplugin: ") {
					w.Errorf("got the error %v", err)
				}
			}
		}},
	}
}
