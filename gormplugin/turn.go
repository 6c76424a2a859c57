package gormplugin

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/hold"
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/internal/shown"
	"gorm.io/gorm"
)

// turn is what an update does to the tree: which rows it hits, and which of them go where.
type turn struct {
	table      *table.Table
	assignment *assignment
	hit        targets
	moves      []move
	// landings are the rows that come to the top of their trees.
	landings landings
	// claims are the old places and the new slots.
	claims hold.Claims
	// chains are the nodes above the old places and the new ones, which must stay where they are,
	// and above is what was read of the rows above them.
	chains []*table.Node
	above  map[any]*table.Node
}

// move is a row that gets another path, and its subtree with it.
type move struct {
	*table.Node
	from, to pathlock.Location
	// path and ids are the new path columns; node has the old ones.
	path, ids string
	// restored is set for a row that was deleted before: it had no place.
	restored bool
}

// turnOf works out what an assignment does to the rows that it hits. known
// are rows of the table above that need not be read again.
func (p *planner) turnOf(db *gorm.DB, t *table.Table, a *assignment, hit targets, known map[any]*table.Node, lock dialect.RowLock) (*turn, error) {
	if a.removes && len(hit.live) > 0 {
		return nil, t.Unsupported("rows are deleted by Delete, not by setting the deletion mark")
	}
	if a.key != nil && !t.IsLeaf() {
		for _, id := range hit.ids() {
			if id != a.key {
				return nil, t.Unsupported("the primary key of %s cannot change: the rows below would lose their parent", shown.ID(id))
			}
		}
	}
	if err := statement.ErrandOf(db).Missed(t, len(hit.live)); err != nil {
		return nil, err
	}
	x := &turn{table: t, assignment: a, hit: hit, claims: make(hold.Claims), landings: make(landings)}
	if err := x.checkMixed(); err != nil {
		return nil, err
	}
	affected := make(map[any]*table.Node, len(hit.live))
	for id, n := range hit.live {
		affected[id] = n
	}
	if a.restores {
		for id, n := range hit.dead {
			affected[id] = n
		}
	}
	above, err := p.aboveTargets(db, t, a, affected, known, lock)
	if err != nil {
		return nil, err
	}
	x.above = above
	for _, n := range affected {
		if err := x.consider(a, n, affected, above); err != nil {
			return nil, err
		}
	}
	x.carry()
	return x, nil
}

// carry has rows that move within the subtree of another one that moves go along with it: what lies
// between the two does not move by itself, so that the paths of the lower ones were worked out from
// where it is now.
func (x *turn) carry() {
	if x.table.IsLeaf() || len(x.moves) < 2 {
		return
	}
	slices.SortFunc(x.moves, func(a, b move) int { return cmp.Compare(len(a.Node.Path), len(b.Node.Path)) })
	type place struct {
		tree any
		path string
	}
	moved := make(map[place]move, len(x.moves))
	for i := range x.moves {
		m := &x.moves[i]
		for end := strings.LastIndexByte(m.path, '/'); end > 0; end = strings.LastIndexByte(m.path[:end], '/') {
			upper, ok := moved[place{m.Node.Tree, m.path[:end]}]
			if !ok {
				continue
			}
			m.path = upper.path + m.path[end:]
			if x.table.IDs != nil {
				m.ids = upper.ids + m.ids[len(upper.Node.IDs):]
			}
			break
		}
		if !m.restored {
			moved[place{m.Node.Tree, m.Node.Path}] = *m
		}
	}
}

// aboveTargets returns the rows that affected ones hang below now and
// those that they are going to, by id.
func (p *planner) aboveTargets(db *gorm.DB, t *table.Table, a *assignment, affected, known map[any]*table.Node, lock dialect.RowLock) (map[any]*table.Node, error) {
	// What is above them all is known as well, and says later whom to lock.
	above := maps.Clone(known)
	if above == nil {
		above = make(map[any]*table.Node)
	}
	missing := make(map[any]bool)
	need := func(id any) {
		switch {
		case id == nil || above[id] != nil:
		case affected[id] != nil && !t.IsLeaf():
			above[id] = affected[id]
		default:
			missing[id] = true
		}
	}
	for _, n := range affected {
		need(n.Parent)
		need(a.parentOf(n))
	}
	found, err := t.Above.Rows(db, slices.Collect(maps.Keys(missing)), lock)
	for id, n := range found {
		if above[id] == nil {
			above[id] = n
		}
	}
	return above, err
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

// consider enters one affected row into the turn.
func (x *turn) consider(a *assignment, n *table.Node, affected, above map[any]*table.Node) error {
	t := x.table
	restored := x.hit.dead[n.ID] != nil
	tree := n.Tree
	if t.IsLeaf() {
		// The place that a leaf has now follows from the parent that it has now.
		parent := above[n.Parent]
		if parent == nil && !restored {
			if a.parentOf(n) == n.Parent && a.nameOf(n) == n.Name {
				// It stays where it is: among the leaves that the deletion of their parent has left
				// to the caller.
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
			return t.Unsupported("a row cannot move from the tree %s to the tree %s", shown.ID(tree), shown.ID(parent.Tree))
		}
		after.Tree = parent.Tree
	}
	if a.tree != nil && a.tree != tree {
		return t.Unsupported("a row cannot move from the tree %s to the tree %s", shown.ID(tree), shown.ID(a.tree))
	}
	if err := t.Stated(n.ID, a.path, a.ids, after, n); err != nil {
		return err
	}
	if !restored && after.Parent == n.Parent && after.Name == n.Name && after.Path == n.Path && after.IDs == n.IDs {
		return nil
	}
	return x.relocate(n, after, restored, above)
}

// relocate notes a row that changes its place.
func (x *turn) relocate(n, after *table.Node, restored bool, above map[any]*table.Node) error {
	t := x.table
	if (n.Path == "" || n.IsRoot()) && !restored && !t.IsLeaf() {
		return t.Unsupported("the root row %s can be neither renamed nor moved", shown.ID(n.ID))
	}
	to, err := t.SiteOf(after, after.Parent == nil && restored)
	if err == nil && (restored || to.Path.Depth() > strings.Count(n.Path, "/")) {
		err = t.CheckDepth(to.Path)
	}
	if err != nil {
		return err
	}
	x.claims.Add(to.Tree, to.Path)
	if !t.IsLeaf() && (restored || after.Parent == nil && n.Parent != nil) {
		x.landings.add(after, to.Tree)
	}
	m := move{Node: n, to: to, path: after.Path, ids: after.IDs, restored: restored}
	if !restored {
		from, err := pathlock.ParsePath(n.Path)
		if err != nil {
			return err
		}
		m.from = pathlock.Location{Tree: to.Tree, Path: from}
		x.claims.Add(to.Tree, from)
	}
	x.moves = append(x.moves, m)
	for _, id := range []any{n.Parent, after.Parent} {
		parent := above[id]
		if parent == nil || restored && id != after.Parent {
			continue
		}
		if x.hit.dead[id] != nil {
			// It comes back with this row; what is above it is asserted with it.
			continue
		}
		x.chains = append(x.chains, parent)
	}
	return nil
}

// parentGone is the error of a row that needs a parent which is not there, or deleted.
func parentGone(t *table.Table, parent any, n *table.Node) error {
	if t.IsLeaf() && parent == n.Parent {
		return fmt.Errorf("%w: %s, the parent of %s, is deleted: the leaf can be edited and deleted, and moved or renamed once its parent is restored",
			pathlock.ErrNotFound, t.Above.RowName(parent), t.RowName(n.ID))
	}
	return fmt.Errorf("%w: %s, the parent of %s", pathlock.ErrNotFound, t.Above.RowName(parent), t.RowName(n.ID))
}

// after returns a row as the assignment leaves it, which may have moved rows above it as well.
func (x *turn) after(a *assignment, n *table.Node, affected, above map[any]*table.Node, depth int) (*table.Node, error) {
	t := x.table
	after := *n
	after.Parent, after.Name = a.parentOf(n), a.nameOf(n)
	if after.Parent == nil {
		if t.IsLeaf() {
			return nil, t.Unsupported("a leaf needs a parent")
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

// differs compares a turn with the one that the locking reads led to. The locks are right only if
// every place is the same, and every node above them was locked.
func (x *turn) differs(actual *turn, locked map[any]*table.Node) error {
	planned := make(map[any]move, len(x.moves))
	for _, m := range x.moves {
		planned[m.ID] = m
	}
	for _, m := range actual.moves {
		before, ok := planned[m.ID]
		if !ok || before.from != m.from || before.to != m.to {
			return &fault.PathChangedError{Table: x.table.TableName, ID: m.ID, Planned: before.from.Path.Column(), Actual: m.Node.Path}
		}
	}
	for _, n := range actual.chains {
		if locked[n.ID] == nil {
			return &fault.PathChangedError{Table: x.table.Above.TableName, ID: n.ID, Actual: n.Path}
		}
	}
	return nil
}

// hasVersion reports whether all rows that the update hits have a version, as far as one is
// assigned.
func (x *turn) hasVersion(version any) bool {
	for _, n := range x.hit.live {
		if version != n.Version {
			return false
		}
	}
	return true
}
