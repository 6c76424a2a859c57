package gormplugintest

import (
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// idChecks are about the ids that functions take: as the model has them, or their text form.
func idChecks() []check {
	return []check{
		{"every function takes the ids that Rename takes", func(w *world) {
			a := w.build("/a")
			for _, id := range []any{a.ID, &a.ID, fmt.Sprint(a.ID), uint64(a.ID), int(a.ID)} {
				w.must(gormplugin.Rename(w.db, &Suite{}, id, "a"))
				w.must(w.db.Transaction(func(tx *gorm.DB) error {
					for what, guard := range guards() {
						at, err := guard(tx, &Suite{}, id)
						if err != nil || at[0].Path.String() != "/a" {
							w.Errorf("%s of a %T: %v, %v", what, id, at, err)
						}
					}
					return nil
				}))
			}
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				for what, guard := range guards() {
					for _, id := range []any{"x", "", "9223372036854775808", "1 OR 1=1"} {
						if _, err := guard(tx, &Suite{}, id); !isA(err, pathlock.ErrInvalidID) {
							w.Errorf("%s of %q: %v", what, id, err)
						}
					}
					if _, err := guard(tx, &Suite{}, "0"); !isA(err, pathlock.ErrNotFound) {
						w.Errorf("%s of a row that is not there: %v", what, err)
					}
				}
				return nil
			}))
		}},
		{"a deleted row's name and parent are the caller's, and its path stays", func(w *world) {
			id := w.build("/a/b").ID
			w.must(w.db.Delete(&Suite{}, id).Error)
			dead := func() Suite {
				var s Suite
				w.must(w.db.Unscoped().Take(&s, id).Error)
				return s
			}
			update := func(values map[string]any) {
				w.Helper()
				w.must(w.db.Unscoped().Model(&Suite{}).Where("id = ?", id).Updates(values).Error)
			}
			update(map[string]any{"name": "x", "path": "/somewhere", "plan_id": 1, "fence": 5})
			update(map[string]any{"parent_id": nil})
			update(map[string]any{"path": ""})
			if s := dead(); s.Name != "x" || s.ParentID != nil || s.Path != "/a/b" || s.PlanID != w.root.PlanID {
				w.Errorf("the row is %+v", s)
			}
			saved := dead()
			saved.Path, saved.ParentID, saved.Note = "/elsewhere", &w.root.ID, "saved"
			w.must(w.db.Unscoped().Save(&saved).Error)
			if s := dead(); s.Path != "/a/b" || *s.ParentID != w.root.ID || s.Note != "saved" {
				w.Errorf("the row is %+v", s)
			}
			// So are those of live rows that the same update hits.
			live := w.build("/a").ID
			w.must(w.db.Unscoped().Model(&Suite{}).Where("id IN ?", []int64{id, live}).Updates(map[string]any{"note": "both", "fence": 5}).Error)
			// What comes back has the place that follows from its parent and its name.
			update(map[string]any{"deleted": nil})
			w.has("/a", "/x")
		}},
	}
}

// guards are the functions that assert rows.
func guards() map[string]func(*gorm.DB, any, ...any) ([]pathlock.Location, error) {
	return map[string]func(*gorm.DB, any, ...any) ([]pathlock.Location, error){
		"AssertAll": gormplugin.AssertAll, "LockSubtrees": gormplugin.LockSubtrees,
		"Assert": func(tx *gorm.DB, model any, ids ...any) ([]pathlock.Location, error) {
			at, err := gormplugin.Assert(tx, model, ids[0])
			return []pathlock.Location{at}, err
		},
	}
}
