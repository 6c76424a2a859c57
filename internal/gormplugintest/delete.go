package gormplugintest

import (
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

func deleteChecks() []check {
	return []check{
		{"a deletion takes the subtree along, in the same way", func(w *world) {
			for _, p := range []string{"/a/b/c", "/a0/x", "/ab"} {
				w.build(p)
			}
			w.must(w.db.Delete(w.build("/a")).Error)
			w.has("/a0", "/a0/x", "/ab")
			if n := w.count(w.db.Unscoped().Where("path LIKE '/a/%' OR path = '/a'")); n != 3 {
				w.Errorf("%d rows are in the bin, want 3", n)
			}
		}},
		{"Unscoped deletes for good, and leaves what was deleted before", func(w *world) {
			w.build("/a/b/c")
			w.must(w.db.Delete(w.build("/a/b")).Error)
			w.build("/a/d")
			w.must(w.db.Unscoped().Delete(w.build("/a")).Error)
			w.has()
			if n := w.count(w.db.Unscoped().Where("path <> ''")); n != 2 {
				w.Errorf("%d rows are in the bin, want the 2 that were there", n)
			}
		}},
		{"by condition, by key, and by several keys", func(w *world) {
			for _, p := range []string{"/a/x/1", "/b/x/2", "/c/y", "/d/y"} {
				w.build(p)
			}
			w.must(w.db.Where("plan_id = ? AND name = ?", w.root.PlanID, "x").Delete(&Suite{}).Error)
			w.has("/a", "/b", "/c", "/c/y", "/d", "/d/y")
			w.must(w.db.Delete(&Suite{}, w.build("/a").ID).Error)
			w.must(w.db.Delete([]*Suite{w.build("/b"), w.build("/c")}).Error)
			w.has("/d", "/d/y")
		}},
		{"the rows that were asked for are counted", func(w *world) {
			w.build("/a/b/c")
			w.build("/d/e")
			result := w.db.Where("plan_id = ? AND (path LIKE '/a%' OR name = 'd')", w.root.PlanID).Delete(&Suite{})
			w.must(result.Error)
			if result.RowsAffected != 4 {
				w.Errorf("%d rows affected, want 4", result.RowsAffected)
			}
			w.has()
		}},
		{"a whole tree", func(w *world) {
			w.build("/a/b")
			other := w.newPlan()
			w.must(w.db.Where("plan_id = ?", w.root.PlanID).Delete(&Suite{}).Error)
			w.has()
			w.must(w.db.Take(&Suite{}, other.ID).Error)
		}},
		{"nothing", func(w *world) {
			w.must(w.db.Where("id = ?", -1).Delete(&Suite{}).Error)
			w.fails(w.db.Delete(&Suite{}).Error, gorm.ErrMissingWhereClause)
		}},
		{"the lock of a deletion", func(w *world) {
			w.build("/a/b")
			tx := w.db.Begin()
			w.must(tx.Delete(w.buildIn(tx, "/a")).Error)
			if got := w.held(); got != "X /a" {
				w.Errorf("holds %s", got)
			}
			w.must(tx.Rollback().Error)
			w.has("/a", "/a/b")
		}},
		{"somebody below is in the way", func(w *world) {
			w.build("/a/b")
			a := w.build("/a")
			defer w.holding("/a/b/c")()
			tx := w.db.Begin()
			defer tx.Rollback()
			w.fails(tx.Delete(a).Error, pathlock.ErrConflict)
		}},
		{"a flag marks deleted rows", func(w *world) {
			drive := w.tree().ID()
			a := &Flagged{DriveID: drive, Name: "a"}
			w.must(w.db.Create(a).Error)
			w.must(w.db.Create(&Flagged{ParentID: a.ID, Name: "b"}).Error)
			w.must(w.db.Delete(a).Error)
			w.flagged()
			again := &Flagged{DriveID: drive, Name: "a"}
			w.must(w.db.Create(again).Error)
			w.must(w.db.Model(again).Update("name", "c").Error)
			w.flagged("/c")
			w.must(w.db.Unscoped().Delete(again).Error)
			w.flagged()
		}},
		{"a table whose rows are always deleted for good", func(w *world) {
			drive := w.tree().ID()
			top := drive + "-1"
			w.must(w.db.Create(&Folder{ID: top, DriveID: drive, Name: "a"}).Error)
			for i := range 3 {
				w.must(w.db.Create(&Folder{ID: fmt.Sprintf("%s-1-%d", drive, i), ParentID: &top, Name: fmt.Sprint(i)}).Error)
			}
			w.must(w.db.Delete(&Folder{ID: top}).Error)
			var left int64
			w.must(w.db.Model(&Folder{}).Where("drive_id = ?", drive).Count(&left).Error)
			if left != 0 {
				w.Errorf("%d rows are left", left)
			}
		}},
		{"a restored subtree comes back where its parent is now", func(w *world) {
			w.build("/p/a/b")
			a := w.build("/p/a")
			w.must(w.db.Delete(a).Error)
			w.must(w.db.Model(w.build("/p")).Update("name", "q").Error)
			w.has("/q")
			w.must(w.restore("/p/a", "/p/a/b"))
			w.has("/q", "/q/a", "/q/a/b")
		}},
		{"a restored row whose name was given away", func(w *world) {
			w.must(w.db.Delete(w.build("/a")).Error)
			w.build("/a")
			w.fails(w.restore("/a"), gormplugin.ErrNameTaken)
		}},
		{"a restored row whose parent is gone", func(w *world) {
			w.build("/a/b")
			w.must(w.db.Delete(w.build("/a")).Error)
			w.fails(w.restore("/a/b"), pathlock.ErrNotFound)
		}},
		{"the deletion mark is not set by hand", func(w *world) {
			a := w.build("/a")
			w.fails(w.db.Model(a).Update("deleted", w.db.NowFunc()).Error, gormplugin.ErrUnsupported)
			w.has("/a")
		}},
		{"deleted rows are written freely", func(w *world) {
			w.build("/a/b")
			w.must(w.db.Delete(w.build("/a")).Error)
			defer w.holding("/")()
			w.must(w.db.Unscoped().Model(&Suite{}).Where("plan_id = ? AND deleted IS NOT NULL", w.root.PlanID).Update("note", "bin").Error)
			w.must(w.db.Unscoped().Where("plan_id = ? AND note = 'bin'", w.root.PlanID).Delete(&Suite{}).Error)
			if n := w.count(w.db.Unscoped()); n != 1 {
				w.Errorf("%d rows are left, want the root", n)
			}
		}},
	}
}

// count counts the rows of the plan.
func (w *world) count(tx *gorm.DB) int64 {
	w.Helper()
	var n int64
	w.must(tx.Model(&Suite{}).Where("plan_id = ?", w.root.PlanID).Count(&n).Error)
	return n
}

// restore takes the deletion mark off the rows that had the paths.
func (w *world) restore(paths ...string) error {
	w.Helper()
	return w.db.Unscoped().Model(&Suite{}).
		Where("plan_id = ? AND path IN ? AND deleted IS NOT NULL", w.root.PlanID, paths).Update("deleted", nil).Error
}
