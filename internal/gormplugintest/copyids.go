package gormplugintest

import (
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin"
)

// copyIDChecks are about copies in tables with paths of ids.
func copyIDChecks() []check {
	return []check{
		{"both kinds of path of a copy", func(w *world) {
			shelf := func(parent *int64, name string) *Shelf {
				s := &Shelf{DriveID: w.drive(), ParentID: parent, Name: name}
				w.must(w.db.Create(s).Error)
				return s
			}
			a, d := shelf(nil, "a"), shelf(nil, "d")
			shelf(&shelf(&a.ID, "b").ID, "c")
			shelf(&shelf(&a.ID, "e").ID, "c")
			var below, top Shelf
			rows, err := gormplugin.Copy(w.db, &below, a.ID, d.ID)
			w.must(err)
			_, err = gormplugin.Copy(w.db, &top, a.ID, nil, gormplugin.CopyAs("top"))
			w.must(err)
			if rows != 5 || !strings.HasPrefix(below.IDs, d.IDs+"/") || strings.Count(top.IDs, "/") != 1 {
				w.Errorf("%d rows, to %+v and %+v", rows, below, top)
			}
			w.soundIn(shelves, shelvesIDs)
		}},
		{"a path of ids that would be too long", func(w *world) {
			parent := &Shelf{DriveID: w.drive(), Name: "top"}
			w.must(w.db.Create(parent).Error)
			top := parent
			for len(parent.IDs) < 90 {
				parent = &Shelf{ParentID: &parent.ID, Name: "s"}
				w.must(w.db.Create(parent).Error)
			}
			_, err := gormplugin.Copy(w.db, &Shelf{}, top.ID, parent.ID)
			w.must(err)
			var deep Shelf
			w.must(w.db.Where("drive_id = ?", w.drive()).Order("id DESC").First(&deep).Error)
			_, err = gormplugin.Copy(w.db, &Shelf{}, top.ID, deep.ID, gormplugin.CopyAs("again"))
			w.fails(err, gormplugin.ErrPathTooLong)
			w.soundIn(shelves, shelvesIDs)
		}},
		{"of rows that have a path of ids only", func(w *world) {
			e := w.entry(w.db, 0, "a")
			_, err := gormplugin.Copy(w.db, &Entry{}, e.ID, nil, gormplugin.CopyAs("b"))
			w.fails(err, gormplugin.ErrUnsupported)
		}},
		{"the other operations on rows that have a path of ids only", func(w *world) {
			a := w.entry(w.db, 0, "a")
			b := w.entry(w.db, a.ID, "b")
			c := w.entry(w.db, b.ID, "c")
			w.must(gormplugin.Rename(w.db, &Entry{}, b.ID, "x"))
			w.must(gormplugin.Move(w.db, &Entry{}, b.ID, nil))
			var ids []int64
			w.must(gormplugin.Subtree(w.db, &Entry{}, b.ID).Order("ids").Pluck("id", &ids).Error)
			if len(ids) != 2 || ids[0] != b.ID || ids[1] != c.ID {
				w.Errorf("below %d are %v", b.ID, ids)
			}
			rows, err := gormplugin.Delete(w.db, &Entry{}, b.ID)
			w.must(err)
			if rows != 2 {
				w.Errorf("%d rows were deleted, want 2", rows)
			}
			w.soundIn(entries)
		}},
	}
}
