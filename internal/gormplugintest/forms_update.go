package gormplugintest

import (
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// renamed is suiteTree after /a was named x, and moved after /a went below /d.
const (
	renamedTree = "/d /d/e /x /x/b /x/b/c"
	movedTree   = "/d /d/a /d/a/b /d/a/b/c /d/e"
)

// updateForms are the forms of UPDATE.
func updateForms() []form {
	return []form{
		{name: "a column in other capitals", tree: renamedTree, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Updates(map[string]any{"nAmE": "x"}).Error
		}},
		{name: "a column with its table", tree: renamedTree, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Updates(map[string]any{"suites.name": "x"}).Error
		}},
		{name: "a column that is no name", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Clauses(clause.Set{{Column: clause.Column{Name: "name = 'x', note", Raw: true}, Value: "y"}}).Updates(map[string]any{}).Error
		}},
		{name: "a joined table expression", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Table("others, suites").Where("suites.id = ?", w.ids["/a"]).Updates(map[string]any{"suites.name": "x"}).Error
		}},
		{name: "a table in capitals", refused: errAny, write: func(w *world, tx *gorm.DB) error {
			return tx.Table("SUITES").Where("id = ?", w.ids["/a"]).Update("name", "x").Error
		}},
		{name: "Updates by a map of other types, as JSON has them", tree: movedTree, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Updates(map[string]any{"parent_id": float64(w.ids["/d"]), "name": []byte("a")}).Error
		}},
		{name: "a subquery on another table", tree: "/a /a/x /a/x/c /d /d/e", write: func(w *world, tx *gorm.DB) error {
			with := tx.Session(&gorm.Session{NewDB: true}).Model(&Case{}).Select("suite_id").Where("suite_id IN ?", []int64{w.ids["/a/b"], w.ids["/d"]})
			return tx.Model(&Suite{}).Where("id IN (?)", with).Update("name", "x").Error
		}},
		{name: "a FROM clause", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{}).Clauses(clause.From{Tables: []clause.Table{{Name: "cases"}}}).Where("suites.plan_id = ? AND cases.suite_id = suites.id", w.root.PlanID).Update("name", "x").Error
		}},
		{name: "an order and a limit", tree: "/a /a/b /a/b/c /x /x/e", write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{}).Where("parent_id = ?", w.ids[""]).Order("name DESC").Limit(1).Update("name", "x").Error
		}},
		{name: "a limit of a note, where GORM has one", only: "mysql", write: func(w *world, tx *gorm.DB) error {
			result := tx.Model(&Suite{}).Where("parent_id = ?", w.ids[""]).Order("name DESC").Limit(1).Update("note", "x")
			if result.RowsAffected != 1 {
				w.Errorf("%d rows affected, want 1", result.RowsAffected)
			}
			return result.Error
		}},
		{name: "a limit of a note, which GORM would leave out", only: "postgres sqlite", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{}).Where("parent_id = ?", w.ids[""]).Order("name DESC").Limit(1).Update("note", "x").Error
		}},
		{name: "Omit of the parent", tree: renamedTree, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(w.at("/a")).Omit("ParentID").Updates(map[string]any{"name": "x", "parent_id": w.ids["/d"]}).Error
		}},
		{name: "the key of many rows", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{}).Where("plan_id = ?", w.root.PlanID).Updates(Suite{ID: w.ids["/a"], Note: "x"}).Error
		}},
		{name: "the deletion mark as expression", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Update("deleted", gorm.Expr("CURRENT_TIMESTAMP")).Error
		}},
		{name: "no name", refused: errAny, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Update("name", nil).Error
		}},
		{name: "UPDATE IGNORE", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Clauses(clause.Update{Modifier: "IGNORE"}).Model(&Suite{ID: w.ids["/a"]}).Update("name", "d").Error
		}},
		{name: "a RETURNING clause", tree: renamedTree, write: func(w *world, tx *gorm.DB) error {
			var rows []Suite
			err := tx.Model(&rows).Clauses(clause.Returning{}).Where("id = ?", w.ids["/a"]).Update("name", "x").Error
			if tx.Name() != "mysql" && (len(rows) != 1 || rows[0].Path != "/x") {
				w.Errorf("returned %+v", rows)
			}
			return err
		}, only: "postgres sqlite"},
		{name: "AllowGlobalUpdate of a name", refused: errAny, write: func(_ *world, tx *gorm.DB) error {
			return tx.Session(&gorm.Session{AllowGlobalUpdate: true}).Model(&Suite{}).Update("name", "x").Error
		}},
		{name: "a dry run", write: func(w *world, tx *gorm.DB) error {
			defer w.holding("/")()
			return tx.Session(&gorm.Session{DryRun: true}).Model(w.at("/a")).Update("name", "x").Error
		}},
		{name: "G.Update", tree: renamedTree, write: func(w *world, tx *gorm.DB) error {
			return count(gorm.G[Suite](tx).Where("id = ?", w.ids["/a"]).Update(w.Context(), "name", "x"))
		}},
		{name: "G.Set.Update", tree: movedTree, write: func(w *world, tx *gorm.DB) error {
			return count(gorm.G[Suite](tx).Where("id = ?", w.ids["/a"]).Set(clause.Assignment{Column: clause.Column{Name: "parent_id"}, Value: w.ids["/d"]}).Update(w.Context()))
		}},
	}
}

// count drops the number of rows from what the generic API returns.
func count(_ int, err error) error { return err }
