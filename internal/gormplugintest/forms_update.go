package gormplugintest

import (
	"context"

	"github.com/pathlock-go/pathlock/gormplugin"
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
		{name: "Updates by another struct with the columns", tree: renamedTree, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Updates(struct{ Name string }{"x"}).Error
		}},
		{name: "Updates by a map of other types, as JSON has them", tree: movedTree, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Updates(map[string]any{"parent_id": float64(w.ids["/d"]), "name": []byte("a")}).Error
		}},
		{name: "a column in odd capitals", tree: renamedTree, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Updates(map[string]any{"nAmE": "x"}).Error
		}},
		{name: "a column with its table", tree: renamedTree, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Updates(map[string]any{"suites.name": "x"}).Error
		}},
		{name: "a column that is no name", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Clauses(clause.Set{{Column: clause.Column{Name: "name = 'x', note", Raw: true}, Value: "y"}}).Updates(map[string]any{}).Error
		}},
		{name: "a model that is no pointer", tree: renamedTree, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(Suite{}).Where("id = ?", w.ids["/a"]).Update("name", "x").Error
		}},
		{name: "a subquery on another table", tree: "/a /a/x /a/x/c /d /d/e", write: func(w *world, tx *gorm.DB) error {
			with := tx.Session(&gorm.Session{NewDB: true}).Model(&Case{}).Select("suite_id").Where("suite_id IN ?", []int64{w.ids["/a/b"], w.ids["/d"]})
			return tx.Model(&Suite{}).Where("id IN (?)", with).Update("name", "x").Error
		}},
		{name: "a join", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{}).Joins("JOIN cases ON cases.suite_id = suites.id").Where("suites.plan_id = ?", w.root.PlanID).Update("name", "x").Error
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
		{name: "Select of everything moves to the top", refused: gormplugin.ErrRootRow, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(w.at("/a")).Select("*").Omit("id").Updates(Suite{Name: "x"}).Error
		}},
		{name: "a query as parent", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(w.at("/a")).Update("parent_id", tx.Session(&gorm.Session{NewDB: true}).Model(&Suite{}).Select("MIN(id)")).Error
		}},
		{name: "an expression elsewhere", write: func(w *world, tx *gorm.DB) error {
			return tx.Model(w.at("/a")).Update("note", gorm.Expr("UPPER(name)")).Error
		}},
		{name: "the key of many rows", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{}).Where("plan_id = ?", w.root.PlanID).Updates(Suite{ID: w.ids["/a"], Note: "x"}).Error
		}},
		{name: "the key, as it is", tree: renamedTree, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{}).Where("id = ?", w.ids["/a"]).Updates(Suite{ID: w.ids["/a"], Name: "x"}).Error
		}},
		{name: "the tree, as it is", tree: renamedTree, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Updates(Suite{PlanID: w.root.PlanID, Name: "x"}).Error
		}},
		{name: "the deletion mark as expression", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Update("deleted", gorm.Expr("CURRENT_TIMESTAMP")).Error
		}},
		{name: "no name", refused: errAny, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Suite{ID: w.ids["/a"]}).Update("name", nil).Error
		}},
		{name: "a joined table expression", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Table("others, suites").Where("suites.id = ?", w.ids["/a"]).Updates(map[string]any{"suites.name": "x"}).Error
		}},
		{name: "a table expression with a variable", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Table("? AS s", clause.Table{Name: "suites"}).Where("s.id = ?", w.ids["/a"]).Updates(map[string]any{"name": "x"}).Error
		}},
		{name: "a table in capitals", refused: errAny, write: func(w *world, tx *gorm.DB) error {
			return tx.Table("SUITES").Where("id = ?", w.ids["/a"]).Update("name", "x").Error
		}},
		{name: "a map as model", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Table("suites").Model(map[string]any{}).Where("id = ?", w.ids["/a"]).Updates(map[string]any{"name": "x"}).Error
		}},
		{name: "another struct on the same table", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&suiteView{ID: w.ids["/a"]}).Update("name", "x").Error
		}},
		{name: "another model that is turned to this table", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Model(&Other{}).Clauses(clause.Update{Table: clause.Table{Name: "suites"}}).Where("id = ?", w.ids["/a"]).Update("name", "x").Error
		}},
		{name: "UPDATE IGNORE", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Clauses(clause.Update{Modifier: "IGNORE"}).Model(&Suite{ID: w.ids["/a"]}).Update("name", "d").Error
		}},
		{name: "raw SQL before Updates", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return tx.Raw("UPDATE suites SET name = 'x' WHERE id = ?", w.ids["/a"]).Updates(&Suite{ID: w.ids["/a"], Name: "y"}).Error
		}},
		{name: "a RETURNING clause", tree: renamedTree, write: func(w *world, tx *gorm.DB) error {
			var rows []Suite
			err := tx.Model(&rows).Clauses(clause.Returning{}).Where("id = ?", w.ids["/a"]).Update("name", "x").Error
			if tx.Name() != "mysql" && (len(rows) != 1 || rows[0].Path != "/x") {
				w.Errorf("returned %+v", rows)
			}
			return err
		}, only: "postgres sqlite"},
		{name: "without a condition", refused: gorm.ErrMissingWhereClause, write: func(_ *world, tx *gorm.DB) error {
			return tx.Model(&Suite{}).Update("note", "x").Error
		}},
		{name: "AllowGlobalUpdate of a name", refused: errAny, write: func(_ *world, tx *gorm.DB) error {
			return tx.Session(&gorm.Session{AllowGlobalUpdate: true}).Model(&Suite{}).Update("name", "x").Error
		}},
		{name: "AllowGlobalUpdate of a note", write: func(_ *world, tx *gorm.DB) error {
			return tx.Session(&gorm.Session{AllowGlobalUpdate: true}).Model(&Suite{}).Update("note", "x").Error
		}},
		{name: "a dry run", write: func(w *world, tx *gorm.DB) error {
			defer w.holding("/")()
			return tx.Session(&gorm.Session{DryRun: true}).Model(w.at("/a")).Update("name", "x").Error
		}},
		{name: "ToSQL", write: func(w *world, tx *gorm.DB) error {
			tx.ToSQL(func(tx *gorm.DB) *gorm.DB { return tx.Model(w.at("/a")).Update("name", "x") })
			return nil
		}},
		{name: "G.Update", tree: renamedTree, write: func(w *world, tx *gorm.DB) error {
			return count(gorm.G[Suite](tx).Where("id = ?", w.ids["/a"]).Update(w.Context(), "name", "x"))
		}},
		{name: "G.Set.Update", tree: movedTree, write: func(w *world, tx *gorm.DB) error {
			return count(gorm.G[Suite](tx).Where("id = ?", w.ids["/a"]).Set(clause.Assignment{Column: clause.Column{Name: "parent_id"}, Value: w.ids["/d"]}).Update(w.Context()))
		}},
		{name: "G.Set.Update by an expression", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return count(gorm.G[Suite](tx).Where("id = ?", w.ids["/a"]).Set(clause.Assignment{Column: clause.Column{Name: "name"}, Value: clause.Expr{SQL: "UPPER(name)"}}).Update(w.Context()))
		}},
		{name: "G.Set.Create", tree: suiteTree + " /d/x", write: func(w *world, tx *gorm.DB) error {
			return gorm.G[Suite](tx).Set(clause.Assignments(map[string]any{"parent_id": w.ids["/d"], "name": "x"})).Create(w.Context())
		}},
		{name: "G.Create", tree: suiteTree + " /d/x", write: func(w *world, tx *gorm.DB) error {
			return gorm.G[Suite](tx).Create(w.Context(), &Suite{ParentID: w.parent("/d"), Name: "x"})
		}},
		{name: "G.Delete", tree: "/d /d/e", write: func(w *world, tx *gorm.DB) error {
			return count(gorm.G[Suite](tx).Where("id = ?", w.ids["/a"]).Delete(w.Context()))
		}},
		{name: "G.Table", refused: unsupported, write: func(w *world, tx *gorm.DB) error {
			return count(gorm.G[suiteView](tx).Table("suites").Where("id = ?", w.ids["/a"]).Update(context.Background(), "name", "x"))
		}},
	}
}

// count drops the number of rows from what the generic API returns.
func count(_ int, err error) error { return err }
