package gormplugintest

import (
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// createForms are the forms of INSERT.
func createForms() []form {
	return []form{
		{name: "a map with columns in capitals", tree: suiteTree + " /d/x", only: "mysql sqlite", write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{}).Create(map[string]any{"PARENT_ID": w.ids["/d"], "NAME": "x"}).Error
		}},
		{name: "a map of other types, as JSON has them", tree: suiteTree + " /d/x", write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{}).Create(map[string]any{"ParentID": float64(w.ids["/d"]), "name": []byte("x")}).Error
		}},
		{name: "a map with an expression as name", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{}).Create(map[string]any{"parent_id": w.ids["/d"], "name": gorm.Expr("UPPER('x')")}).Error
		}},
		{name: "a map without the table's model", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Table("suites").Create(map[string]any{"plan_id": w.root.PlanID, "parent_id": w.ids["/d"], "name": "x", "path": "/elsewhere"}).Error
		}},
		{name: "Omit of the path, the tree and the fence", tree: suiteTree + " /d/x", write: func(w *world, tx *gorm.DB) error {
			return tx.Omit("path", "PlanID", "fence").Create(&Suite{ParentID: w.parent("/d"), Name: "x"}).Error
		}},
		{name: "Select without the path", tree: suiteTree + " /d/x", write: func(w *world, tx *gorm.DB) error {
			return tx.Select("parent_id", "Name").Create(&Suite{ParentID: w.parent("/d"), Name: "x", Note: "not this"}).Error
		}, check: func(w *world) {
			var note string
			w.must(w.db.Raw("SELECT COALESCE(note, '') FROM suites WHERE plan_id = ? AND path = '/d/x'", w.root.PlanID).Scan(&note).Error)
			if note != "" {
				w.Errorf("the note is %q", note)
			}
		}},
		{name: "Omit of the name", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Omit("name").Create(&Suite{ParentID: w.parent("/d"), Name: "x"}).Error
		}},
		{name: "Select without the parent", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Select("name").Create(&Suite{PlanID: w.root.PlanID, ParentID: w.parent("/d"), Name: "x"}).Error
		}},
		{name: "a row that is deleted at once", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Create(&Suite{ParentID: w.parent("/d"), Name: "x", Deleted: gorm.DeletedAt{Time: w.db.NowFunc(), Valid: true}}).Error
		}},
		{name: "without a tree", refused: errAny, write: func(_ *world, tx *gorm.DB) error {
			return tx.Create(&Suite{Name: "x"}).Error
		}},
		{name: "INSERT IGNORE", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Clauses(clause.Insert{Modifier: "IGNORE"}).Create(&Suite{ParentID: w.parent("/d"), Name: "x"}).Error
		}},
		{name: "the table of another schema", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Table("elsewhere.suites").Create(&Suite{ParentID: w.parent("/d"), Name: "x"}).Error
		}},
		{name: "a RETURNING clause", tree: suiteTree + " /d/x", only: "postgres sqlite", write: func(w *world, tx *gorm.DB) error {
			s := &Suite{ParentID: w.parent("/d"), Name: "x"}
			err := tx.Clauses(clause.Returning{}).Create(s).Error
			if s.Path != "/d/x" || s.ID == 0 {
				w.Errorf("got %+v", s)
			}
			return err
		}},
		{name: "FirstOrCreate of a new row", tree: suiteTree + " /d/x", write: func(w *world, tx *gorm.DB) error {
			return tx.Where("plan_id = ?", w.root.PlanID).Attrs(Suite{Note: "n"}).FirstOrCreate(&Suite{}, Suite{ParentID: w.parent("/d"), Name: "x"}).Error
		}},
		{name: "FirstOrCreate that assigns a name", tree: strings.Replace(suiteTree, "/d/e", "/d/f", 1), write: func(w *world, tx *gorm.DB) error {
			return tx.Assign(Suite{Name: "f"}).FirstOrCreate(&Suite{}, Suite{ParentID: w.parent("/d"), Name: "e"}).Error
		}},
		{name: "a dry run", write: func(w *world, tx *gorm.DB) error {
			return tx.Session(&gorm.Session{DryRun: true}).Create(&Suite{ParentID: w.parent("/d"), Name: "x"}).Error
		}},
	}
}
