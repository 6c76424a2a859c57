package write

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// An arrangement is an UPDATE that gives every row a parent of its own, and other columns values of
// its own.

// maxArranged bounds how many rows an arrangement has: some statements list all of them twice.
const maxArranged = 10_000

// Arrangement is a new place for each of several rows of one tree.
type Arrangement struct {
	// Parents are their parents, by key, nil for the top.
	Parents map[any]any
	// tree is what the caller states of the tree, nil for nothing.
	tree any
	// columns get the values that the structs of the rows have there.
	columns []*schema.Field
	structs map[any]reflect.Value
}

// NewArrangement reads what a list of structs of the table says.
func NewArrangement(db *gorm.DB, t *table.Table, rows reflect.Value, columns []string) (*Arrangement, error) {
	if rows.Len() > maxArranged {
		return nil, t.Unsupported("an arrangement has at most %d rows, not %d", maxArranged, rows.Len())
	}
	r := &Arrangement{Parents: make(map[any]any, rows.Len()), structs: make(map[any]reflect.Value, rows.Len())}
	own := append(slices.Concat(t.PlaceColumns(), t.Deletion), t.Key, t.Version)
	for _, name := range columns {
		f := t.ColumnNamed(name)
		switch {
		case f == nil || f.DBName == "":
			return nil, fmt.Errorf("%w: %s has no column %q", gorm.ErrInvalidField, t.TableName, name)
		case slices.Contains(own, f):
			return nil, t.Unsupported("an arrangement writes %q by itself, or leaves it alone", f.DBName)
		}
		r.columns = append(r.columns, f)
	}
	for _, f := range append(slices.Clone(r.columns), t.Parent) {
		if err := t.IsWritable(f); err != nil {
			return nil, err
		}
	}
	if err := t.LearnSpellings(db); err != nil {
		return nil, err
	}
	for i := range rows.Len() {
		if err := r.add(db.Statement.Context, t, reflect.Indirect(rows.Index(i))); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// add notes what one of the structs says.
func (r *Arrangement) add(ctx context.Context, t *table.Table, row reflect.Value) error {
	if !row.IsValid() {
		return fmt.Errorf("%w: a row of the arrangement is nil", gorm.ErrInvalidValue)
	}
	record := table.Record{Ctx: ctx, Table: t, Row: row}
	id, err := record.Get(t.Key)
	var parent, tree any
	if err == nil {
		parent, err = record.Get(t.Parent)
	}
	if err == nil && t.Tree != nil && record.States(t.Tree) {
		tree, err = record.Get(t.Tree)
	}
	_, twice := r.Parents[id]
	switch {
	case err != nil:
	case id == nil:
		err = fmt.Errorf("%w: %s: a row of the arrangement has no key", pathlock.ErrInvalidID, t.TableName)
	case twice:
		err = t.Misplaced("the arrangement has the row twice")
	case tree != nil && r.tree != nil && tree != r.tree:
		err = t.Misplaced("the row is stated to be in the tree %s, and others in %s", shown.ID(tree), shown.ID(r.tree))
	}
	if err != nil {
		return &fault.RowError{Table: t.TableName, ID: id, Err: err}
	}
	if tree != nil {
		r.tree = tree
	}
	r.Parents[id], r.structs[id] = t.ParentOrNil(parent), row
	return nil
}

// Assigned are the columns that the arrangement writes. What they get is filled in when the rows
// are written, some at a time.
func (r *Arrangement) Assigned(t *table.Table) map[string]any {
	assigned := make(map[string]any)
	for _, f := range append(slices.Clone(r.columns), t.Parent) {
		assigned[f.DBName] = clause.Expr{SQL: "?", Vars: []any{table.Column(f)}}
	}
	return assigned
}

// assign has a statement give the rows with the ids what the arrangement says.
func (r *Arrangement) assign(ctx context.Context, t *table.Table, a *assignment, x *relocation, ids []any) {
	of := func(value func(id any) any) (values []any) {
		for _, id := range ids {
			values = append(values, value(id))
		}
		return values
	}
	for _, f := range r.columns {
		a.replace(t, f, ids, of(func(id any) any {
			value, _ := f.ValueOf(ctx, r.structs[id])
			return value
		}), false)
	}
	a.replace(t, t.Parent, ids, of(func(id any) any {
		if parent := r.Parents[id]; parent != nil {
			return parent
		}
		return t.NoParentValue()
	}), false)
	if t.Name != nil && x.Crosses(&a.Change) { // they were set aside
		a.replace(t, t.Name, ids, of(func(id any) any { return x.Live[id].Name }), false)
	}
}

// newParents are the parents that an update assigns.
func (a *assignment) newParents() (ids []any) {
	if a.Parent != nil {
		ids = append(ids, *a.Parent)
	}
	known := make(map[any]bool)
	for _, id := range a.Parents {
		if !known[id] {
			known[id], ids = true, append(ids, id)
		}
	}
	return ids
}

// setAside gives the rows that move names, and with what is below them paths, that no row can have.
// It returns how they get from there to where they are to be.
func (e *Engine) setAside(db *gorm.DB, tx *txn.Transaction, t *table.Table, moves []plan.Move, descend bool) ([]plan.Move, error) {
	there, back := plan.Aside(moves)
	named := t.Path != nil && !t.IsLeaf() && !t.ByIDs // those of ids are unique by themselves
	for chunk := range slices.Chunk(back, table.MaxPlaceholders/3) {
		var ids, names, paths []any
		for _, m := range chunk {
			ids, names, paths = append(ids, m.ID), append(names, m.Name), append(paths, t.PathForm.Column(m.Node.Path))
		}
		var err error
		if t.Name != nil {
			err = writeEach(db, t, t.Name, ids, names)
		}
		if err == nil && named {
			err = writeEach(db, t, t.Path, ids, paths)
		}
		if err != nil {
			return nil, fmt.Errorf("gormplugin: setting rows of %s aside: %w", t.TableName, err)
		}
	}
	if !named {
		return moves, nil
	}
	if !descend {
		return back, nil
	}
	return back, e.rewriteMoved(db, tx, t, there, false)
}

// checkSlots refuses an arrangement that gives a row the name of a sibling that stays. A unique
// index would not say which row it is.
func (e *Engine) checkSlots(db *gorm.DB, t *table.Table, x *relocation) error {
	if t.Nameless {
		return nil
	}
	type slot struct {
		parent any
		name   string
	}
	moves, moving := make(map[slot]plan.Move, len(x.Moves)), make(map[any]bool, len(x.Moves))
	for _, m := range x.Moves {
		moves[slot{x.assignment.ParentOf(m.Node), m.Name}], moving[m.ID] = m, true
	}
	for chunk := range slices.Chunk(x.Moves, table.MaxPlaceholders/2) {
		var parents, names []any
		for _, m := range chunk {
			parents, names = append(parents, x.assignment.ParentOf(m.Node)), append(names, m.Name)
		}
		below := []clause.Expression{clause.Eq{Column: table.Column(t.Parent), Value: t.NoParentValue()}}
		if parents = slices.DeleteFunc(parents, func(id any) bool { return id == nil }); len(parents) > 0 {
			below = append(below, t.KeyIn(table.Column(t.Parent), parents))
		}
		rows, err := t.Read(db, table.Selection{Where: clause.And(t.InTree(clause.CurrentTable, chunk[0].Tree), table.AnyOf(below), table.OneOf(t.Name, names))})
		if err != nil {
			return err
		}
		for _, n := range rows {
			if m, taken := moves[slot{n.Parent, n.Name}]; taken && !moving[n.ID] {
				return &fault.RowError{Table: t.TableName, ID: m.ID, Err: &fault.NameTakenError{Table: t.TableName, Tree: m.To.Tree, Path: m.To.Path}}
			}
		}
	}
	return nil
}
