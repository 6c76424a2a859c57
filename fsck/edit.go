package fsck

import (
	"context"
	"fmt"
	"math"
	"strings"
)

// editor changes rows within one transaction; in a dry run it changes the overlay instead.
type editor struct {
	*session
	repair  *repair
	tree    Key
	changes []Change
	// careful is set where a unique index refused the transaction before; aside has the paths that it has put aside.
	careful bool
	aside   map[value]string
	// skips are the rows that stay as they are.
	skips []Skip
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
			Transaction: e.repair.transaction, Table: e.table.Table, Tree: r.tree, ID: r.key,
			Insert: insert, Column: a.column, Old: logged(a.old), New: logged(a.new), Why: why,
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
	query := fmt.Sprintf("UPDATE %s SET %s WHERE %s = ?", e.dialect.quote(e.table.Table), strings.Join(columns, ", "), e.dialect.quote(e.table.Key))
	if _, err := e.tx.ExecContext(ctx, e.dialect.bind(query), append(args, r.key.arg())...); err != nil {
		return fmt.Errorf("fsck: change row %v of %s: %w", r.key, e.table.Table, err)
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

// logged returns a value as a change has it.
func logged(v any) any {
	if text, ok := v.(string); ok {
		return lossless(text)
	}
	return v
}

// relocate makes a row look like moved, which is a copy of it with another name, parent or tree.
func (e *editor) relocate(ctx context.Context, r, moved *row, why Kind) error {
	var set []assignment
	if moved.tree != r.tree {
		set = append(set, assignment{e.table.Tree, r.tree.value(), moved.tree.value()})
	}
	if moved.parent != r.parent {
		set = append(set, assignment{e.table.Parent, r.parent.value(), moved.parent.value()})
	}
	if moved.name != r.name || r.nameless && !moved.nameless {
		set = append(set, assignment{e.table.Name, r.nameValue(), moved.name})
	}
	if err := e.update(ctx, r, why, set...); err != nil {
		return err
	}
	if e.plan != nil {
		if moved.parent != r.parent {
			moved.above, moved.fault = moved.parent, faultNone
			if moved.isTop() {
				moved.above = Key{}
			}
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
			return leftError{fmt.Errorf("refused with %d names: %w", renumberings, refusal)}
		}
		from = n + 1
	}
}

// takeFreeName gives r, which may have been moved already, the first name from the number from on that nothing else has below its
// parent, and returns its number. Deleted rows count, since an index may cover them too.
//
// Numbers are remembered by what is left of the name before them: names that are alike up to there
// count on from each other, and do not each begin anew.
func (e *editor) takeFreeName(ctx context.Context, r *row, base string, from int) (int, error) {
	slot := e.sibling(r)
	for n := from; ; n++ {
		stem, suffix := stem(base, n, e.limits[e.table.Name])
		slot.name, slot.digits = stem, len(suffix)
		if n > 1 {
			n = max(n, e.repair.numbers[slot])
		}
		r.name, r.nameless = numbered(base, n, e.limits[e.table.Name]), false
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
	places, err := e.besides(ctx, r)
	if err != nil || len(places) == 0 {
		return false, err
	}
	cols := e.of("c")
	rest := fmt.Sprintf("%s = ? AND %s %s ?", cols.name, cols.key, compares)
	if liveOnly {
		rest += " AND " + cols.live
	}
	query, args := e.among(cols.key, places, rest, r.name, r.key.arg())
	// One row is enough. In a dry run, some of them would not have the name any more: seldom all of
	// the first.
	limits := []int{1}
	if e.plan != nil {
		limits = []int{64, math.MaxInt32}
	}
	taken := false
	for _, limit := range limits {
		read := 0
		err = e.each(ctx, fmt.Sprintf("%s LIMIT %d", query, limit), args, func(scan func(...any) error) error {
			var value any
			if err := scan(&value); err != nil {
				return fmt.Errorf("fsck: read %s: %w", e.table.Table, err)
			}
			key, err := e.readKey(e.table.Key, value)
			taken = taken || !e.plan.left(key)
			read++
			return err
		})
		if taken || err != nil || read < limit {
			break
		}
	}
	return taken, err
}

// sibling returns where r's name is.
func (e *editor) sibling(r *row) sibling {
	parent := r.parent
	if root := e.repair.roots[r.tree]; r.isTop() || root != nil && parent == root.key {
		parent = Key{}
	}
	return sibling{tree: r.tree, parent: parent, name: r.name}
}

// condition is one of SQL, with its arguments.
type condition struct {
	sql  string
	args []any
}

// besides returns where a row called c is a sibling of r: where one of the conditions holds, of
// which no two hold at once. Where there can be none, there are no conditions.
func (e *editor) besides(ctx context.Context, r *row) ([]condition, error) {
	root, err := e.root(ctx, r.tree)
	if err != nil || e.plan.row(r.parent) != nil {
		return nil, err
	}
	cols, tree := e.of("c"), r.tree.arg()
	below := func(k Key) condition {
		return condition{cols.tree + " = ? AND " + cols.parent + " = ?", []any{tree, k.arg()}}
	}
	switch {
	case !r.isTop() && (root == nil || r.parent != root.key):
		return []condition{below(r.parent)}, nil
	case root == nil:
		return e.tops(tree), nil
	default:
		return append(e.tops(tree), below(root.key)), nil
	}
}

// tops returns where a row called c is at the top of a tree. SQLite, which otherwise reads the
// whole tree, is asked for each way to have no parent by itself.
func (e *editor) tops(tree any) []condition {
	cols := e.of("c")
	if e.dialect != SQLite {
		return []condition{{cols.tree + " = ? AND " + cols.isTop, []any{tree}}}
	}
	inTree := cols.tree + " = ? AND "
	if e.parentFirst {
		inTree = "+" + inTree // not by an index that begins with the tree
	}
	var places []condition
	for _, top := range cols.tops {
		places = append(places, condition{inTree + top, []any{tree}})
	}
	return places
}

// among makes a query for the rows called c for which one of the conditions holds, and rest: in one
// SELECT where the database looks them all up by an index, and else in one for each.
func (e *editor) among(selected string, places []condition, rest string, restArgs ...any) (string, []any) {
	from := fmt.Sprintf("SELECT %s FROM %s AS c WHERE ", selected, e.dialect.quote(e.table.Table))
	var parts []string
	var args []any
	for _, p := range places {
		if e.dialect != SQLite {
			parts = append(parts, "("+p.sql+")")
			args = append(args, p.args...)
			continue
		}
		parts = append(parts, from+p.sql+" AND "+rest)
		args = append(append(args, p.args...), restArgs...)
	}
	if e.dialect == SQLite {
		return strings.Join(parts, " UNION ALL "), args
	}
	return from + "(" + strings.Join(parts, " OR ") + ") AND " + rest, append(args, restArgs...)
}

// root returns the root row of a tree, the one with the smallest key if there are several, or nil.
// It is locked until the transaction ends, so that nobody deletes it meanwhile.
func (e *editor) root(ctx context.Context, tree Key) (*row, error) {
	if root, ok := e.repair.roots[tree]; ok {
		return root, nil
	}
	cols := e.of("c")
	query, args := e.among(cols.key, e.tops(tree.arg()), cols.live+" AND "+cols.empty)
	query += " ORDER BY 1 LIMIT 1"
	for {
		var found *Key
		err := e.each(ctx, query, args, func(scan func(...any) error) error {
			var value any
			if err := scan(&value); err != nil {
				return fmt.Errorf("fsck: read %s: %w", e.table.Table, err)
			}
			key, err := e.readKey(e.table.Key, value)
			found = &key
			return err
		})
		if err != nil || found == nil {
			if err == nil {
				e.repair.roots[tree] = nil
			}
			return nil, err
		}
		root, err := e.byKey(ctx, *found)
		if err != nil {
			return nil, err
		}
		if e.plan != nil || root != nil && root.isRoot() { // and not changed since it was looked for
			e.repair.roots[tree] = root
			return root, nil
		}
	}
}
