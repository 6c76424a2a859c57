package fsck

import (
	"context"
	"fmt"
	"strings"
)

// editor changes rows within one transaction; in a dry run it changes the overlay instead.
type editor struct {
	*session
	repair  *repair
	changes []Change
	// careful is set where a unique index refused the transaction before; aside has the paths that it has put aside.
	careful bool
	aside   map[value]string
}

// assignment is a column's new value.
type assignment struct {
	column   string
	old, new any
}

// note records a change.
func (e *editor) note(r *row, why Kind, insert bool, set ...assignment) {
	for _, a := range set {
		e.changes = append(e.changes, Change{
			Transaction: e.repair.transaction, Table: e.table.Name, Tree: r.tree, ID: r.key,
			Insert: insert, Column: a.column, Old: a.old, New: a.new, Why: why,
		})
	}
}

// update changes columns of a row.
func (e *editor) update(ctx context.Context, r *row, why Kind, set ...assignment) error {
	e.note(r, why, false, set...)
	if e.plan != nil {
		return nil
	}
	var columns []string
	var args []any
	for _, a := range set {
		columns = append(columns, e.dialect.quote(a.column)+" = ?")
		args = append(args, argument(a.new))
	}
	if e.table.Version != "" {
		version := e.dialect.quote(e.table.Version)
		columns = append(columns, version+" = "+version+" + 1")
	}
	query := fmt.Sprintf("UPDATE %s SET %s WHERE %s = ?", e.dialect.quote(e.table.Name), strings.Join(columns, ", "), e.dialect.quote(e.table.Key))
	if _, err := e.tx.ExecContext(ctx, e.dialect.bind(query), append(args, r.key.arg())...); err != nil {
		return fmt.Errorf("fsck: change row %v of %s: %w", r.key, e.table.Name, err)
	}
	return nil
}

// argument returns a change's value as an argument of a statement.
func argument(v any) any {
	if k, ok := v.(Key); ok {
		return k.arg()
	}
	return v
}

// value returns a key as a change's value.
func (k Key) value() any {
	if k.v == nil {
		return nil
	}
	return k
}

// relocate makes a row look like moved, which is a copy of it with another name, another parent, or both.
func (e *editor) relocate(ctx context.Context, r, moved *row, why Kind) error {
	var set []assignment
	if moved.parent != r.parent {
		set = append(set, assignment{e.table.Parent, r.parent.value(), moved.parent.value()})
	}
	if moved.name != r.name {
		set = append(set, assignment{e.table.Label, r.name, moved.name})
	}
	if err := e.update(ctx, r, why, set...); err != nil {
		return err
	}
	if e.plan != nil {
		if moved.parent != r.parent {
			moved.above, moved.fault = moved.parent, faultNone
		}
		e.plan.put(e.sibling(moved), moved)
	}
	return nil
}

// renumberings is how many numbers are tried before a refusal is taken for one that no name helps against.
const renumberings = 100

// settle makes r look like moved, with the first name there that is free: base itself (from 1) or the first of "base (2)",
// "base (3)", … It goes on to the next one where a unique index refuses a name that looks free, as one over other columns or
// with another collation can.
func (e *editor) settle(ctx context.Context, r, moved *row, base string, from int, why Kind) error {
	for try := 1; ; try++ {
		n, err := e.takeFreeName(ctx, moved, base, from)
		if err != nil {
			return err
		}
		refusal, err := e.attempt(ctx, func() error { return e.relocate(ctx, r, moved, why) })
		switch {
		case refusal == nil || err != nil:
			return err
		case try == renumberings:
			return fmt.Errorf("with %d names: %w", renumberings, refusal)
		}
		from = n + 1
	}
}

// takeFreeName gives r, which may have been moved already, the first name from the number from on that nothing else has below its
// parent, and returns its number. Deleted rows count, since an index may cover them too.
func (e *editor) takeFreeName(ctx context.Context, r *row, base string, from int) (int, error) {
	slot := e.sibling(r)
	slot.name = base
	for n := max(from, e.repair.numbers[slot]); ; n++ {
		r.name = numbered(base, n, e.limits[e.table.Label])
		taken, err := e.isTaken(ctx, r, "<>", false)
		if err != nil {
			return 0, err
		}
		if !taken {
			e.repair.number(slot, n)
			return n, nil
		}
	}
}

// isTaken reports whether a sibling of r has the same name, by the database's notion of the same, and a key
// that compares with r's.
func (e *editor) isTaken(ctx context.Context, r *row, compares string, liveOnly bool) (bool, error) {
	if holder, ok := e.plan.holder(e.sibling(r)); ok && holder != r.key && (compares == "<>" || holder.Compare(r.key) < 0) {
		return true, nil
	}
	besides, args, err := e.besides(ctx, r)
	if err != nil || besides == "" {
		return false, err
	}
	cols := e.of("c")
	query := fmt.Sprintf("SELECT %[1]s FROM %[2]s AS c WHERE %[3]s AND %[4]s = ? AND %[1]s %[5]s ?", cols.key, e.dialect.quote(e.table.Name), besides, cols.label, compares)
	if liveOnly {
		query += " AND " + cols.live
	}
	if e.plan == nil {
		query += " LIMIT 1"
	}
	taken := false
	err = e.each(ctx, query, append(args, r.name, r.key.arg()), func(scan func(...any) error) error {
		var value any
		if err := scan(&value); err != nil {
			return fmt.Errorf("fsck: read %s: %w", e.table.Name, err)
		}
		key, err := readKey(e.dialect, value)
		taken = taken || !e.plan.left(key)
		return err
	})
	return taken, err
}

// sibling returns where r's name is.
func (e *editor) sibling(r *row) sibling {
	parent := r.parent
	if root := e.repair.roots[r.tree]; r.isTop() || root != nil && parent == root.key {
		parent = Key{}
	}
	return sibling{r.tree, parent, r.name}
}

// besides returns a condition, and its arguments, that a row called c is a sibling of r; an empty one where there can be none.
func (e *editor) besides(ctx context.Context, r *row) (string, []any, error) {
	cols := e.of("c")
	root, err := e.root(ctx, r.tree)
	if err != nil || e.plan.row(r.parent) != nil {
		return "", nil, err
	}
	top := r.isTop() || root != nil && r.parent == root.key
	switch {
	case !top:
		return cols.tree + " = ? AND " + cols.parent + " = ?", []any{r.tree.arg(), r.parent.arg()}, nil
	case root == nil:
		return cols.tree + " = ? AND " + cols.isTop, []any{r.tree.arg()}, nil
	default:
		return cols.tree + " = ? AND (" + cols.isTop + " OR " + cols.parent + " = ?)", []any{r.tree.arg(), root.key.arg()}, nil
	}
}

// root returns the root row of a tree, the one with the smallest key if there are several, or nil.
func (e *editor) root(ctx context.Context, tree Key) (*row, error) {
	if root, ok := e.repair.roots[tree]; ok {
		return root, nil
	}
	cols := e.of("c")
	query := fmt.Sprintf("%s WHERE %s AND %s = ? AND %s ORDER BY %s LIMIT 1", e.selectRows(true, ""), cols.live, cols.tree, cols.isRoot, cols.key)
	found, err := e.rows(ctx, query, tree.arg())
	if err != nil {
		return nil, err
	}
	var root *row
	if len(found) > 0 {
		root = found[0]
	}
	e.repair.roots[tree] = root
	return root, nil
}
