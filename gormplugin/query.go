package gormplugin

import (
	"fmt"

	"github.com/pathlock-go/pathlock"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Subtree returns a query for the row with the id and all its descendants, to go on with:
//
//	err := gormplugin.Subtree(db, &Suite{}, id).Order("path").Find(&suites).Error
//
// It reads the row's place and makes a range of the index over tree and path of it. On
// db.Unscoped(), softly deleted rows are included, and the row may be one. An error, such as one
// that matches [pathlock.ErrNotFound], is that of the returned DB, and of what is called on it.
//
// The query runs later than the look-up. A row that has moved in between gives an empty result,
// never rows of another subtree; to rule that out, run both in a transaction that sees one
// snapshot, or under a lock on the row ([pathlock.S] or [Assert]).
func Subtree(db *gorm.DB, model, id any) *gorm.DB {
	p, t, n, err := lookUp(db, model, id)
	switch {
	case err != nil:
		return failed(db, err)
	case t.isLeaf():
		return failed(db, t.unsupported("nothing lies below a leaf"))
	}
	return db.Model(t.fresh()).Where(p.planner.within(t, n.tree, n.id, n.path)).Where(&unmoved{p, t, n})
}

// Leaves returns a query for the rows of a leaf model that hang anywhere in the subtree of the row
// with the id, which is one of the model above the leaves, to go on with. It is otherwise as
// [Subtree]. Leaves whose parent is softly deleted are found on db.Unscoped() only.
func Leaves(db *gorm.DB, leaf, id any) *gorm.DB {
	p, t, err := subject(db, leaf)
	if err != nil {
		return failed(db, err)
	}
	if !t.isLeaf() {
		return failed(db, t.unsupported("the model is not registered as a leaf"))
	}
	n, err := t.above.lookUp(db, id)
	if err != nil {
		return failed(db, err)
	}
	above := t.above.own(db)
	above.Statement.Unscoped = db.Statement.Unscoped
	parents := above.Select("?", column(t.above.key)).Where(p.planner.within(t.above, n.tree, n.id, n.path))
	return db.Model(t.fresh()).Where(clause.Expr{SQL: "? IN (?)", Vars: []any{column(t.parent), parents}}).Where(&unmoved{p, t.above, n})
}

// Children returns a query for the rows of model whose parent is the row with the id, to go on
// with. Where model is a leaf, the id is one of the model above. A row that is not there has no
// children.
func Children(db *gorm.DB, model, id any) *gorm.DB {
	_, t, err := subject(db, model)
	if err != nil {
		return failed(db, err)
	}
	key, err := t.above.keyOf(id)
	if err != nil {
		return failed(db, err)
	}
	return db.Model(t.fresh()).Where(clause.Eq{Column: column(t.parent), Value: key})
}

// Ancestors returns a query for the rows above the row with the id, to go on with; ordered by path,
// the top comes first. Those above a leaf are rows of the model above. It follows the parents, not
// the paths. A row that is not there has no ancestors.
func Ancestors(db *gorm.DB, model, id any) *gorm.DB {
	_, t, err := subject(db, model)
	if err != nil {
		return failed(db, err)
	}
	key, err := t.keyOf(id)
	if err != nil {
		return failed(db, err)
	}
	self := t.own(db)
	self.Statement.Unscoped = db.Statement.Unscoped
	parent := self.Select("?", column(t.parent)).Where(clause.Eq{Column: column(t.key), Value: key})
	return db.Model(t.above.fresh()).Where(t.above.lineage(clause.Expr{SQL: "(?)", Vars: []any{parent}}))
}

// At returns a query for the row that has a path in a tree, which is the value of the model's tree
// column, to go on with:
//
//	err := gormplugin.At(db, &Suite{}, plan.ID, pathlock.MustParsePath("/login/errors")).Take(&suite).Error
//
// The path of a leaf is its parent's and its own name.
func At(db *gorm.DB, model, tree any, path pathlock.Path) *gorm.DB {
	p, t, err := subject(db, model)
	if err != nil {
		return failed(db, err)
	}
	if !t.isLeaf() {
		return db.Model(t.fresh()).Where(p.planner.at(t, tree, path))
	}
	if path.IsRoot() {
		return failed(db, fmt.Errorf("%w: %s: the root of a tree is not a leaf", pathlock.ErrInvalidPath, t.name))
	}
	parent := t.above.own(db).Select("?", column(t.above.key)).Where(p.planner.at(t.above, tree, path.Parent()))
	return db.Model(t.fresh()).
		Where(clause.Expr{SQL: "? IN (?)", Vars: []any{column(t.parent), parent}}).
		Where(p.planner.exactly(column(t.label), path.Base()))
}

// at is the condition that a row has a path in a tree.
func (p *planner) at(t *table, tree any, path pathlock.Path) clause.Expression {
	return clause.And(clause.Eq{Column: column(t.tree), Value: tree}, p.exactly(column(t.path), path.Column()))
}

// Resolve returns where the live row with the id is: in the caller's transaction, if db is one, and
// without locks. A leaf is where its parent's path and its own name say. Errors match
// [pathlock.ErrNotFound] or [pathlock.ErrInvalidID]. See [Assert] for a place that stays, and
// [Plugin.Resolver] for the middleware.
func Resolve(db *gorm.DB, model, id any) (pathlock.Location, error) {
	_, t, err := subject(db, model)
	if err != nil {
		return pathlock.Location{}, err
	}
	key, err := t.keyOf(id)
	if err != nil {
		return pathlock.Location{}, err
	}
	return t.locate(db, key)
}

// lookUp reads the row that a query starts from.
func lookUp(db *gorm.DB, model, id any) (*Plugin, *table, *node, error) {
	p, t, err := subject(db, model)
	if err != nil {
		return nil, nil, nil, err
	}
	n, err := t.lookUp(db, id)
	return p, t, n, err
}

// lookUp returns the row with the id, which may be a deleted one where db is Unscoped.
func (t *table) lookUp(db *gorm.DB, id any) (*node, error) {
	key, err := t.keyOf(id)
	if err != nil {
		return nil, err
	}
	found, err := t.read(db, selection{where: clause.Eq{Column: column(t.key), Value: key}, unscoped: db.Statement.Unscoped})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: %s", pathlock.ErrNotFound, t.row(id))
	}
	return found[0], nil
}

// failed returns a DB on which nothing is done any more, for err.
func failed(db *gorm.DB, err error) *gorm.DB {
	db = db.Session(&gorm.Session{})
	_ = db.AddError(err)
	return db
}

// unmoved is the condition that a row is where it was found before. It is part of queries only: an
// UPDATE or a DELETE may not name its own table in a condition on MySQL.
type unmoved struct {
	plugin *Plugin
	table  *table
	node   *node
}

// Build implements [clause.Expression].
func (u *unmoved) Build(b clause.Builder) {
	stmt, ok := b.(*gorm.Statement)
	if !ok || len(stmt.BuildClauses) == 0 || stmt.BuildClauses[0] != "SELECT" {
		_, _ = b.WriteString("1 = 1")
		return
	}
	column := func(name string) clause.Column { return clause.Column{Table: "unmoved", Name: name} }
	t, n := u.table, u.node
	clause.Expr{SQL: "EXISTS (SELECT 1 FROM ? AS ? WHERE ? = ? AND ? = ? AND ?)", Vars: []any{
		clause.Table{Name: t.name}, clause.Table{Name: "unmoved"}, column(t.key.DBName), n.id,
		column(t.tree.DBName), n.tree, u.plugin.planner.exactly(column(t.path.DBName), n.path),
	}}.Build(b)
}
