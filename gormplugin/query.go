package gormplugin

import (
	"database/sql/driver"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/internal/shown"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Subtree returns a query, which you can refine, for the row with the id and all its descendants:
//
//	err := gormplugin.Subtree(db, &Suite{}, id).Order("path").Find(&suites).Error
//
// It reads the row's place, and turns that into a range of the index over tree and path. On
// db.Unscoped(), softly deleted rows are included, and the row may be one. If that fails, the
// returned DB has the error, and so has what is called on it. It matches [pathlock.ErrNotFound],
// for example, or [ErrDamagedRow] if no row could have the row's path.
//
// The query runs later than the look-up. If the row has moved in between, the result is empty, so
// that NOT IN matches every row, and never has rows of another subtree. To rule that out, run both
// in a transaction that sees one snapshot, or under a lock on the row ([pathlock.S] or [Assert]).
func Subtree(db *gorm.DB, model, id any) *gorm.DB {
	return query(db, model, func(t *table.Table) (*gorm.DB, error) {
		n, err := topOf(db, t, id)
		if err != nil {
			return nil, err
		}
		return t.Query(db).Where(t.Within(n.Tree, n.ID, n.Path)).Where(&unmoved{t, n}), nil
	})
}

// Leaves returns a query, which you can refine, for the rows of a leaf model that hang anywhere in
// the subtree of the row with the id. The row is one of the model above the leaves. Otherwise it
// works like [Subtree]. Leaves whose parent is softly deleted are found on db.Unscoped() only.
func Leaves(db *gorm.DB, leaf, id any) *gorm.DB {
	return query(db, leaf, func(t *table.Table) (*gorm.DB, error) {
		if !t.IsLeaf {
			return nil, t.Unsupported("the model is not registered as a leaf")
		}
		n, err := topOf(db, t.Above, id)
		if err != nil {
			return nil, err
		}
		parents := t.Above.Part(db, db.Statement.Unscoped).Select("?", table.Column(t.Above.Key)).Where(t.Above.Within(n.Tree, n.ID, n.Path))
		return t.Query(db).Where(clause.Expr{SQL: "? IN (?)", Vars: []any{table.Column(t.Parent), parents}}).Where(&unmoved{t.Above, n}), nil
	})
}

// topOf returns the row at the top of a subtree. It checks the row's path: below a missing one
// would be the whole table.
func topOf(db *gorm.DB, t *table.Table, id any) (*table.Node, error) {
	n, err := t.Find(db, id)
	switch {
	case err != nil:
		return nil, err
	case t.IsLeaf:
		return nil, t.Unsupported("nothing lies below a leaf")
	}
	_, err = t.Location(n)
	return n, err
}

// Children returns a query, which you can refine, for the rows of model whose parent is the row
// with the id. If model is a leaf, the id is one of the model above. A row that is not there has
// no children, and neither has nil.
func Children(db *gorm.DB, model, id any) *gorm.DB {
	return query(db, model, func(t *table.Table) (*gorm.DB, error) {
		key, err := t.Above.KeyOf(db, id)
		// Nothing equals NULL, which is not the parent of the rows at the top.
		return t.Query(db).Where(clause.Expr{SQL: "? = ?", Vars: []any{table.Column(t.Parent), t.ParentOrNil(key)}}), err
	})
}

// Ancestors returns a query, which you can refine, for the rows above the row with the id. Ordered
// by path, the top comes first. The rows above a leaf are of the model above. The query follows the
// parents, not the paths. A row that is not there has no ancestors.
func Ancestors(db *gorm.DB, model, id any) *gorm.DB {
	return query(db, model, func(t *table.Table) (*gorm.DB, error) {
		key, err := t.KeyOf(db, id)
		parent := t.Part(db, db.Statement.Unscoped).Select("?", table.Column(t.Parent)).Where(clause.Eq{Column: table.Column(t.Key), Value: key})
		return t.Above.Query(db).Where(t.Above.Lineage(clause.Expr{SQL: "(?)", Vars: []any{parent}})), err
	})
}

// At returns a query, which you can refine, for the row that has a path in a tree. The tree is
// given by the value of the model's tree column, or by the id of [SingleTree]:
//
//	err := gormplugin.At(db, &Suite{}, plan.ID, pathlock.MustParsePath("/login/errors")).Take(&suite).Error
//
// The path of a leaf is its parent's and its own name.
func At(db *gorm.DB, model, tree any, path pathlock.Path) *gorm.DB {
	return query(db, model, func(t *table.Table) (*gorm.DB, error) {
		if sole := t.Above.SingleTree(); sole != "" && fmt.Sprint(tree) != sole {
			return nil, t.Unsupported("all rows are in the tree %q, none is in %v", sole, tree)
		}
		if !t.IsLeaf {
			return t.Query(db).Where(t.HasPath(tree, path)), nil
		}
		if path.IsRoot() {
			return nil, fmt.Errorf("%w: %w: the root of a tree is not a leaf", pathlock.ErrInvalidPath, shown.Inside(t.TableName))
		}
		parent := t.Above.Part(db, false).Select("?", table.Column(t.Above.Key)).Where(t.Above.HasPath(tree, path.Parent()))
		return t.Query(db).
			Where(clause.Expr{SQL: "? IN (?)", Vars: []any{table.Column(t.Parent), parent}}).
			Where(t.Exactly(table.Column(t.Name), path.Base())), nil
	})
}

// Resolve returns where the live row with the id is. It reads in the caller's transaction, if db is
// one, and takes no locks. The place of a leaf follows from its parent's path and its own name.
// Errors match [pathlock.ErrNotFound], [pathlock.ErrInvalidID] or, if db has conditions,
// [ErrUnsupported]. See [Assert] for a place that stays, and [Plugin.Resolver] for the middleware.
func Resolve(db *gorm.DB, model, id any) (pathlock.Location, error) {
	_, t, err := unconditional(db, model)
	if err != nil {
		return pathlock.Location{}, err
	}
	key, err := t.KeyOf(db, id)
	if err != nil {
		return pathlock.Location{}, err
	}
	return t.Resolve(db, key)
}

// query returns the query that build makes for the table of a model. If that fails, it returns a DB
// that has the error, and runs nothing. That DB has the model: without one, GORM's Count, Pluck and
// Update would add an error of their own, and errors.Is would no longer match this one.
//
// GORM does not look at the error of a subquery, nor at that of conditions: it would leave out the
// conditions, and the subquery's text, so that NOT IN () would match all rows on SQLite. Hence both
// have a variable with which no statement runs.
func query(db *gorm.DB, model any, build func(t *table.Table) (*gorm.DB, error)) *gorm.DB {
	_, t, err := subject(db, model)
	if err == nil {
		var built *gorm.DB
		if built, err = build(t); err == nil {
			return built
		}
	}
	db = db.Session(&gorm.Session{}).Model(model).Where("1 = ?", failure{err})
	subquery, vars := "SELECT 1 WHERE 1 = ?", []any{failure{err}}
	if t != nil {
		subquery, vars = "SELECT ? FROM ? WHERE 1 = ?", []any{clause.Column{Name: t.Key.DBName}, clause.Table{Name: t.TableName}, failure{err}}
	}
	db = db.Raw(subquery, vars...)
	_ = db.AddError(err)
	return db
}

// failure is a variable of a statement that must not run.
type failure struct{ err error }

// Value implements [driver.Valuer].
func (f failure) Value() (driver.Value, error) { return nil, f.err }

// unmoved is the condition that a row is where it was found before. Only queries have it: on MySQL,
// the conditions of an UPDATE or a DELETE cannot name its own table.
type unmoved struct {
	table *table.Table
	node  *table.Node
}

// Build implements [clause.Expression].
func (u *unmoved) Build(b clause.Builder) {
	stmt, ok := b.(*gorm.Statement)
	if !ok || len(stmt.BuildClauses) == 0 || stmt.BuildClauses[0] != "SELECT" {
		_, _ = b.WriteString("1 = 1")
		return
	}
	const alias = "unmoved"
	t, n := u.table, u.node
	still := clause.Expr{SQL: "? = ? AND ? AND ?", Vars: []any{table.Column(t.Key), n.ID, t.InTree(n.Tree), t.Exactly(table.Column(t.Path), t.PathForm.Column(n.Path))}}
	clause.Expr{SQL: "EXISTS (SELECT 1 FROM ? AS ? WHERE ?)", Vars: []any{clause.Table{Name: t.TableName}, clause.Table{Name: alias}, table.Under(alias, still)}}.Build(b)
}
