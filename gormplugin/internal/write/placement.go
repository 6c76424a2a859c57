package write

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/hold"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
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

// settleMarks gives a row in a map the marks of a live row, where it states none. A struct always
// has them, and NULL does not mark a row as live where 0 does.
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

// settleParent gives a new row without a parent the value of [table.Table.NoParent].
func (row *arrival) settleParent() error {
	if row.Parent != nil {
		return nil
	}
	return row.Set(row.Table.Parent, row.Table.NoParent())
}

// placement is where new rows belong: their parents in the database, and their slots.
type placement struct {
	parents map[any]*table.Node
	claims  hold.Claims
}

// placeAll gives new rows their places. known are parents that need not be read again.
func (p *Planner) placeAll(db *gorm.DB, t *table.Table, rows []*arrival, known map[any]*table.Node, lock dialect.RowLock) (*placement, error) {
	parents, err := parentsOf(db, t, rows, known, lock)
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

// parentsOf returns the known rows, and those of the rows' parents in the database that are missing
// among them: see [table.Table.RowsBeside].
func parentsOf(db *gorm.DB, t *table.Table, rows []*arrival, known map[any]*table.Node, lock dialect.RowLock) (map[any]*table.Node, error) {
	ids := make([]any, len(rows))
	for i, row := range rows {
		ids[i] = row.Parent
	}
	return t.Above.RowsBeside(db, known, ids, lock)
}

// place works out where a row belongs: below a parent in the database, or below another row of the
// same statement that states its own id.
func place(t *table.Table, row *arrival, rows []*arrival, parents map[any]*table.Node) error {
	above, err := aboveOf(t, row, rows, parents, 0)
	if err != nil {
		return err
	}
	switch {
	case above == nil && t.IsLeaf():
		return t.Misplaced("a leaf needs a parent")
	case above != nil:
		if row.Tree != nil && row.Tree != above.Tree && !t.IsLeaf() {
			return t.Misplaced("the parent %s is in the tree %s, not in %s", shown.ID(above.ID), shown.ID(above.Tree), shown.ID(row.Tree))
		}
		row.Tree = above.Tree
	}
	if err := t.CheckID(row.ID); err != nil {
		return err
	}
	t.Follow(row.Node, above)
	if err := t.CheckStated(row.ID, row.stated, row.statedIDs, row.Node); err != nil {
		return err
	}
	if row.at, err = t.CheckedLocation(row.Node, above == nil); err != nil {
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
	err := row.Set(t.Fence, fence)
	switch {
	case !t.IsLeaf():
		return errors.Join(err, row.Set(t.Tree, row.Tree), t.SetPaths(row.Record, row.Node))
	case row.Pairs == nil:
		return errors.Join(err, t.Tell(row.Ctx, row.Row, row.Path))
	}
	return err
}
