package fsck

import (
	"context"
	"fmt"
	"strings"
)

// sibling returns the slot of r's name.
func (e *editor) sibling(r *row) sibling {
	parent := r.parent
	if root := e.known.roots[r.tree]; r.isTop() || root != nil && parent == root.key {
		parent = Key{}
	}
	return sibling{tree: r.tree, parent: parent, name: r.name}
}

// condition is an SQL condition with its arguments.
type condition struct {
	sql  string
	args []any
}

// siblingConditions returns the alternatives for a row c to be a sibling of r. At most one holds.
// There are none if r has no siblings in the database.
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

// tops returns the alternatives for a row c to be at the top of a tree. SQLite gets one for each
// way to have no parent, since it would read the whole tree for a single condition.
func (e *editor) tops(tree any) []condition {
	cols := e.columnsAs("c")
	if e.dialect != SQLite {
		return []condition{{cols.tree + " = ? AND " + cols.isTop, []any{tree}}}
	}
	inTree := cols.tree + " = ? AND "
	if e.parentFirst {
		inTree = "+" + inTree // keeps SQLite from using an index that begins with the tree
	}
	var places []condition
	for _, top := range cols.tops {
		places = append(places, condition{inTree + top, []any{tree}})
	}
	return places
}

// among makes a query for the rows c that meet one of the conditions, and rest. For SQLite it makes
// one SELECT for each condition, so that each uses an index.
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

// root returns the root row of a tree, or nil. Of several it returns the one with the smallest key.
// The row stays locked until the transaction ends, so that nobody deletes it.
func (e *editor) root(ctx context.Context, tree Key) (*row, error) {
	if root, ok := e.known.roots[tree]; ok {
		return root, nil
	}
	cols := e.columnsAs("c")
	query, args := e.among(cols.key, e.tops(tree.arg()), cols.live+" AND "+cols.empty)
	query += " ORDER BY 1 LIMIT 1"
	for {
		var found *Key
		err := e.eachKey(ctx, query, args, e.table.Key, func(key Key) { found = &key })
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
		if e.plan != nil || root != nil && root.isRoot() { // it may have changed since the query
			e.known.roots[tree] = root
			return root, nil
		}
	}
}
