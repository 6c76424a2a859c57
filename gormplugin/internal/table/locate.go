package table

import (
	"fmt"
	"slices"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
)

// Locate returns where the live row with the id is.
func (t *Table) Locate(db *gorm.DB, id any) (pathlock.Location, error) {
	found := t.LocateAll(db, []any{id})[0]
	return found.Location, found.Err
}

// LocateAll returns where the live rows with the ids are.
func (t *Table) LocateAll(db *gorm.DB, ids []any) []pathlock.Resolution {
	rows, above, err := t.locateRows(db, ids)
	results := slices.Repeat([]pathlock.Resolution{{Err: err}}, len(ids))
	if err != nil {
		return results
	}
	for i, id := range ids {
		results[i].Location, results[i].Err = t.located(id, rows[id], above)
	}
	return results
}

// locateRows returns the live rows with the ids, and for leaves the rows above.
func (t *Table) locateRows(db *gorm.DB, ids []any) (rows, above map[any]*Node, err error) {
	if !t.IsLeaf() {
		rows, err = t.withAbove(db, ids)
		return rows, nil, err
	}
	if rows, err = t.ByID(db, ids, ""); err != nil || len(rows) == 0 {
		return nil, nil, err
	}
	t.remember(db.Statement.Context, rows)
	above, err = t.Above.withAbove(db, ParentsOf(rows))
	return rows, above, err
}

// located returns where a row is: n, nil if there is none. above has the parents of leaves.
func (t *Table) located(id any, n *Node, above map[any]*Node) (pathlock.Location, error) {
	if n == nil {
		return pathlock.Location{}, t.Missing(id)
	}
	if !t.IsLeaf() {
		return t.Location(n)
	}
	parent := above[n.Parent]
	if parent == nil {
		return pathlock.Location{}, fmt.Errorf("the parent of %s: %w", t.RowName(id), t.Above.Missing(n.Parent))
	}
	location, err := t.Above.Location(parent)
	if err != nil {
		return pathlock.Location{}, err
	}
	if location.Path, err = location.Path.Child(n.Name); err != nil {
		return pathlock.Location{}, t.Damaged(id, err)
	}
	return location, nil
}

// withAbove returns the live rows with the ids. In a request that remembers rows for its write, it
// returns all live rows above them, too.
func (t *Table) withAbove(db *gorm.DB, ids []any) (map[any]*Node, error) {
	if db.Statement.Context.Value(t.recall) == nil {
		return t.ByID(db, ids, "")
	}
	rows, err := t.Climb(db, ids)
	if err == nil {
		t.remember(db.Statement.Context, rows)
	}
	return rows, err
}
