package gormplugintest

import (
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// saveForms are the forms of Save, and of INSERT that may become an UPDATE.
func saveForms() []form {
	return []form{
		{name: "Save of a row without its tree", tree: movedTree, write: func(w *world, tx *gorm.DB) error {
			return tx.Save(&Suite{ID: w.ids["/a"], ParentID: w.parent("/d"), Name: "a"}).Error
		}},
		{name: "Save and Omit of the path", tree: renamedTree, write: func(w *world, tx *gorm.DB) error {
			a := w.at("/a")
			a.Name = "x"
			return tx.Omit("Path").Save(a).Error
		}},
		{name: "Save of a slice of rows as they are", write: func(w *world, tx *gorm.DB) error {
			a, e := w.at("/a"), w.at("/d/e")
			a.Note, e.Note = "n", "n"
			return tx.Save([]*Suite{a, e}).Error
		}, check: func(w *world) {
			if n := w.count(w.db.Where("note = 'n'")); n != 2 {
				w.Errorf("%d rows have the note, want 2", n)
			}
		}},
		{name: "Save of a slice of old rows and new ones", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Save([]*Suite{w.at("/a"), {ParentID: w.parent("/d"), Name: "x"}}).Error
		}},
		{name: "Save of a slice below a row that was renamed meanwhile", write: func(w *world, tx *gorm.DB) error {
			e := w.at("/d/e")
			e.Path, e.Note = "/was/e", "n"
			return tx.Save([]*Suite{w.at("/a"), e}).Error
		}, check: func(w *world) {
			if n := w.count(w.db.Where("note = 'n' AND plan_id = ?", w.root.PlanID)); n != 1 {
				w.Errorf("%d rows have the note, want 1", n)
			}
		}},
		{name: "DO NOTHING and a row of which only the key is given", write: func(w *world, tx *gorm.DB) error {
			return tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&Suite{ID: w.ids["/d/e"]}).Error
		}},
		{name: "an update of chosen columns", write: func(w *world, tx *gorm.DB) error {
			return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.AssignmentColumns([]string{"note", "name", "path"})}).
				Create(&Suite{ID: w.ids["/d/e"], ParentID: w.parent("/d"), Name: "e", Note: "n"}).Error
		}, check: func(w *world) {
			if note := w.at("/d/e").Note; note != "n" {
				w.Errorf("the note is %q", note)
			}
		}},
		{name: "an update of the name to a value", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.Assignments(map[string]any{"name": "x"})}).
				Create(&Suite{ID: w.ids["/d/e"], ParentID: w.parent("/d"), Name: "e"}).Error
		}},
		{name: "a conflict of the name", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "plan_id"}, {Name: "parent_id"}, {Name: "name"}}, DoUpdates: clause.AssignmentColumns([]string{"note"})}).
				Create(&Suite{ID: w.ids["/d/e"], ParentID: w.parent("/d"), Name: "e"}).Error
		}},
		{name: "an upsert of maps", write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{}).Clauses(clause.OnConflict{UpdateAll: true}).
				Create(&[]map[string]any{{"id": w.ids["/d/e"], "parent_id": w.ids["/d"], "name": "e", "note": "n"}}).Error
		}},
		{name: "a Save that brings a row back from the bin", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			s := w.at("/bin")
			s.Deleted = gorm.DeletedAt{}
			return tx.Save(s).Error
		}},
	}
}
