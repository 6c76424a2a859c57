package gormplugintest

import (
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// statementChecks are what the state machine does not see: other tables, hooks, and what a caller's
// structs and sessions are like.
func statementChecks() []check {
	checks := []check{
		{"another table is left alone", func(w *world) {
			w.must(w.db.Create(&Other{Name: "x"}).Error)
			if got := w.trace.String(); got != "begin commit" {
				w.Errorf("events: %s", got)
			}
		}},
		{"fences grow", func(w *world) {
			a := w.suite(w.root, "a")
			if b := w.suite(a, "b"); b.Fence <= a.Fence {
				w.Errorf("fences %d, %d", a.Fence, b.Fence)
			}
		}},
		{"hooks see the old values until GORM assigns the new ones", func(w *world) {
			a, b := w.build("/a"), w.build("/b")
			seen := false
			w.must(w.db.Callback().Update().Before("gorm:before_update").Register("test:look", func(tx *gorm.DB) {
				if tx.Statement.Model != a {
					return // the plugin's own statement
				}
				seen = a.Name == "a" && *a.ParentID == w.root.ID && tx.Statement.Changed("ParentID")
			}))
			w.must(w.db.Model(a).Updates(map[string]any{"parent_id": b.ID, "name": "c"}).Error)
			if !seen {
				w.Error("a hook saw the new values, or no change")
			}
		}},
		{"a name that a sibling has says where", func(w *world) {
			a := w.build("/a")
			w.build("/b")
			w.must(w.db.Create(&Case{SuiteID: a.ID, Name: "t"}).Error)
			w.wantTaken(w.db.Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error, "/a")
			w.wantTaken(gormplugin.Rename(w.db, &Suite{}, a.ID, "b"), "/b")
			w.wantTaken(w.db.Create(&Case{SuiteID: a.ID, Name: "t"}).Error, "/a/t")
		}},
		{"what others hold is a conflict, and nothing is written", func(w *world) {
			w.build("/a/b")
			a := w.build("/a")
			defer w.holding("/a/b")()
			tx := w.db.Begin()
			w.fails(tx.Model(&Suite{ID: a.ID}).Update("name", "x").Error, pathlock.ErrConflict)
			w.fails(tx.Delete(&Suite{ID: a.ID}).Error, pathlock.ErrConflict)
			w.must(tx.Commit().Error)
			w.has("/a", "/a/b")
		}},
		{"conditions narrow down what is found", func(w *world) {
			a := w.build("/a")
			mine := w.db.Where("note = ?", "mine")
			w.fails(gormplugin.Rename(mine.Session(&gorm.Session{}), &Suite{}, a.ID, "b"), pathlock.ErrNotFound)
			_, err := gormplugin.Copy(mine.Session(&gorm.Session{}), &Suite{}, a.ID, gormplugin.Below(w.root.ID), gormplugin.CopyAs("b"))
			w.fails(err, gormplugin.ErrUnsupported)
			w.must(w.db.Model(a).Update("note", "mine").Error)
			w.must(gormplugin.Rename(w.db.Where("note = ?", "mine"), &Suite{}, a.ID, "b"))
			w.has("/b")
		}},
		{"a row that is not there, by every function", func(w *world) {
			gone := w.build("/gone")
			w.must(w.db.Delete(gone).Error)
			for _, id := range []any{gone.ID, int64(1) << 60, nil} {
				for _, err := range []error{
					gormplugin.Rename(w.db, &Suite{}, id, "x"), gormplugin.Move(w.db.Unscoped(), &Suite{}, id, gormplugin.Below(w.root.ID)),
					gormplugin.Subtree(w.db, &Suite{}, id).Update("note", "x").Error, gormplugin.Leaves(w.db, &Case{}, id).Find(&[]Case{}).Error,
				} {
					w.fails(err, pathlock.ErrNotFound)
				}
			}
			for _, parent := range []any{gone.ID, 0} {
				w.fails(gormplugin.Move(w.db, &Suite{}, w.build("/a").ID, gormplugin.Below(parent)), pathlock.ErrNotFound)
			}
			w.fails(gormplugin.Rename(w.db, &Suite{}, "x", "x"), pathlock.ErrInvalidID)
			w.fails(gormplugin.Rename(w.db, &Suite{}, []int{1}, "x"), pathlock.ErrInvalidID)
		}},
	}
	// Values that say nothing leave a row where it is, or are refused.
	for _, values := range []map[string]any{
		{"path": ""}, {"path": nil, "note": "n"}, {"plan_id": 0}, {"plan_id": nil}, {"id": 0, "note": "n"}, {"id": nil}, {"Path": "", "PlanID": 0},
	} {
		checks = append(checks, check{fmt.Sprint("updates with ", values), func(w *world) {
			w.build("/a/b/c")
			id := w.build("/a/b").ID
			if err := w.db.Model(&Suite{}).Where("id = ?", id).Updates(values).Error; err != nil {
				w.fails(err, gormplugin.ErrUnsupported)
			}
			w.has("/a", "/a/b", "/a/b/c")
			w.must(w.db.Take(&Suite{}, id).Error)
		}})
	}
	return checks
}
