package table

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
	"gorm.io/gorm"
)

// Locate returns where the live row with the id is.
func (t *Table) Locate(db *gorm.DB, id any) (pathlock.Location, error) {
	found := t.LocateAll(db, []any{id})[0]
	return found.Location, found.Err
}

// LocateAll returns where the live rows with the ids are.
func (t *Table) LocateAll(db *gorm.DB, ids []any) []pathlock.Resolution {
	results := make([]pathlock.Resolution, len(ids))
	fail := func(err error) []pathlock.Resolution {
		for i := range results {
			results[i] = pathlock.Resolution{Err: err}
		}
		return results
	}
	var rows, above map[any]*Node
	var err error
	if t.IsLeaf() {
		if rows, err = t.ByID(db, ids, ""); err != nil {
			return fail(err)
		}
		t.remember(db.Statement.Context, slices.Collect(maps.Values(rows))...)
		parents := make(map[any]bool, len(rows))
		for _, n := range rows {
			parents[n.Parent] = true
		}
		if len(parents) > 0 {
			above, err = t.Above.withAbove(db, slices.Collect(maps.Keys(parents)))
		}
	} else {
		rows, err = t.withAbove(db, ids)
	}
	if err != nil {
		return fail(err)
	}
	for i, id := range ids {
		results[i].Location, results[i].Err = t.located(id, rows[id], above)
	}
	return results
}

// located returns where a row is: n, nil if there is none. above has the parents of leaves.
func (t *Table) located(id any, n *Node, above map[any]*Node) (pathlock.Location, error) {
	if n == nil {
		return pathlock.Location{}, t.missing(id)
	}
	if !t.IsLeaf() {
		return t.Location(n)
	}
	parent := above[n.Parent]
	if parent == nil {
		return pathlock.Location{}, fmt.Errorf("the parent of %s: %w", t.RowName(id), t.Above.missing(n.Parent))
	}
	location, err := t.Above.Location(parent)
	if err != nil {
		return pathlock.Location{}, err
	}
	location.Path, err = location.Path.Child(n.Name)
	return location, err
}

// withAbove returns the live rows with the ids, and, in a request whose write will want to know
// them, all live rows above.
func (t *Table) withAbove(db *gorm.DB, ids []any) (map[any]*Node, error) {
	if db.Statement.Context.Value(t.recall) == nil {
		return t.ByID(db, ids, "")
	}
	rows, err := t.Climb(db, ids)
	if err == nil {
		t.remember(db.Statement.Context, slices.Collect(maps.Values(rows))...)
	}
	return rows, err
}

// missing says that there is no live row with an id.
func (t *Table) missing(id any) error {
	return fmt.Errorf("%w: %s", pathlock.ErrNotFound, t.RowName(id))
}

// Location says where a row with a path is.
func (t *Table) Location(n *Node) (pathlock.Location, error) {
	tree, err := t.TreeOf(n.Tree)
	if err != nil {
		return pathlock.Location{}, err
	}
	path, err := pathlock.ParsePath(n.Path)
	if err != nil {
		return pathlock.Location{}, fmt.Errorf("%s: %w", t.RowName(n.ID), err)
	}
	return pathlock.Location{Tree: tree, Path: path}, nil
}
