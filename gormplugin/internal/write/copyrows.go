package write

import (
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
)

// The subtree is read once, by a range of the path index. Go works out the places of the copies.
// The database inserts them from the top down, since rows need the ids of those above, and some
// with each statement. A statement selects them by their keys, so that its time does not depend on
// what a planner knows of the table.

// copiedAtOnce is how many rows a statement copies: it lists some of them seven times.
const copiedAtOnce = 100

// copyRows carries out a plan whose rows are locked. Where that fails once there are new rows, the
// transaction ends, even if the caller ignores the error.
func (e *Engine) copyRows(db *gorm.DB, tx *txn.Transaction, st *Statement, req *CopyRequest, x *copying) error {
	all, err := e.copyAll(db, tx, st, req, x)
	if err != nil {
		if x.written {
			if e.Dialect.Classify(err).IsOfAnother() {
				err = fault.Retryable(err)
			}
			tx.Abandon(err)
		}
		return err
	}
	req.Rows = int64(len(all))
	tx.Writing.Unlock() // what is attached may be written by the plugin, too
	defer tx.Writing.Lock()
	if err = copyAttached(db, req, all); err != nil {
		tx.Abandon(err) // it would leave rows without what belongs to them
	}
	return err
}

// copyAll copies the subtree and its leaves, and returns the copies.
func (e *Engine) copyAll(db *gorm.DB, tx *txn.Transaction, st *Statement, req *CopyRequest, x *copying) (all []*plan.Copied, err error) {
	t := req.Table
	levels, err := e.subtree(db, t, x)
	if err != nil {
		return nil, err
	}
	all = slices.Concat(levels...)
	if err := e.readLeaves(db, req, x, all); err != nil {
		return nil, err
	}
	if err := e.checkSlot(db, t, x); err != nil {
		return nil, err
	}
	l := make(plan.TopArrivals)
	l.Add(x.After, x.To.Tree)
	tops, err := e.guardTop(db, t, l)
	if err != nil {
		return nil, err
	}
	for _, level := range levels {
		for part := range slices.Chunk(level, copiedAtOnce) {
			paths, err := e.insertCopies(db, st, t, part, req.Values)
			if err != nil {
				return nil, err
			}
			x.written = true
			if err := e.completeCopies(db, t, x, part, paths); err != nil {
				return nil, err
			}
		}
	}
	if err := e.recheckTop(db, tx, t, tops); err != nil {
		return nil, err
	}
	if err := e.fetchCopy(db, req, x); err != nil {
		return nil, err
	}
	if hasKeys(t, req.Values) {
		for _, leaf := range t.Leaves { // those that deleted rows with the same keys have left behind
			if err := e.followSubtrees(db, leaf, []*table.Node{x.After}, true); err != nil {
				return nil, err
			}
		}
	}
	return all, e.copyLeaves(db, st, req, x)
}

// subtree reads the row and those below, and returns their copies, level by level.
func (e *Engine) subtree(db *gorm.DB, t *table.Table, x *copying) ([][]*plan.Copied, error) {
	if t.IsLeaf {
		return [][]*plan.Copied{{{Of: x.Source, Node: x.After, Above: x.Above}}}, nil
	}
	var rows []*table.Node
	err := t.OnPathIndex(db, func(from table.Hinted) (err error) {
		rows, err = e.whole(db, t, from.As("c"), t.Within(x.Source.Tree, x.Source.ID, x.Source.Path))
		return err
	})
	if err != nil {
		return nil, err
	}
	return t.Levels(x.Copy, rows)
}

// whole reads the live rows, called c, that match where, and locks them for sharing. Some databases
// do not keep out, or do not show, rows that join these meanwhile: so it counts them again.
func (e *Engine) whole(db *gorm.DB, t *table.Table, from, where clause.Expression) ([]*table.Node, error) {
	begin := func() *table.Direct {
		d := t.Direct(db)
		d.Table, d.TableExpr = "c", nil
		return d
	}
	lock := e.Dialect.Newest
	if e.Asserts {
		lock = e.Dialect.Share
	}
	d := begin()
	table.Selection{From: from, Where: where, Lock: lock}.AppendTo(d)
	rows, err := t.Collect(d, lock != "", false)
	if err != nil || !e.Asserts || lock == "" {
		return rows, err
	}
	var now int
	d = begin().Add("SELECT COUNT(*) FROM ? WHERE ?", from, t.Matching(where, false))
	e.addNewest(d)
	if err := d.One(&now); err != nil {
		return nil, fmt.Errorf("gormplugin: counting rows of %s: %w", t.TableName, err)
	}
	if now != len(rows) {
		return nil, fault.Retryable(fmt.Errorf("gormplugin: copying rows of %s: there were %d, and are %d", t.TableName, len(rows), now))
	}
	return rows, nil
}

// slot is the condition that a row is where the copy's top row goes.
func slot(t *table.Table, x *copying) clause.Expression {
	if !t.IsLeaf {
		return t.HasPath(x.After.Tree, x.To.Path)
	}
	return clause.And(clause.Eq{Column: table.Column(t.Parent), Value: x.After.Parent}, t.Exactly(table.Column(t.Name), x.After.Name))
}

// checkSlot refuses a name that is taken, even where no unique index would.
func (e *Engine) checkSlot(db *gorm.DB, t *table.Table, x *copying) error {
	if t.ByIDs {
		return nil // a path has no name
	}
	taken, err := t.Read(db, table.Selection{Where: slot(t, x)})
	if err != nil || len(taken) == 0 {
		return err
	}
	return &fault.NameTakenError{Table: t.TableName, Tree: x.To.Tree, Path: x.To.Path}
}

// isApart reports whether the path of a new row cannot be written before the row has its id, or
// does not tell the row from its siblings. Until then, the path is a name at the top that no row
// has.
func isApart(t *table.Table) bool { return !t.IsLeaf && (t.ByIDs || t.PathForm.OfParent) }

// completeCopies finds new rows by what was written of their paths, and writes what follows from
// their ids.
func (e *Engine) completeCopies(db *gorm.DB, t *table.Table, x *copying, part []*plan.Copied, paths []any) error {
	where, pathOf := slot(t, x), func(*table.Node) any { return paths[0] }
	if !t.IsLeaf {
		where = clause.And(t.InTree(clause.CurrentTable, x.After.Tree), t.TextIn(table.Column(t.Path), paths))
		pathOf = func(n *table.Node) any { return t.PathForm.Column(n.Path) }
	}
	var rows []*table.Node
	err := t.OnPathIndex(db, func(from table.Hinted) (err error) {
		rows, err = t.Read(db, table.Selection{From: from, Where: where, Unscoped: true})
		return err
	})
	if err != nil {
		return err
	}
	made := make(map[any]*table.Node, len(rows))
	for _, n := range rows {
		if !n.Dead {
			made[[2]any{n.Parent, pathOf(n)}] = n
		}
	}
	for i, c := range part {
		n := made[[2]any{c.Parent, paths[i]}]
		if n == nil {
			return &fault.PathChangedError{Table: t.TableName, ID: c.Of.ID, Planned: c.Of.Path}
		}
		if err := t.Settle(c, n.ID); err != nil {
			return err
		}
	}
	ids := valuesOf(part, newKeyOf)
	if isApart(t) {
		err = writeEach(db, t, t.Path, ids, valuesOf(part, func(c *plan.Copied) any { return t.PathForm.Column(c.Path) }))
	}
	if err == nil && t.IDs != nil && !t.IDsForm.OfParent {
		err = writeEach(db, t, t.IDs, ids, valuesOf(part, func(c *plan.Copied) any { return t.IDsForm.Column(c.IDs) }))
	}
	return err
}

// fetchCopy reads the new top row.
func (e *Engine) fetchCopy(db *gorm.DB, req *CopyRequest, x *copying) error {
	made := reflect.New(req.Table.Schema.ModelType)
	d := req.Table.Direct(db).Add("SELECT * FROM ? WHERE ?", clause.Table{Name: req.Table.TableName}, clause.Eq{Column: table.Column(req.Table.Key), Value: x.After.ID})
	if err := d.Into(made); err != nil {
		return fmt.Errorf("gormplugin: reading the copy at %q: %w", x.After.Path, err)
	}
	req.Made = made.Elem()
	return req.Table.Tell(db.Statement.Context, req.Made, x.After.Path)
}
