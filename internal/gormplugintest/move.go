package gormplugintest

import (
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm/clause"
)

func moveChecks() []check {
	return []check{
		{"a move takes the subtree along", func(w *world) {
			w.build("/a/b/c")
			d := w.build("/d/e")
			w.must(w.db.Model(w.build("/a/b")).Update("parent_id", d.ID).Error)
			w.has("/a", "/d", "/d/e", "/d/e/b", "/d/e/b/c")
		}},
		{"a move and a rename in one", func(w *world) {
			w.build("/a/b/c")
			w.must(w.db.Model(w.build("/a/b")).Updates(map[string]any{"parent_id": w.root.ID, "name": "x"}).Error)
			w.has("/a", "/x", "/x/c")
		}},
		{"all children of a row move", func(w *world) {
			w.build("/a/x/1")
			w.build("/a/y")
			d := w.build("/d")
			w.must(w.db.Model(&Suite{}).Where("parent_id = ?", w.build("/a").ID).Update("parent_id", d.ID).Error)
			w.has("/a", "/d", "/d/x", "/d/x/1", "/d/y")
		}},
		{"rows without a parent", func(w *world) {
			drive := w.tree().ID()
			a := &Flagged{DriveID: drive, Name: "a"}
			w.must(w.db.Create(a).Error)
			b := &Flagged{ParentID: a.ID, Name: "b"}
			w.must(w.db.Create(b).Error)
			w.must(w.db.Model(b).Update("parent_id", 0).Error)
			w.must(w.db.Model(a).Update("parent_id", b.ID).Error)
			w.flagged("/b", "/b/a")
		}},
		{"a move into the own subtree", func(w *world) {
			w.build("/a/b")
			a, b := w.build("/a"), w.build("/a/b")
			w.fails(w.db.Model(&Suite{ID: a.ID}).Update("parent_id", b.ID).Error, gormplugin.ErrWouldCycle)
			w.fails(w.db.Model(&Suite{ID: a.ID}).Update("parent_id", a.ID).Error, gormplugin.ErrWouldCycle)
			w.fails(w.db.Model(&Suite{}).Where("id IN ?", []int64{a.ID, b.ID}).Update("parent_id", b.ID).Error, gormplugin.ErrWouldCycle)
			w.has("/a", "/a/b")
		}},
		{"a move below a row that is not there, or deleted", func(w *world) {
			a, gone := w.build("/a"), w.build("/gone")
			w.must(w.db.Delete(gone).Error)
			w.fails(w.db.Model(&Suite{ID: a.ID}).Update("parent_id", gone.ID).Error, pathlock.ErrNotFound)
			w.fails(w.db.Model(&Suite{ID: a.ID}).Update("parent_id", int64(1)<<60).Error, pathlock.ErrNotFound)
		}},
		{"a move into another tree", func(w *world) {
			a, other := w.build("/a"), w.newPlan()
			w.fails(w.db.Model(&Suite{ID: a.ID}).Update("parent_id", other.ID).Error, gormplugin.ErrUnsupported)
			w.fails(w.db.Model(&Suite{ID: a.ID}).Update("plan_id", other.PlanID).Error, gormplugin.ErrUnsupported)
			w.has("/a")
		}},
		{"the locks of a rename and of a move", func(w *world) {
			w.build("/a/b")
			d := w.build("/d")
			for _, c := range []struct {
				assigned map[string]any
				want     string
			}{
				{map[string]any{"name": "x"}, "X /a/b, X /a/x"},
				{map[string]any{"parent_id": d.ID}, "X /a/b, X /d/b"},
				{map[string]any{"parent_id": d.ID, "name": "x"}, "X /a/b, X /d/x"},
			} {
				tx := w.db.Begin()
				w.must(tx.Model(&Suite{}).Where("id = ?", w.buildIn(tx, "/a/b").ID).Updates(c.assigned).Error)
				if got := w.held(); got != c.want {
					w.Errorf("%v holds %s, want %s", c.assigned, got, c.want)
				}
				w.must(tx.Rollback().Error)
			}
		}},
		{"what others hold is a conflict, and nothing is written", func(w *world) {
			w.build("/a/b")
			a := w.build("/a")
			defer w.holding("/a/b")()
			tx := w.db.Begin()
			defer tx.Rollback()
			w.fails(tx.Model(&Suite{ID: a.ID}).Update("name", "x").Error, pathlock.ErrConflict)
			w.must(tx.Commit().Error)
			w.has("/a", "/a/b")
		}},
		{"an association cannot move rows by the back door", func(w *world) {
			a, b := w.build("/a"), w.build("/b")
			err := w.db.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.AssignmentColumns([]string{"parent_id"})}).
				Create(&Suite{ID: b.ID, ParentID: &a.ID, Name: "b"}).Error
			w.fails(err, gormplugin.ErrUnsupported)
			w.has("/a", "/b")
		}},
	}
}
