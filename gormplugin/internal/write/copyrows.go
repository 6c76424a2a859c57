package write

import (
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm/clause"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
)

// The subtree is read once, by a range of the path index. Go works out the places of the copies.
// The database inserts them from the top down, since rows need the ids of those above, and several
// with each statement. A statement selects them by their keys, so that its time does not depend on
// what a planner knows of the table.

// copiedAtOnce is how many rows a statement copies: it lists some of them seven times.
const copiedAtOnce = 100

// copyRows carries out a plan whose rows are locked.
func (x *copying) copyRows() error {
	all, err := x.copyAll()
	if err != nil {
		if x.written {
			x.slots = nil // the row there is the copy
		}
		return err
	}
	x.req.Rows = int64(len(all))
	x.tx.Writing.Unlock() // what is attached may be written by the plugin, too
	defer x.tx.Writing.Lock()
	return x.copyAttached(all)
}

// copyAll copies the subtree and its leaves, and returns the copies.
func (x *copying) copyAll() (all []*plan.Copied, err error) {
	t := x.Table
	levels, err := x.subtree()
	if err != nil {
		return nil, err
	}
	all = slices.Concat(levels...)
	if err := x.readLeaves(all); err != nil {
		return nil, err
	}
	if err := x.checkSlot(); err != nil {
		return nil, err
	}
	l := make(plan.TopArrivals)
	l.Add(x.After, x.To.Tree)
	if err := x.guardTop(l); err != nil {
		return nil, err
	}
	for _, level := range levels {
		for part := range slices.Chunk(level, copiedAtOnce) {
			paths, err := x.insertCopies(t, part, x.req.given)
			if err != nil {
				return nil, err
			}
			x.written = true
			if err := x.completeCopies(part, paths); err != nil {
				return nil, err
			}
		}
	}
	if err := x.recheckTop(); err != nil {
		return nil, err
	}
	if err := x.fetchCopy(); err != nil {
		return nil, err
	}
	if _, isGiven := x.req.given[t.Key]; isGiven {
		for _, leaf := range t.Leaves { // those that deleted rows with the same keys have left behind
			if err := x.followSubtrees(leaf, []*table.Node{x.After}, true); err != nil {
				return nil, err
			}
		}
	}
	return all, x.copyLeaves()
}

// subtree reads the row and those below, and returns their copies, level by level.
func (x *copying) subtree() ([][]*plan.Copied, error) {
	t := x.Table
	if t.IsLeaf {
		return [][]*plan.Copied{{{Of: x.Source, Node: x.After, Above: x.Above}}}, nil
	}
	var rows []*table.Node
	err := t.OnPathIndex(x.DB, func(from table.Hinted) (err error) {
		rows, err = x.whole(t, from.As("c"), t.Within(x.Source.Tree, x.Source.ID, x.Source.Path))
		return err
	})
	if err != nil {
		return nil, err
	}
	return t.Levels(x.Copy, rows)
}

// whole reads the live rows, called c, that match where, and locks them for sharing. Some databases
// do not keep out, or do not show, rows that join these meanwhile: so it counts them again.
func (s *statement) whole(t *table.Table, from, where clause.Expression) ([]*table.Node, error) {
	begin := func() *table.Direct {
		d := t.Direct(s.DB)
		d.Table, d.TableExpr = "c", nil
		return d
	}
	lock := s.Dialect.Newest
	if s.Asserts {
		lock = s.Dialect.Share
	}
	d := begin()
	table.Selection{From: from, Where: where, Lock: lock}.AppendTo(d)
	rows, err := t.Collect(d, lock != "", false)
	if err != nil || !s.Asserts || lock == "" {
		return rows, err
	}
	var now int
	d = begin().Add("SELECT COUNT(*) FROM ? WHERE ?", from, t.Matching(where, false))
	if s.Dialect.Newest != "" {
		d.Add(" " + s.Dialect.Newest)
	}
	if err := d.One(&now); err != nil {
		return nil, fmt.Errorf("gormplugin: counting rows of %s: %w", t.TableName, err)
	}
	if now != len(rows) {
		return nil, fault.Retryable(fmt.Errorf("gormplugin: copying rows of %s: there were %d, and now there are %d", t.TableName, len(rows), now))
	}
	return rows, nil
}

// slot is the condition that a row is where the copy's top row goes.
func (x *copying) slot() clause.Expression {
	t := x.Table
	if !t.IsLeaf {
		return t.HasPath(x.After.Tree, x.To.Path)
	}
	return clause.And(clause.Eq{Column: table.Column(t.Parent), Value: x.After.Parent}, t.Exactly(table.Column(t.Name), x.After.Name))
}

// checkSlot refuses a name that is taken, even where no unique index would.
func (x *copying) checkSlot() error {
	t := x.Table
	if t.ByIDs {
		return nil // a path has no name
	}
	taken, err := t.Read(x.DB, table.Selection{Where: x.slot()})
	if err == nil && len(taken) > 0 && x.Asserts {
		// The plain read may be of an old snapshot.
		x.newest = x.Dialect.Newest
		taken, err = t.Read(x.DB, table.Selection{Where: x.slot(), Lock: x.Dialect.Share})
	}
	if err != nil || len(taken) == 0 {
		return err
	}
	return &fault.NameTakenError{Table: t.TableName, Tree: x.To.Tree, Path: x.To.Path}
}

// lacksPath reports whether the path of a new row cannot be written before the row has its id, or
// does not tell the row from its siblings. Until then, the path is a name at the top that no row
// has.
func lacksPath(t *table.Table) bool { return !t.IsLeaf && (t.ByIDs || t.PathForm.OfParent) }

// completeCopies finds new rows by what was written of their paths, and writes what follows from
// their ids.
func (x *copying) completeCopies(part []*plan.Copied, paths []any) error {
	t := x.Table
	where, pathOf := x.slot(), func(*table.Node) any { return paths[0] }
	if !t.IsLeaf {
		where = clause.And(t.InTree(x.After.Tree), t.TextIn(table.Column(t.Path), paths))
		pathOf = func(n *table.Node) any { return t.PathForm.Column(n.Path) }
	}
	rows, err := t.ReadRanges(x.DB, table.Selection{Where: where, Unscoped: true, Lock: x.newest})
	if err != nil {
		return err
	}
	made := make(map[any]*table.Node, len(rows))
	for _, n := range rows {
		place := [2]any{n.Parent, pathOf(n)}
		switch {
		case n.Dead:
		case made[place] != nil:
			// Either is the copy. The other one may have come where no unique index refuses it. Or
			// it is about to go: InnoDB rolls back a row's entries in the indexes before the row.
			return fault.Retryable(fmt.Errorf("gormplugin: copying rows of %s: another row came to %q meanwhile", t.TableName, n.Path))
		default:
			made[place] = n
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
	if lacksPath(t) {
		err = x.writeEach(t, t.Path, ids, valuesOf(part, func(c *plan.Copied) any { return t.PathForm.Column(c.Path) }))
	}
	if err == nil && t.IDs != nil && !t.IDsForm.OfParent {
		err = x.writeEach(t, t.IDs, ids, valuesOf(part, func(c *plan.Copied) any { return t.IDsForm.Column(c.IDs) }))
	}
	return err
}

// fetchCopy reads the new top row.
func (x *copying) fetchCopy() error {
	t := x.Table
	made := reflect.New(t.Schema.ModelType)
	d := t.Direct(x.DB).Add("SELECT * FROM ? WHERE ?", clause.Table{Name: t.TableName}, clause.Eq{Column: table.Column(t.Key), Value: x.After.ID})
	if err := d.Into(made); err != nil {
		return fmt.Errorf("gormplugin: reading the copy at %q: %w", x.After.Path, err)
	}
	x.req.Made = made.Elem()
	return t.Tell(x.DB.Statement.Context, x.req.Made, x.After.Path)
}
