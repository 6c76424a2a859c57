package write

import (
	"errors"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
)

// arrival is a row that a Create is to insert.
type arrival struct {
	plan.Arrival
	table.Record
	// from is where a row of an upsert is that the statement moves or renames.
	from *table.Node
}

// planned returns what rows are to a plan.
func planned(rows []*arrival) []*plan.Arrival {
	all := make([]*plan.Arrival, len(rows))
	for i, row := range rows {
		all[i] = &row.Arrival
	}
	return all
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
		rows[i] = &arrival{plan.Arrival{Node: n, Stated: n.Path, StatedIDs: n.IDs}, r, nil}
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
		if live := row.Table.LiveMark(f); live != nil && !row.States(f) {
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

// parentsOf returns the known rows, and those of the rows' parents in the database that are missing
// among them: see [table.Table.Rows].
func parentsOf(db *gorm.DB, t *table.Table, rows []*arrival, known map[any]*table.Node, lock string) (map[any]*table.Node, error) {
	ids := make([]any, len(rows))
	for i, row := range rows {
		ids[i] = row.Parent
	}
	return t.Above.Rows(db, known, ids, lock)
}

// store writes what follows from a row's place into the row.
func store(t *table.Table, row *arrival, fence uint64) error {
	err := errors.Join(row.Set(t.Fence, fence), row.Set(t.Tree, row.Tree), t.SetPaths(row.Record, row.Node))
	if row.Pairs == nil {
		return errors.Join(err, t.Tell(row.Ctx, row.Row, row.Path))
	}
	return err
}
