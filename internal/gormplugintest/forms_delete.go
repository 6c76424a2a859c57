package gormplugintest

import (
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// withoutA is suiteTree after /a was deleted.
const withoutA = "/d /d/e"

// deleteForms are the forms of DELETE, and of taking it back.
func deleteForms() []form {
	return []form{
		{name: "a row that is no pointer", refused: gorm.ErrInvalidValue, write: func(w *world, tx *gorm.DB) error { return tx.Delete(*w.at("/a")).Error }},
		{name: "a condition beside a row", write: func(w *world, tx *gorm.DB) error {
			return tx.Where("name = ?", "not its name").Delete(w.at("/a")).Error
		}},
		{name: "a model and another destination", tree: withoutA, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(w.at("/a")).Delete(&Suite{}).Error
		}},
		{name: "rows that have children, so that the condition is of the tree itself", tree: "", write: func(w *world, tx *gorm.DB) error {
			return tx.Where("plan_id = ? AND path <> '' AND EXISTS (SELECT 1 FROM suites AS child WHERE child.parent_id = suites.id AND child.name = 'nobody')", w.root.PlanID).Delete(&Suite{}).Error
		}},
		{name: "an order and a limit", tree: "/a /a/b /a/b/c", write: func(w *world, tx *gorm.DB) error {
			return tx.Where("parent_id = ?", w.ids[""]).Order("name DESC").Limit(1).Delete(&Suite{}).Error
		}},
		{name: "for good, an order and a limit", tree: "/a /a/b /a/b/c", write: func(w *world, tx *gorm.DB) error {
			return tx.Unscoped().Where("parent_id = ?", w.ids[""]).Order("name DESC").Limit(1).Delete(&Suite{}).Error
		}},
		{name: "a join", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Joins("JOIN cases ON cases.suite_id = suites.id").Where("suites.plan_id = ?", w.root.PlanID).Delete(&Suite{}).Error
		}},
		{name: "a table without a model", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Table("suites").Where("id = ?", w.ids["/a"]).Delete(nil).Error
		}},
		{name: "another struct on the same table", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Delete(&suiteView{ID: w.ids["/a"]}).Error
		}},
		{name: "another model that is turned to this table", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Clauses(clause.From{Tables: []clause.Table{{Name: "suites"}}}).Where("id = ?", w.ids["/a"]).Delete(&Other{}).Error
		}},
		{name: "a modifier that names other rows", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Clauses(clause.Delete{Modifier: "QUICK"}).Delete(w.at("/a")).Error
		}},
		{name: "raw SQL before Delete", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Raw("DELETE FROM suites WHERE id = ?", w.ids["/a"]).Delete(&Suite{}).Error
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
		{name: "for good, by a session that propagates it", tree: withoutA, write: func(w *world, tx *gorm.DB) error {
			return tx.Session(&gorm.Session{PropagateUnscoped: true}).Unscoped().Delete(w.at("/a")).Error
		}, check: func(w *world) {
			if n := w.count(w.db.Unscoped().Where("path LIKE '/a%'")); n != 0 {
				w.Errorf("%d rows are left", n)
			}
		}},
		{name: "a new session forgets what its parent was asked for", tree: withoutA, write: func(w *world, tx *gorm.DB) error {
			return tx.Unscoped().Where("name = 'nobody'").Session(&gorm.Session{NewDB: true}).Delete(w.at("/a")).Error
		}, check: func(w *world) {
			if n := w.count(w.db.Unscoped().Where("path LIKE '/a%'")); n != 3 {
				w.Errorf("%d rows are in the bin, want 3", n)
			}
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
