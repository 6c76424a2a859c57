package write

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// consider enters one affected row into the relocation.
func (x *relocation) consider(a *assignment, n *table.Node, affected, above map[any]*table.Node) error {
	t := x.table
	restored := x.hit.dead[n.ID] != nil
	tree := n.Tree
	if t.IsLeaf() {
		// The place that a leaf has now follows from the parent that it has now.
		parent := above[n.Parent]
		if parent == nil && !restored {
			if a.parentOf(n) == n.Parent && a.nameOf(n) == n.Name {
				// It stays where it is, among the leaves that the deletion of their parent has left
				// behind.
				return nil
			}
			return parentGone(t, n.Parent, n)
		}
		if parent != nil {
			t.Follow(n, parent)
			n.Tree, tree = parent.Tree, parent.Tree
		}
	}
	after, err := x.after(a, n, affected, above, 0)
	if err != nil {
		return err
	}
	if parent := above[after.Parent]; parent != nil {
		if t.IsLeaf() && restored {
			tree = parent.Tree
		}
		if parent.Tree != tree {
			return t.Misplaced("a row cannot move from the tree %s to the tree %s", shown.ID(tree), shown.ID(parent.Tree))
		}
		after.Tree = parent.Tree
	}
	if a.tree != nil && a.tree != tree {
		return t.Misplaced("a row cannot move from the tree %s to the tree %s", shown.ID(tree), shown.ID(a.tree))
	}
	if err := a.checkStated(t, n, after, restored); err != nil {
		return err
	}
	if !restored && after.Parent == n.Parent && after.Name == n.Name && after.Path == n.Path && after.IDs == n.IDs {
		return nil
	}
	return x.relocate(n, after, restored, above)
}

// checkStated checks the paths that the caller states. A statement with a name and a parent, as a
// Save, writes a row as it was read: where both are those of the database, the row stays, and a
// path that is outdated means that a row above has changed its place. With another name or parent,
// the outdated path shows that the row itself has: the statement would undo that.
func (a *assignment) checkStated(t *table.Table, n, after *table.Node, restored bool) error {
	switch {
	case restored || a.name == nil || a.parent == nil:
		return t.CheckStated(n.ID, a.path, a.ids, after, n)
	case after.Parent == n.Parent && after.Name == n.Name:
		return nil
	default:
		return t.CheckStated(n.ID, a.path, a.ids, n)
	}
}

// relocate enters a row that changes its place.
func (x *relocation) relocate(n, after *table.Node, restored bool, above map[any]*table.Node) error {
	t := x.table
	if (n.Path == "" || n.IsRoot()) && !restored && !t.IsLeaf() {
		return t.Misplaced("the root row %s can be neither renamed nor moved", shown.ID(n.ID))
	}
	to, err := t.CheckedLocation(after, after.Parent == nil && restored)
	if errors.Is(err, pathlock.ErrInvalidPath) && after.Name == n.Name {
		err = t.Damaged(n.ID, err)
	}
	if err == nil && (restored || to.Path.Depth() > strings.Count(n.Path, "/")) {
		err = t.CheckDepth(to.Path)
	}
	if err != nil {
		return err
	}
	x.claims.Add(to.Tree, to.Path)
	if !t.IsLeaf() && (restored || after.Parent == nil && n.Parent != nil) {
		x.landings.Add(after, to.Tree)
	}
	m := move{Node: n, to: to, path: after.Path, ids: after.IDs, restored: restored}
	if !restored {
		from, err := t.Location(n)
		if err != nil {
			return err
		}
		m.from = from
		x.claims.Add(from.Tree, from.Path)
	}
	x.moves = append(x.moves, m)
	for _, id := range []any{n.Parent, after.Parent} {
		parent := above[id]
		if parent == nil || restored && id != after.Parent {
			continue
		}
		if x.hit.dead[id] != nil {
			continue // The update restores it as well, and asserts what is above it.
		}
		x.chains = append(x.chains, parent)
	}
	return nil
}

// parentGone is the error of a row whose parent is not there, or deleted.
func parentGone(t *table.Table, parent any, n *table.Node) error {
	if t.IsLeaf() && parent == n.Parent {
		return fmt.Errorf("%w: %s, the parent of %s, is deleted: the leaf can be edited and deleted, and moved or renamed once its parent is restored",
			pathlock.ErrNotFound, t.Above.RowName(parent), t.RowName(n.ID))
	}
	return fmt.Errorf("%w: %s, the parent of %s", pathlock.ErrNotFound, t.Above.RowName(parent), t.RowName(n.ID))
}

// after returns a row as the assignment leaves it. The assignment may move rows above it as well.
func (x *relocation) after(a *assignment, n *table.Node, affected, above map[any]*table.Node, depth int) (*table.Node, error) {
	t := x.table
	after := *n
	after.Parent, after.Name = a.parentOf(n), a.nameOf(n)
	if after.Parent == nil {
		if t.IsLeaf() {
			return nil, t.Misplaced("a leaf needs a parent")
		}
		t.Follow(&after, nil)
		return &after, nil
	}
	parent := above[after.Parent]
	if parent == nil {
		return nil, parentGone(t, after.Parent, n)
	}
	if t.IsLeaf() {
		t.Follow(&after, parent)
		return &after, nil
	}
	below := parent.Tree == n.Tree && strings.HasPrefix(parent.Path+"/", n.Path+"/")
	if n.Path != "" && x.hit.dead[n.ID] == nil && below || depth > pathlock.MaxDepth {
		return nil, fmt.Errorf("%w: %s (%s) cannot go below %s", fault.ErrWouldCycle, t.RowName(n.ID), shown.Text(n.Path), shown.Text(parent.Path))
	}
	if affected[after.Parent] != nil {
		var err error
		if parent, err = x.after(a, parent, affected, above, depth+1); err != nil {
			return nil, err
		}
	}
	t.Follow(&after, parent)
	return &after, nil
}

// parentOf and nameOf return a row's parent and name after the assignment.
func (a *assignment) parentOf(n *table.Node) any {
	if a.parent != nil {
		return *a.parent
	}
	return n.Parent
}

func (a *assignment) nameOf(n *table.Node) string {
	if a.name != nil {
		return (*a.name).(string)
	}
	return n.Name
}
