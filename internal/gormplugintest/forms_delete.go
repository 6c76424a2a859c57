package gormplugintest

import (
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// deleteForms are the forms of DELETE, and of taking it back.
func deleteForms() []form {
	return []form{
		{name: "rows that have children, so that the condition is of the tree itself", tree: "", write: func(w *world, tx *gorm.DB) error {
			return tx.Where("plan_id = ? AND path <> '' AND EXISTS (SELECT 1 FROM suites AS child WHERE child.parent_id = suites.id AND child.name = 'nobody')", w.root.PlanID).Delete(&Suite{}).Error
		}},
		{name: "an order and a limit", tree: "/a /a/b /a/b/c", write: func(w *world, tx *gorm.DB) error {
			return tx.Where("parent_id = ?", w.ids[""]).Order("name DESC").Limit(1).Delete(&Suite{}).Error
		}},
		{name: "a join", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Joins("JOIN cases ON cases.suite_id = suites.id").Where("suites.plan_id = ?", w.root.PlanID).Delete(&Suite{}).Error
		}},
		{name: "a table without a model", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Table("suites").Where("id = ?", w.ids["/a"]).Delete(nil).Error
		}},
		{name: "AllowGlobalUpdate", tree: " ", write: func(_ *world, tx *gorm.DB) error {
			return tx.Session(&gorm.Session{AllowGlobalUpdate: true}).Delete(&Suite{}).Error
		}},
		{name: "a RETURNING clause", tree: "/a /d /d/e", write: func(w *world, tx *gorm.DB) error {
			var gone []Suite
			err := tx.Clauses(clause.Returning{}).Where("id = ?", w.ids["/a/b"]).Delete(&gone).Error
			if len(gone) != 1 || gone[0].Path != "/a/b" {
				w.Errorf("returned %+v", gone)
			}
			return err
		}, only: "postgres sqlite"},
		{name: "a RETURNING clause, of rows below one another", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Clauses(clause.Returning{}).Delete(new([]Suite), []int64{w.ids["/a"], w.ids["/a/b"]}).Error
		}, only: "postgres sqlite"},
		{name: "a RETURNING clause, of rows in the bin and others", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Unscoped().Clauses(clause.Returning{}).Delete(new([]Suite), []int64{w.ids["/a"], w.ids["/bin"]}).Error
		}, only: "postgres sqlite"},
		{name: "a dry run", write: func(w *world, tx *gorm.DB) error {
			defer w.holding("/")()
			return tx.Session(&gorm.Session{DryRun: true}).Delete(w.at("/a")).Error
		}},
		{name: "Save with the deletion mark", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			a := w.at("/a")
			a.Deleted = gorm.DeletedAt{Time: w.db.NowFunc(), Valid: true}
			return tx.Save(a).Error
		}},
		{name: "a restored row by an upsert", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			bin := w.at("/bin")
			bin.Deleted = gorm.DeletedAt{}
			return tx.Save([]*Suite{bin}).Error
		}},
		{name: "Save of a row in the bin, unscoped", tree: suiteTree + " /bin", write: func(w *world, tx *gorm.DB) error {
			bin := w.at("/bin")
			bin.Deleted = gorm.DeletedAt{}
			return tx.Unscoped().Save(bin).Error
		}},
		{name: "a row moved below one in the bin, unscoped", refused: notFound, write: func(w *world, tx *gorm.DB) error {
			return tx.Unscoped().Model(&Suite{ID: w.ids["/a"]}).Update("parent_id", w.ids["/bin"]).Error
		}},
	}
}
