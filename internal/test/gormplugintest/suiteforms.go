package gormplugintest

import (
	"errors"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/pathlock-go/pathlock/gormplugin"
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
	return []form{
		{name: "Select without the parent", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Select("name").Create(&Suite{PlanID: w.root.PlanID, ParentID: w.parent("/d"), Name: "x"}).Error
		}},
		{name: "Create of a map with a float for the parent and a number for the name", tree: suiteTree + " /d/65", write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{}).Create(map[string]any{"parent_id": float64(w.ids["/d"]), "name": 65}).Error
		}},
		{name: "an INSERT with RETURNING", tree: suiteTree + " /d/x", only: "postgres sqlite", write: func(w *world, tx *gorm.DB) error {
			s := &Suite{ParentID: w.parent("/d"), Name: "x"}
			err := returning(tx).Create(s).Error
			if s.Path != "/d/x" || s.ID == 0 {
				w.Errorf("got %+v", s)
			}
			return err
		}},
		{name: "an UPDATE with RETURNING", tree: "/a /a/b /a/b/c /x /x/e", only: "postgres sqlite", write: func(w *world, tx *gorm.DB) error {
			var rows []Suite
			err := returning(tx).Model(&rows).Where("id = ?", w.ids["/d"]).Update("name", "x").Error
			if len(rows) != 1 || rows[0].Path != "/x" {
				w.Errorf("returned %+v", rows)
			}
			return err
		}},
		{name: "FirstOrCreate that assigns a name", tree: "/a /a/b /a/b/c /d /d/f", write: func(w *world, tx *gorm.DB) error {
			return tx.Assign(Suite{Name: "f"}).FirstOrCreate(&Suite{}, Suite{ParentID: w.parent("/d"), Name: "e"}).Error
		}},
		{name: "Rename where a Select leaves the name out", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return gormplugin.Rename(tx.Select("note"), &Suite{}, w.ids["/d"], "x")
		}},
		{name: "an UPDATE with a limit", tree: "/a /a/b /a/b/c /x /x/e", write: func(w *world, tx *gorm.DB) error {
			return lowest(w, tx).Update("name", "x").Error
		}},
		{name: "a limit of a note, which GORM would leave out", only: "postgres sqlite", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return lowest(w, tx).Update("note", "x").Error
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
		{name: "RETURNING of two rows into one struct", refused: unsupported, only: "postgres sqlite", write: func(w *world, tx *gorm.DB) error {
			return returning(tx).Model(&Suite{}).Where("id IN ?", []int64{w.ids["/a/b"], w.ids["/d/e"]}).Update("name", "x").Error
		}},
		{name: "RETURNING of rows in the bin and others", refused: unsupported, only: "postgres sqlite", write: func(w *world, tx *gorm.DB) error {
			return returning(tx.Unscoped()).Delete(new([]Suite), []int64{w.ids["/a"], w.ids["/bin"]}).Error
		}},
		{name: "a depth by itself", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/d"]}).Update("level", 7).Error
		}},
		{name: "an arrangement that writes no column", refused: unsupported, write: func(w *world, tx *gorm.DB) error { return gormplugin.Arrange(tx, []*Suite{w.at("/d")}, "nothing") }},
		{name: "an arrangement that writes the version", refused: unsupported, write: func(w *world, tx *gorm.DB) error { return gormplugin.Arrange(tx, []*Suite{w.at("/d")}, "version") }},
		{name: "a wrong depth with the rest of a row", tree: suiteTree, write: func(w *world, tx *gorm.DB) error {
			d, e := w.at("/d"), w.at("/d/e")
			d.Level, e.Level, e.Note = 7, 7, "changed"
			err := errors.Join(tx.Save(d).Error, tx.Model(e).Updates(e).Error)
			if d.Level != 1 || e.Level != 2 {
				w.Errorf("got %+v, %+v", d, e)
			}
			return err
		}},
		{name: "a fence, which grows", tree: "/d /d/e /x /x/b /x/b/c", write: func(w *world, tx *gorm.DB) error {
			before := w.at("/a").Fence
			err := tx.Model(&Suite{ID: w.ids["/a"]}).Update("name", "x").Error
			var now Suite
			w.must(tx.Take(&now, w.ids["/a"]).Error)
			if now.Fence <= before {
				w.Errorf("the fence was %d and is %d", before, now.Fence)
			}
			return err
		}},
	}
}

// note is a suite as a part of a program sees it.
type note struct {
	ID   int64
	Note string
}

// TableName implements [schema.Tabler].
func (note) TableName() string { return "suites" }

// saveForms are the forms of Save, and of INSERT that may become an UPDATE.
func saveForms() []form {
	byKey := func(assigned clause.Set) clause.OnConflict {
		return clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, DoUpdates: assigned}
	}
	byName := byKey(clause.AssignmentColumns([]string{"note"}))
	byName.Columns = []clause.Column{{Name: "plan_id"}, {Name: "parent_id"}, {Name: "name"}}
	return []form{
		{name: "Save of a slice of old rows, one of them renamed, and new ones", tree: "/a /a/b /a/b/c /x /x/e /x/y", write: func(w *world, tx *gorm.DB) error {
			d, e, fresh := w.at("/d"), w.at("/d/e"), &Suite{ParentID: w.parent("/d"), Name: "y"}
			d.Name = "x"
			err := tx.Save([]*Suite{fresh, e, d}).Error
			if fresh.Path != "/x/y" || fresh.ID == 0 || d.Path != "/x" || e.Path != "/x/e" {
				w.Errorf("got %+v, %+v, %+v", fresh, d, e)
			}
			return err
		}},
		{name: "a slim struct, without the columns of the place", tree: suiteTree, write: func(w *world, tx *gorm.DB) error {
			slim := &note{ID: w.ids["/d"], Note: "slim"}
			err := errors.Join(tx.Model(slim).Updates(slim).Error, tx.Table("suites").Where("id = ?", w.ids["/a"]).Update("note", "slim").Error)
			var written []note
			if w.must(tx.Where("note = ?", "slim").Find(&written, []int64{w.ids["/a"], w.ids["/d"]}).Error); len(written) != 2 {
				w.Errorf("written are %v", written)
			}
			return err
		}},
		{name: "a slim struct that is created", refused: unsupported, write: func(w *world, tx *gorm.DB) error { return tx.Create(&note{Note: "new"}).Error }},
		{name: "a slim struct and a version", refused: unsupported, write: func(w *world, tx *gorm.DB) error { return tx.Model(&note{ID: w.ids["/d"]}).Update("version", 7).Error }},
		{name: "an upsert of the name to a value", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Clauses(byKey(clause.Assignments(map[string]any{"name": "x"}))).Create(&Suite{ID: w.ids["/d/e"], ParentID: w.parent("/d"), Name: "e"}).Error
		}},
		{name: "an upsert without the column of the parent", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Omit("ParentID").Clauses(clause.OnConflict{UpdateAll: true}).Create(&Suite{ID: w.ids["/d/e"], Name: "e"}).Error
		}},
		{name: "an upsert of selected columns, which does not write the place", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Select("ID", "PlanID", "Note").Clauses(clause.OnConflict{UpdateAll: true}).Create(&Suite{ID: w.ids["/d/e"], ParentID: w.parent("/a"), Name: "z"}).Error
		}},
		{name: "an upsert of a map without a parent", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{}).Clauses(clause.OnConflict{UpdateAll: true}).Create(map[string]any{"id": w.ids["/d/e"], "plan_id": 1, "name": "e"}).Error
		}},
		{name: "an upsert with a condition", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			c := clause.OnConflict{UpdateAll: true, Where: clause.Where{Exprs: []clause.Expression{clause.Expr{SQL: "1 = 0"}}}}
			return tx.Clauses(c).Create(&Suite{ID: w.ids["/d/e"], ParentID: w.parent("/d"), Name: "z"}).Error
		}},
		{name: "an upsert that sets nothing", tree: suiteTree, only: "mysql sqlite", write: func(w *world, tx *gorm.DB) error {
			return tx.Clauses(byKey(nil)).Create(&Suite{ID: w.ids["/d/e"], ParentID: w.parent("/a"), Name: "z"}).Error
		}},
		{name: "an upsert of one row twice", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			row := Suite{ID: w.ids["/d/e"], ParentID: w.parent("/d"), Name: "z"}
			back := row
			back.Name = "e"
			return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create([]Suite{row, back}).Error
		}},
		{name: "an upsert of old and new rows that returns them", tree: "/a /a/b /a/b/c /d /d/y /d/z", write: func(w *world, tx *gorm.DB) error {
			rows := []Suite{{ParentID: w.parent("/d"), Name: "y"}, {ID: w.ids["/d/e"], ParentID: w.parent("/d"), Name: "z"}}
			return tx.Clauses(clause.OnConflict{UpdateAll: true}, clause.Returning{}).Create(&rows).Error
		}},
		{name: "an upsert counts each row once, renamed, moved, changed, as it was, and new", tree: "/a /a/b /a/b/c /a/x /d /d/y /e", write: func(w *world, tx *gorm.DB) error {
			rows := []*Suite{
				{ID: w.ids["/d/e"], PlanID: w.root.PlanID, ParentID: w.parent("/d"), Name: "y"}, {ID: w.ids["/a"], PlanID: w.root.PlanID, ParentID: w.parent(""), Name: "a", Note: "changed"},
				{ID: w.ids["/d"], PlanID: w.root.PlanID, ParentID: w.parent(""), Name: "d"}, {ParentID: w.parent("/a"), Name: "x"}, {ParentID: w.parent(""), Name: "e"},
			}
			for _, row := range rows {
				w.hits(tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(row), 1)
			}
			for _, row := range rows {
				row.Note += "!"
			}
			created := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(rows)
			w.hits(created, int64(len(rows)))
			w.hits(tx.Save(w.at("/d")), 1)
			return created.Error
		}},
		{name: "an upsert by the name", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Clauses(byName).Create(&Suite{ID: w.ids["/d/e"], ParentID: w.parent("/d"), Name: "e"}).Error
		}},
	}
}
