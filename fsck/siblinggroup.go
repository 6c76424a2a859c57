package fsck

import (
	"context"
	"fmt"
	"strings"
)

// sibling returns where r's name is.
func (e *editor) sibling(r *row) sibling {
	parent := r.parent
	if root := e.known.roots[r.tree]; r.isTop() || root != nil && parent == root.key {
		parent = Key{}
	}
	return sibling{tree: r.tree, parent: parent, name: r.name}
}

// condition is one of SQL, with its arguments.
type condition struct {
	sql  string
	args []any
}

// siblingConditions returns where a row called c is a sibling of r: where one of the conditions
// holds, of which no two hold at once. Where there can be none, there are no conditions.
func (e *editor) siblingConditions(ctx context.Context, r *row) ([]condition, error) {
	root, err := e.root(ctx, r.tree)
	if err != nil || e.plan.row(r.parent) != nil {
		return nil, err
	}
	cols, tree := e.columnsAs("c"), r.tree.arg()
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
	cols := e.columnsAs("c")
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
	if root, ok := e.known.roots[tree]; ok {
		return root, nil
	}
	cols := e.columnsAs("c")
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
				e.known.roots[tree] = nil
			}
			return nil, err
		}
		root, err := e.byKey(ctx, *found)
		if err != nil {
			return nil, err
		}
		if e.plan != nil || root != nil && root.isRoot() { // and not changed since it was looked for
			e.known.roots[tree] = root
			return root, nil
		}
	}
}
