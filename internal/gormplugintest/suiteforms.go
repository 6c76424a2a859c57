package gormplugintest

import (
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// suiteTree is the tree that the forms on suites begin with. /bin and /bin/x are in the bin, and a
// leaf hangs below /a/b.
const suiteTree = "/a /a/b /a/b/c /d /d/e"

// plantSuites makes suiteTree.
func plantSuites(w *world) {
	w.Helper()
	w.root = w.newPlan()
	w.ids = map[string]int64{"": w.root.ID}
	for _, path := range append(strings.Fields(suiteTree), "/bin", "/bin/x") {
		w.ids[path] = w.build(path).ID
	}
	w.must(w.db.Delete(&Suite{ID: w.ids["/bin"]}).Error)
	w.must(w.db.Create(&Case{SuiteID: w.ids["/a/b"], Name: "t"}).Error)
}

// at returns the planted row with the path, as a query finds it.
func (w *world) at(path string) *Suite {
	w.Helper()
	s := new(Suite)
	w.must(w.db.Unscoped().Take(s, w.ids[path]).Error)
	return s
}

// parent returns a planted row's id for a parent column.
func (w *world) parent(path string) *int64 {
	id, ok := w.ids[path]
	if !ok {
		w.Fatalf("nothing was planted at %q", path)
	}
	return &id
}

// suiteForms are the forms of INSERT, UPDATE and DELETE.
func suiteForms() []form {
	returning := func(tx *gorm.DB) *gorm.DB { return tx.Clauses(clause.Returning{}) }
	lowest := func(w *world, tx *gorm.DB) *gorm.DB {
		return tx.Model(&Suite{}).Where("parent_id = ?", w.ids[""]).Order("name DESC").Limit(1)
	}
	forms := []form{
		{name: "Select without the parent", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Select("name").Create(&Suite{PlanID: w.root.PlanID, ParentID: w.parent("/d"), Name: "x"}).Error
		}},
		{name: "a row that is deleted at once", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Create(&Suite{ParentID: w.parent("/d"), Name: "x", Deleted: gorm.DeletedAt{Time: w.db.NowFunc(), Valid: true}}).Error
		}},
		{name: "an INSERT with RETURNING", tree: suiteTree + " /d/x", only: "postgres sqlite", write: func(w *world, tx *gorm.DB) error {
			s := &Suite{ParentID: w.parent("/d"), Name: "x"}
			err := returning(tx).Create(s).Error
			if s.Path != "/d/x" || s.ID == 0 {
				w.Errorf("got %+v", s)
			}
			return err
		}},
		{name: "FirstOrCreate that assigns a name", tree: "/a /a/b /a/b/c /d /d/f", write: func(w *world, tx *gorm.DB) error {
			return tx.Assign(Suite{Name: "f"}).FirstOrCreate(&Suite{}, Suite{ParentID: w.parent("/d"), Name: "e"}).Error
		}},
		{name: "an UPDATE with a limit", tree: "/a /a/b /a/b/c /x /x/e", write: func(w *world, tx *gorm.DB) error {
			return lowest(w, tx).Update("name", "x").Error
		}},
		{name: "a limit of a note, where GORM has one", only: "mysql", write: func(w *world, tx *gorm.DB) error {
			result := lowest(w, tx).Update("note", "x")
			w.hits(result, 1)
			return result.Error
		}},
		{name: "a limit of a note, which GORM would leave out", only: "postgres sqlite", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return lowest(w, tx).Update("note", "x").Error
		}},
		{name: "the key of many rows", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{}).Where("plan_id = ?", w.root.PlanID).Updates(Suite{ID: w.ids["/a"], Note: "x"}).Error
		}},
		{name: "a DELETE with a limit", tree: "/a /a/b /a/b/c", write: func(w *world, tx *gorm.DB) error {
			return lowest(w, tx).Delete(&Suite{}).Error
		}},
		{name: "a DELETE with RETURNING", tree: "/a /d /d/e", only: "postgres sqlite", write: func(w *world, tx *gorm.DB) error {
			var gone []Suite
			err := returning(tx).Where("id = ?", w.ids["/a/b"]).Delete(&gone).Error
			if len(gone) != 1 || gone[0].Path != "/a/b" {
				w.Errorf("returned %+v", gone)
			}
			return err
		}},
		{name: "RETURNING of rows below one another", refused: unsupported, only: "postgres sqlite", write: func(w *world, tx *gorm.DB) error {
			return returning(tx).Delete(new([]Suite), []int64{w.ids["/a"], w.ids["/a/b"]}).Error
		}},
		{name: "RETURNING of rows in the bin and others", refused: unsupported, only: "postgres sqlite", write: func(w *world, tx *gorm.DB) error {
			return returning(tx.Unscoped()).Delete(new([]Suite), []int64{w.ids["/a"], w.ids["/bin"]}).Error
		}},
	}
	forms = append(forms, form{name: "a fence, which grows", tree: "/d /d/e /x /x/b /x/b/c", write: func(w *world, tx *gorm.DB) error {
		before := w.at("/a").Fence
		err := tx.Model(&Suite{ID: w.ids["/a"]}).Update("name", "x").Error
		var now Suite
		w.must(tx.Take(&now, w.ids["/a"]).Error)
		if now.Fence <= before {
			w.Errorf("the fence was %d and is %d", before, now.Fence)
		}
		return err
	}})
	// Values that say nothing of a place.
	for _, values := range []map[string]any{{"path": ""}, {"path": nil, "note": "n"}, {"plan_id": 0, "note": "n"}} {
		forms = append(forms, form{name: fmt.Sprint("Updates of ", values), write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Updates(values).Error
		}})
	}
	return forms
}

// saveForms are the forms of Save, and of INSERT that may become an UPDATE.
func saveForms() []form {
	byKey := func(assigned clause.Set) clause.OnConflict {
		return clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, DoUpdates: assigned}
	}
	noted := func(w *world, tx *gorm.DB, want int64) {
		w.Helper()
		if n := w.count(tx.Where("note = 'n'")); n != want {
			w.Errorf("%d rows have the note, want %d", n, want)
		}
	}
	return []form{
		{name: "Save of a row without its tree", tree: "/d /d/a /d/a/b /d/a/b/c /d/e", write: func(w *world, tx *gorm.DB) error {
			return tx.Save(&Suite{ID: w.ids["/a"], ParentID: w.parent("/d"), Name: "a"}).Error
		}},
		{name: "Save of a slice of rows, one of which has an outdated path", write: func(w *world, tx *gorm.DB) error {
			a, e := w.at("/a"), w.at("/d/e")
			e.Path, a.Note, e.Note = "/was/e", "n", "n"
			err := tx.Save([]*Suite{a, e}).Error
			noted(w, tx, 2)
			return err
		}},
		{name: "Save of a slice of old rows and new ones", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Save([]*Suite{w.at("/a"), {ParentID: w.parent("/d"), Name: "x"}}).Error
		}},
		{name: "Save with the deletion mark", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			a := w.at("/a")
			a.Deleted = gorm.DeletedAt{Time: w.db.NowFunc(), Valid: true}
			return tx.Save(a).Error
		}},
		{name: "Save of a row in the bin, unscoped", tree: suiteTree + " /bin", write: func(w *world, tx *gorm.DB) error {
			bin := w.at("/bin")
			bin.Deleted = gorm.DeletedAt{}
			return tx.Unscoped().Save(bin).Error
		}},
		{name: "a row in the bin, whose path is the plugin's", write: func(w *world, tx *gorm.DB) error {
			values := map[string]any{"name": "x", "path": "/somewhere", "plan_id": 1, "fence": 5}
			err := tx.Unscoped().Model(&Suite{}).Where("id = ?", w.ids["/bin"]).Updates(values).Error
			if s := w.binned(tx); s.Name != "x" || s.Path != "/bin" || s.PlanID != w.root.PlanID {
				w.Errorf("the row is %+v", s)
			}
			return err
		}},
		{name: "an upsert of chosen columns", write: func(w *world, tx *gorm.DB) error {
			err := tx.Clauses(byKey(clause.AssignmentColumns([]string{"note", "name", "path"}))).
				Create(&Suite{ID: w.ids["/d/e"], ParentID: w.parent("/d"), Name: "e", Note: "n"}).Error
			noted(w, tx, 1)
			return err
		}},
		{name: "an upsert of the name to a value", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Clauses(byKey(clause.Assignments(map[string]any{"name": "x"}))).Create(&Suite{ID: w.ids["/d/e"], ParentID: w.parent("/d"), Name: "e"}).Error
		}},
		{name: "an upsert by the name", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			c := byKey(clause.AssignmentColumns([]string{"note"}))
			c.Columns = []clause.Column{{Name: "plan_id"}, {Name: "parent_id"}, {Name: "name"}}
			return tx.Clauses(c).Create(&Suite{ID: w.ids["/d/e"], ParentID: w.parent("/d"), Name: "e"}).Error
		}},
		{name: "conditions narrow down what a function finds", write: func(w *world, tx *gorm.DB) error {
			known := w.resolved(w.at("/a")).Where("note = ?", "mine")
			w.isA(gormplugin.Rename(tx.WithContext(known.Statement.Context).Where("note = ?", "mine"), &Suite{}, w.ids["/a"], "b"), notFound)
			return nil
		}},
	}
}

// binned is the row at /bin as the transaction sees it.
func (w *world) binned(tx *gorm.DB) (s Suite) {
	w.Helper()
	w.must(tx.Unscoped().Take(&s, w.ids["/bin"]).Error)
	return s
}
