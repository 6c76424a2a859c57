package gormplugin

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/hold"
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/internal/shown"
	"gorm.io/gorm"
)

// arrival is a row that is about to be given a place.
type arrival struct {
	*table.Node
	table.Record
	// stated and statedIDs are the paths that the caller gave, "" if none.
	stated, statedIDs string
	at                pathlock.Location
}

// arrivals returns the rows that a Create is to insert.
func arrivals(db *gorm.DB, t *table.Table) ([]*arrival, error) {
	records, err := t.RecordsOf(db.Statement)
	if err != nil {
		return nil, err
	}
	rows := make([]*arrival, len(records))
	for i, r := range records {
		n, err := t.NodeIn(r)
		if err != nil {
			return nil, err
		}
		rows[i] = &arrival{Node: n, Record: r, stated: n.Path, statedIDs: n.IDs}
	}
	return rows, nil
}

// inserting is an INSERT.
type inserting struct {
	*planner
	// seen are the rows that the survey found before the transaction, by id.
	seen map[any]*table.Node
	// nameless are the new rows whose path of ids waits for the key that the database gives them.
	nameless []*arrival
	// columns undoes what the plugin has changed of the columns that the statement writes; nil if
	// nothing.
	columns func()
	tops    tops
}

// Survey takes the locks on the slots that can be told before the transaction. A parent that
// is not there (yet), or a name that no row can have, is left for the guard to judge, as hooks and
// associations have their say in between.
func (p *inserting) Survey(db *gorm.DB, st *statement.Statement) (bool, error) {
	st.Note = "insert into " + st.Table.TableName
	rows, err := arrivals(db, st.Table)
	if err != nil {
		return false, err
	}
	if isUpsert(db) {
		if stay, err := p.settleUpsert(db, st.Table, rows, ""); err != nil || stay {
			return false, err
		}
	}
	if p.seen, err = p.parentsOf(db, st.Table, rows, nil, ""); err != nil {
		return false, err
	}
	wanted := make(hold.Claims)
	for _, row := range rows {
		if err := place(st.Table, row, rows, p.seen); err == nil {
			wanted.Add(row.at.Tree, row.at.Path)
		}
	}
	return true, p.AcquireEarly(db, &st.Held, wanted)
}

// Write carries out the INSERT: it gives every row its path, asserts that its parent is, and stays,
// where the path says, has the rows written, and fills in paths of ids.
func (p *inserting) Write(w *statement.Writing) error {
	if !w.Db.Statement.Unscoped {
		if err := w.Apply(w.Db.Statement.Schema.CreateClauses); err != nil {
			return err
		}
	}
	if err := w.Begin(); err != nil {
		return err
	}
	rows, err := p.guardCreate(w.Db, w.Tx, w.St)
	if err != nil {
		return err
	}
	if w.Write(w.Db); w.Db.Error != nil {
		return w.Db.Error
	}
	if written := w.Db.RowsAffected; rows > 0 && written != int64(rows) {
		return w.Missed(int64(rows), written)
	}
	return p.fillIDs(w.Db, w.Tx, w.St)
}

// Explain finds out whether a unique index has refused a row that the rule for the top would have
// refused, too.
func (p *inserting) Explain(db *gorm.DB, st *statement.Statement) {
	p.explainTop(db, st.Table, &p.tops)
}

// End gives the statement back the columns that it selects and omits.
func (p *inserting) End(*gorm.DB) {
	if p.columns != nil {
		p.columns()
	}
}

// guardCreate gives every row its path, and asserts that its parent is, and stays, where the path
// says. It returns how many rows there are to be inserted: none, where the statement is an upsert
// of rows that are there.
func (p *inserting) guardCreate(db *gorm.DB, tx *txn.Transaction, st *statement.Statement) (int, error) {
	t := st.Table
	st.Note = "insert into " + t.TableName
	rows, err := arrivals(db, t)
	if err != nil {
		return 0, err
	}
	if isUpsert(db) {
		stay, err := p.settleUpsert(db, t, rows, p.Dialect.Update)
		if err != nil {
			return 0, err
		}
		if stay {
			for _, row := range rows {
				if err := errors.Join(restate(t, row), row.settleParent()); err != nil {
					return 0, err
				}
			}
			return 0, nil
		}
		delete(db.Statement.Clauses, conflictClause)
		st.Absent = true
	}
	if p.columns, err = selectPlace(t, db.Statement, rows); err != nil {
		return 0, err
	}
	if !table.IsWritten(db.Statement, t.Key) {
		for _, row := range rows {
			if row.ID != nil && t.HasIDs() {
				return 0, t.Unsupported("a row that states a key and leaves it out (by Select or Omit) does not say which it was given, which its path of ids needs")
			}
			row.ID = nil // the database makes its own
		}
	}
	if err := p.settle(db, tx, st, rows); err != nil {
		return 0, err
	}
	if err := p.guardTop(db, st, &p.tops, landingsOf(t, rows)); err != nil {
		return 0, err
	}
	taken := make(map[pathlock.Location]bool, len(rows))
	for _, row := range rows {
		if taken[row.at] {
			return 0, &fault.NameTakenError{Table: t.TableName, Tree: row.at.Tree, Path: row.at.Path}
		}
		taken[row.at] = true
		st.Slots = append(st.Slots, row.at)
		if err := errors.Join(row.Settle(t.Name), row.Settle(t.Parent), row.settleParent()); err != nil {
			return 0, err
		}
		if row.ID == nil && t.HasIDs() {
			if row.Pairs != nil {
				return 0, t.Unsupported("GORM does not say which key a row in a map was given, which its path of ids needs: use a struct, or state the key")
			}
			p.nameless = append(p.nameless, row)
		}
		if err := errors.Join(row.settleMarks(), store(t, row, st.Fence)); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// settleMarks gives a row in a map the marks of a live one, where it states none: a struct has
// them, and a mark that is NULL is none in a column in which 0 marks a live row.
func (row *arrival) settleMarks() error {
	if row.Pairs == nil {
		return nil
	}
	for _, f := range row.Table.Deletion {
		if live := table.LiveMark(f); live != nil && !row.States(f) {
			if err := row.Set(f, live); err != nil {
				return err
			}
		}
	}
	return nil
}

// settle finds the rows' places and locks them.
func (p *inserting) settle(db *gorm.DB, tx *txn.Transaction, st *statement.Statement, rows []*arrival) error {
	t := st.Table
	_, err := hold.Settle(p.Keeper, db, tx, &st.Held, hold.Rounds[*placement]{
		Plan: func(locking bool) (*placement, error) {
			if locking {
				return p.placeAll(db, t, rows, nil, p.Dialect.Share)
			}
			return p.placeAll(db, t, rows, p.seen, "")
		},
		Needs: func(x *placement) hold.Demand { return x.claims },
		Assert: func(x *placement) (*placement, error) {
			_, err := p.LockChains(db, t.Above, x.parentsOf(rows), x.parents)
			return x, err
		},
		Stale: func(err error) bool { return errors.Is(err, pathlock.ErrNotFound) },
		Moved: hold.HasMoved,
	})
	return err
}

// placement is where new rows belong: the parents that are in the database, and the slots.
type placement struct {
	parents map[any]*table.Node
	claims  hold.Claims
}

// placeAll gives new rows their places. known are parents that need not be read again.
func (p *inserting) placeAll(db *gorm.DB, t *table.Table, rows []*arrival, known map[any]*table.Node, lock dialect.RowLock) (*placement, error) {
	parents, err := p.parentsOf(db, t, rows, known, lock)
	if err != nil {
		return nil, err
	}
	x := &placement{parents: parents, claims: make(hold.Claims)}
	for _, row := range rows {
		if err := place(t, row, rows, parents); err != nil {
			return nil, err
		}
		x.claims.Add(row.at.Tree, row.at.Path)
	}
	return x, nil
}

// parentsOf returns the parents that rows hang below.
func (x *placement) parentsOf(rows []*arrival) (parents []*table.Node) {
	for _, row := range rows {
		if parent := x.parents[row.Parent]; parent != nil && !slices.Contains(parents, parent) {
			parents = append(parents, parent)
		}
	}
	return parents
}

// parentsOf returns the rows that rows hang below and that are in the database: all of those known
// already, and what is missing, read with lock, or without one together with what is above.
func (p *planner) parentsOf(db *gorm.DB, t *table.Table, rows []*arrival, known map[any]*table.Node, lock dialect.RowLock) (map[any]*table.Node, error) {
	parents := maps.Clone(known)
	if parents == nil {
		parents = make(map[any]*table.Node)
	}
	missing := make(map[any]bool)
	for _, row := range rows {
		if row.Parent != nil && parents[row.Parent] == nil {
			missing[row.Parent] = true
		}
	}
	found, err := t.Above.Rows(db, slices.Collect(maps.Keys(missing)), lock)
	maps.Copy(parents, found)
	return parents, err
}

// place works out where a row belongs: below a parent in the database, or below
// another row of the same statement that brings its own id.
func place(t *table.Table, row *arrival, rows []*arrival, parents map[any]*table.Node) error {
	above, err := aboveOf(t, row, rows, parents, 0)
	if err != nil {
		return err
	}
	switch {
	case above == nil && t.IsLeaf():
		return t.Unsupported("a leaf needs a parent")
	case above != nil:
		if row.Tree != nil && row.Tree != above.Tree && !t.IsLeaf() {
			return t.Unsupported("the parent %s is in the tree %s, not in %s", shown.ID(above.ID), shown.ID(above.Tree), shown.ID(row.Tree))
		}
		row.Tree = above.Tree
	}
	if err := t.CheckID(row.ID); err != nil {
		return err
	}
	t.Follow(row.Node, above)
	if err := t.Stated(row.ID, row.stated, row.statedIDs, row.Node); err != nil {
		return err
	}
	if row.at, err = t.SiteOf(row.Node, above == nil); err != nil {
		return err
	}
	return t.CheckDepth(row.at.Path)
}

// aboveOf returns the row that a row hangs below, nil for one at the top.
func aboveOf(t *table.Table, row *arrival, rows []*arrival, parents map[any]*table.Node, depth int) (*table.Node, error) {
	if row.Parent == nil {
		return nil, nil
	}
	if n := parents[row.Parent]; n != nil {
		return n, nil
	}
	if depth > pathlock.MaxDepth {
		return nil, fmt.Errorf("%w: %s: the new rows are each other's parents", fault.ErrWouldCycle, t.TableName)
	}
	for _, other := range rows {
		if t.IsLeaf() || other.ID == nil || other.ID != row.Parent {
			continue
		}
		above, err := aboveOf(t, other, rows, parents, depth+1)
		if err != nil {
			return nil, err
		}
		n := *other.Node
		if above != nil {
			n.Tree = above.Tree
		}
		t.Follow(&n, above)
		return &n, nil
	}
	return nil, fmt.Errorf("%w: %s, the parent of %q", pathlock.ErrNotFound, t.Above.RowName(row.Parent), shown.Cut(row.Name))
}

// store writes what follows from a row's place into the row.
func store(t *table.Table, row *arrival, fence uint64) error {
	if t.Fence != nil {
		if err := row.Set(t.Fence, fence); err != nil {
			return err
		}
	}
	if t.IsLeaf() {
		if row.Pairs != nil {
			return nil
		}
		return t.Tell(row.Ctx, row.Row, row.Path)
	}
	if err := row.Set(t.Tree, row.Tree); err != nil {
		return err
	}
	return t.SetPaths(row.Record, row.Node)
}
