package write

import (
	"cmp"
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
	"github.com/pathlock-go/pathlock/internal/shown"
)

// An arrangement is an UPDATE that gives every row a parent of its own, and other columns values of
// its own.

// maxArranged bounds how many rows an arrangement has: some statements list all of them twice.
const maxArranged = 10_000

// Arrangement is a new place for each of several rows of one tree.
type Arrangement struct {
	// Parents has the new parents, by the rows' keys; nil is the top. trees has the trees that the
	// caller states; nil is none.
	Parents, trees map[any]any
	// columns are the parent column, and those whose values come from the structs of the rows.
	columns []*schema.Field
	structs map[any]reflect.Value
}

// NewArrangement reads an arrangement from a list of structs of the table.
func NewArrangement(db *gorm.DB, t *table.Table, rows reflect.Value, columns []string) (*Arrangement, error) {
	if rows.Len() > maxArranged {
		return nil, t.Unsupported("an arrangement has at most %d rows, not %d", maxArranged, rows.Len())
	}
	r := &Arrangement{Parents: make(map[any]any, rows.Len()), trees: make(map[any]any, rows.Len()), columns: []*schema.Field{t.Parent}, structs: make(map[any]reflect.Value, rows.Len())}
	for _, name := range columns {
		f := t.ColumnNamed(name)
		if f == nil || f.DBName == "" || f == t.Version || t.Owns(f) {
			return nil, t.Unsupported("%q is no column that an arrangement can write", name)
		}
		r.columns = append(r.columns, f)
	}
	err := t.LearnSpellings(db)
	for _, f := range r.columns {
		err = cmp.Or(err, t.IsWritable(f))
	}
	for i := 0; i < rows.Len() && err == nil; i++ {
		err = r.add(db.Statement.Context, t, reflect.Indirect(rows.Index(i)))
	}
	return r, err
}

// add notes what one of the structs says.
func (r *Arrangement) add(ctx context.Context, t *table.Table, row reflect.Value) error {
	if !row.IsValid() {
		return fmt.Errorf("%w: a row of the arrangement is nil", gorm.ErrInvalidValue)
	}
	n, err := t.NodeIn(table.Record{Ctx: ctx, Table: t, Row: row})
	if err != nil {
		return err
	}
	switch _, twice := r.Parents[n.ID]; {
	case n.ID == nil:
		err = fmt.Errorf("%w: %w: a row of the arrangement has no key", pathlock.ErrInvalidID, shown.Inside(t.TableName))
	case twice:
		err = t.Misplaced("the arrangement has the row twice")
	}
	if err != nil {
		return &fault.RowError{Table: t.TableName, ID: n.ID, Err: err}
	}
	r.Parents[n.ID], r.trees[n.ID], r.structs[n.ID] = n.Parent, n.Tree, row
	return nil
}

// Assigned are the columns that the arrangement writes. Their values are filled in when the rows
// are written, some at a time.
func (r *Arrangement) Assigned() map[string]any {
	assigned := make(map[string]any)
	for _, f := range r.columns {
		assigned[f.DBName] = clause.Expr{SQL: "?", Vars: []any{table.Column(f)}}
	}
	return assigned
}

// assign adds the values that the arrangement has for the rows with the ids.
func (r *Arrangement) assign(ctx context.Context, t *table.Table, a *assignment, x *plan.Effect, ids []any) {
	columns := r.columns
	if t.Name != nil && x.Crosses() {
		columns = append(slices.Clone(columns), t.Name) // they were set aside
	}
	for _, f := range columns {
		values := make([]any, len(ids))
		for i, id := range ids {
			switch f {
			case t.Name:
				values[i] = x.Live[id].Name
			case t.Parent:
				values[i] = t.ParentValue(r.Parents[id])
			default:
				values[i], _ = f.ValueOf(ctx, r.structs[id])
			}
		}
		a.replace(t, f, ids, values, false)
	}
}

// setAside renames the rows that move, so that they and the rows below them have paths that no row
// of the tree can have. It returns the moves from there to the new places.
func (s *statement) setAside(moves []plan.Move, descend bool) ([]plan.Move, error) {
	t := s.Table
	there, back := plan.Aside(moves)
	named := t.Path != nil && !t.IsLeaf && !t.ByIDs // those of ids are unique by themselves
	for chunk := range slices.Chunk(back, table.MaxPlaceholders/3) {
		var ids, names, paths []any
		for _, m := range chunk {
			ids, names, paths = append(ids, m.ID), append(names, m.Name), append(paths, t.PathForm.Column(m.Node.Path))
		}
		var err error
		if t.Name != nil {
			err = s.writeEach(t, t.Name, ids, names)
		}
		if err == nil && named {
			err = s.writeEach(t, t.Path, ids, paths)
		}
		if err != nil {
			return nil, fmt.Errorf("gormplugin: setting rows of %s aside: %w", t.TableName, err)
		}
	}
	switch {
	case !named:
		return moves, nil
	case !descend:
		return back, nil
	}
	return back, s.rewriteMoved(there)
}

// checkSlots refuses an arrangement by which a row gets a sibling that has its name and does not
// move. A unique index would not say which row it is.
func (s *statement) checkSlots(x *plan.Effect) error {
	t := s.Table
	if x.Change.Parents == nil || t.Nameless {
		return nil
	}
	type slot struct {
		parent any
		name   string
	}
	moves := make(map[slot]plan.Move, len(x.Moves))
	for _, m := range x.Moves {
		moves[slot{m.After.Parent, m.Name}] = m
	}
	for chunk := range slices.Chunk(x.Moves, table.MaxPlaceholders/2) {
		var parents, names []any
		for _, m := range chunk {
			parents, names = append(parents, m.After.Parent), append(names, m.Name)
		}
		below := []clause.Expression{t.AtTop()}
		if parents = slices.DeleteFunc(parents, func(id any) bool { return id == nil }); len(parents) > 0 {
			below = append(below, t.KeyIn(table.Column(t.Parent), parents))
		}
		rows, err := t.Read(s.DB, table.Selection{Where: clause.And(t.InTree(chunk[0].Tree), table.AnyOf(below), table.OneOf(t.Name, names))})
		if err != nil {
			return err
		}
		inTheWay := func(n *table.Node) (m plan.Move, taken bool) {
			m, taken = moves[slot{n.Parent, n.Name}]
			return m, taken && m.ID != n.ID && x.Change.ParentOf(n) == n.Parent
		}
		rows = slices.DeleteFunc(rows, func(n *table.Node) bool { _, taken := inTheWay(n); return !taken })
		// The plain read may be of an old snapshot.
		now, err := t.ByID(s.DB, valuesOf(rows, idOf), s.Dialect.Share)
		if err != nil {
			return err
		}
		for _, n := range now {
			if m, taken := inTheWay(n); taken {
				return &fault.RowError{Table: t.TableName, ID: m.ID, Err: &fault.NameTakenError{Table: t.TableName, Tree: m.To.Tree, Path: m.To.Path}}
			}
		}
	}
	return nil
}
