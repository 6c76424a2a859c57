package gormplugintest

import (
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

func createChecks() []check {
	return []check{
		{"a row gets tree, path and fence from its parent", func(w *world) {
			a := w.suite(w.root, "a")
			b := w.suite(a, "b")
			if b.Path != "/a/b" || b.PlanID != w.root.PlanID {
				w.Errorf("the struct has path %q in plan %d", b.Path, b.PlanID)
			}
			if b.Fence <= a.Fence {
				w.Errorf("fences %d, %d do not grow", a.Fence, b.Fence)
			}
			w.has("/a", "/a/b")
		}},
		{"a slice is inserted at once, locked at once", func(w *world) {
			a := w.suite(w.root, "a")
			w.trace.reset()
			batch := []*Suite{{ParentID: &a.ID, Name: "x"}, {ParentID: &a.ID, Name: "y"}, {ParentID: &w.root.ID, Name: "z"}}
			w.must(w.db.Create(batch).Error)
			w.has("/a", "/a/x", "/a/y", "/z")
			if got := w.trace.String(); got != "grant begin commit release" {
				w.Errorf("events: %s", got)
			}
		}},
		{"a slice of values and portions of it", func(w *world) {
			var batch []Suite
			for i := range 7 {
				batch = append(batch, Suite{ParentID: &w.root.ID, Name: fmt.Sprint(i)})
			}
			w.must(w.db.CreateInBatches(batch, 3).Error)
			w.has("/0", "/1", "/2", "/3", "/4", "/5", "/6")
			if batch[6].Path != "/6" {
				w.Errorf("the caller's slice has the path %q", batch[6].Path)
			}
		}},
		{"a parent in the same slice", func(w *world) {
			drive := fmt.Sprint(w.root.PlanID)
			top, below := drive+"-top", drive+"-below"
			w.must(w.db.Create([]*Folder{
				{ID: below, ParentID: &top, Name: "b"},
				{ID: top, DriveID: drive, Name: "a"},
			}).Error)
			var f Folder
			w.must(w.db.Take(&f, "id = ?", below).Error)
			if f.Path != "/a/b" || f.DriveID != drive {
				w.Errorf("got %+v", f)
			}
		}},
		{"rows of one slice that are each other's parents are refused", func(w *world) {
			one, other := fmt.Sprint(w.root.PlanID), fmt.Sprint(w.root.PlanID+1)
			w.fails(w.db.Create([]*Folder{{ID: one, ParentID: &other, Name: "a"}, {ID: other, ParentID: &one, Name: "b"}}).Error, gormplugin.ErrWouldCycle)
		}},
		{"a map", func(w *world) {
			row := map[string]any{"parent_id": w.root.ID, "Name": "m", "note": "x"}
			w.must(w.db.Model(&Suite{}).Create(row).Error)
			w.has("/m")
		}},
		{"a stated path must be the right one", func(w *world) {
			w.must(w.db.Create(&Suite{ParentID: &w.root.ID, Name: "a", Path: "/a"}).Error)
			err := w.db.Create(&Suite{ParentID: &w.root.ID, Name: "b", Path: "/x"}).Error
			w.fails(err, pathlock.ErrPathChanged)
			w.has("/a")
		}},
		{"a stated tree must be the parent's", func(w *world) {
			err := w.db.Create(&Suite{PlanID: w.root.PlanID + 1, ParentID: &w.root.ID, Name: "a"}).Error
			w.fails(err, gormplugin.ErrUnsupported)
		}},
		{"below a row that is not there", func(w *world) {
			missing := int64(1) << 60
			w.fails(w.db.Create(&Suite{ParentID: &missing, Name: "a"}).Error, pathlock.ErrNotFound)
		}},
		{"below a deleted row", func(w *world) {
			a := w.suite(w.root, "a")
			w.must(w.db.Delete(a).Error)
			w.fails(w.db.Create(&Suite{ParentID: &a.ID, Name: "b"}).Error, pathlock.ErrNotFound)
		}},
		{"a name that a sibling has", func(w *world) {
			w.suite(w.root, "a")
			err := w.db.Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error
			w.fails(err, gormplugin.ErrNameTaken)
			w.wantTaken(err, "/a")
		}},
		{"one name twice in a slice", func(w *world) {
			err := w.db.Create([]Suite{{ParentID: &w.root.ID, Name: "a"}, {ParentID: &w.root.ID, Name: "a"}}).Error
			w.fails(err, gormplugin.ErrNameTaken)
			w.has()
		}},
		{"a deleted row's name is free", func(w *world) {
			w.must(w.db.Delete(w.suite(w.root, "a")).Error)
			w.suite(w.root, "a")
			w.has("/a")
		}},
		{"a primary key that is taken is no taken name", func(w *world) {
			a := w.suite(w.root, "a")
			err := w.db.Create(&Suite{ID: a.ID, ParentID: &w.root.ID, Name: "b"}).Error
			if err == nil || isA(err, gormplugin.ErrNameTaken) {
				w.Errorf("got %v", err)
			}
		}},
		{"an upsert of a new row cannot take over a sibling of the same name", func(w *world) {
			a := w.suite(w.root, "a")
			err := w.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&Suite{ParentID: &w.root.ID, Name: "a", Note: "taken over"}).Error
			w.fails(err, gormplugin.ErrNameTaken)
			var now Suite
			w.must(w.db.Take(&now, a.ID).Error)
			if now.Note != "" {
				w.Errorf("the row was overwritten: %+v", now)
			}
		}},
		{"an upsert cannot move a row", func(w *world) {
			a, b := w.suite(w.root, "a"), w.suite(w.root, "b")
			err := w.db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&Suite{ID: a.ID, ParentID: &b.ID, Name: "a"}).Error
			w.fails(err, gormplugin.ErrUnsupported)
			w.has("/a", "/b")
		}},
		{"a hook may still change the name", func(w *world) {
			w.must(w.db.Callback().Create().Before("gorm:before_create").Register("test:rename", func(tx *gorm.DB) {
				if s, ok := tx.Statement.Dest.(*Suite); ok {
					s.Name += "!"
				}
			}))
			s := w.suite(w.root, "a")
			if s.Path != "/a!" {
				w.Errorf("the path is %q", s.Path)
			}
		}},
		{"a dry run locks and writes nothing", func(w *world) {
			dry := w.db.Session(&gorm.Session{DryRun: true})
			w.must(dry.Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error)
			if got := w.trace.String(); got != "begin commit" {
				w.Errorf("events: %s", got)
			}
			w.has()
		}},
		{"another table is left alone", func(w *world) {
			w.must(w.db.Create(&Other{Name: "x"}).Error)
			if got := w.trace.String(); got != "begin commit" {
				w.Errorf("events: %s", got)
			}
		}},
	}
}
