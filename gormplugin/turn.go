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
	"github.com/pathlock-go/pathlock/internal/shown"
	"gorm.io/gorm"
)

// turn is what an update does to the tree: which rows it hits, and which of them go where.
type turn struct {
	table      *table
	assignment *assignment
	hit        targets
	moves      []move
	// landings are the rows that come to the top of their trees.
	landings landings
	// claims are the old places and the new slots.
	claims claims
	// chains are the nodes above the old places and the new ones, which must stay where they are,
	// and above is what was read of the rows above them.
	chains []*node
	above  map[any]*node
}

// move is a row that gets another path, and its subtree with it.
type move struct {
	*node
	from, to site
	// path and ids are the new path columns; node has the old ones.
	path, ids string
	// restored is set for a row that was deleted before: it had no place.
	restored bool
}

// turnOf works out what an assignment does to the rows that it hits. known
// are rows of the table above that need not be read again.
func (p *planner) turnOf(db *gorm.DB, t *table, a *assignment, hit targets, known map[any]*node, lock dialect.RowLock) (*turn, error) {
	if a.removes && len(hit.live) > 0 {
		return nil, t.unsupported("rows are deleted by Delete, not by setting the deletion mark")
	}
	if a.key != nil && !t.isLeaf() {
		for _, id := range hit.ids() {
			if id != a.key {
				return nil, t.unsupported("the primary key of %s cannot change: the rows below would lose their parent", shown.ID(id))
			}
		}
	}
	if err := errandOf(db).missed(t, hit); err != nil {
		return nil, err
	}
	x := &turn{table: t, assignment: a, hit: hit, claims: make(claims), landings: make(landings)}
	if err := x.checkMixed(); err != nil {
		return nil, err
	}
	affected := make(map[any]*node, len(hit.live))
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
	if x.table.isLeaf() || len(x.moves) < 2 {
		return
	}
	slices.SortFunc(x.moves, func(a, b move) int { return cmp.Compare(len(a.node.path), len(b.node.path)) })
	type place struct {
		tree any
		path string
	}
	moved := make(map[place]move, len(x.moves))
	for i := range x.moves {
		m := &x.moves[i]
		for end := strings.LastIndexByte(m.path, '/'); end > 0; end = strings.LastIndexByte(m.path[:end], '/') {
			upper, ok := moved[place{m.node.tree, m.path[:end]}]
			if !ok {
				continue
			}
			m.path = upper.path + m.path[end:]
			if x.table.ids != nil {
				m.ids = upper.ids + m.ids[len(upper.node.ids):]
			}
			break
		}
		if !m.restored {
			moved[place{m.node.tree, m.node.path}] = *m
		}
	}
}

// aboveTargets returns the rows that affected ones hang below now and
// those that they are going to, by id.
func (p *planner) aboveTargets(db *gorm.DB, t *table, a *assignment, affected, known map[any]*node, lock dialect.RowLock) (map[any]*node, error) {
	// What is above them all is known as well, and says later whom to lock.
	above := maps.Clone(known)
	if above == nil {
		above = make(map[any]*node)
	}
	missing := make(map[any]bool)
	need := func(id any) {
		switch {
		case id == nil || above[id] != nil:
		case affected[id] != nil && !t.isLeaf():
			above[id] = affected[id]
		default:
			missing[id] = true
		}
	}
	for _, n := range affected {
		need(n.parent)
		need(a.parentOf(n))
	}
	found, err := t.above.rows(db, slices.Collect(maps.Keys(missing)), lock)
	for id, n := range found {
		if above[id] == nil {
			above[id] = n
		}
	}
	return above, err
}

// parentOf and nameOf return a row's parent and name after the assignment.
func (a *assignment) parentOf(n *node) any {
	if a.parent != nil {
		return *a.parent
	}
	return n.parent
}

func (a *assignment) nameOf(n *node) string {
	if a.name != nil {
		return (*a.name).(string)
	}
	return n.name
}

// consider enters one affected row into the turn.
func (x *turn) consider(a *assignment, n *node, affected, above map[any]*node) error {
	t := x.table
	restored := x.hit.dead[n.id] != nil
	tree := n.tree
	if t.isLeaf() {
		// The place that a leaf has now follows from the parent that it has now.
		parent := above[n.parent]
		if parent == nil && !restored {
			if a.parentOf(n) == n.parent && a.nameOf(n) == n.name {
				// It stays where it is: among the leaves that the deletion of their parent has left
				// to the caller.
				return nil
			}
			return t.parentGone(n.parent, n)
		}
		if parent != nil {
			t.follow(n, parent)
			n.tree, tree = parent.tree, parent.tree
		}
	}
	after, err := x.after(a, n, affected, above, 0)
	if err != nil {
		return err
	}
	if parent := above[after.parent]; parent != nil {
		if t.isLeaf() && restored {
			tree = parent.tree
		}
		if parent.tree != tree {
			return t.unsupported("a row cannot move from the tree %s to the tree %s", shown.ID(tree), shown.ID(parent.tree))
		}
		after.tree = parent.tree
	}
	if a.tree != nil && a.tree != tree {
		return t.unsupported("a row cannot move from the tree %s to the tree %s", shown.ID(tree), shown.ID(a.tree))
	}
	if err := t.stated(n.id, a.path, a.ids, after, n); err != nil {
		return err
	}
	if !restored && after.parent == n.parent && after.name == n.name && after.path == n.path && after.ids == n.ids {
		return nil
	}
	return x.enter(n, after, restored, above)
}

// enter notes a row that changes its place.
func (x *turn) enter(n, after *node, restored bool, above map[any]*node) error {
	t := x.table
	if (n.path == "" || n.isRoot()) && !restored && !t.isLeaf() {
		return t.unsupported("the root row %s can be neither renamed nor moved", shown.ID(n.id))
	}
	to, err := t.siteOf(after, after.parent == nil && restored)
	if err == nil && (restored || to.path.Depth() > strings.Count(n.path, "/")) {
		err = t.checkDepth(to.path)
	}
	if err != nil {
		return err
	}
	x.claims.add(to.tree, to.path)
	if !t.isLeaf() && (restored || after.parent == nil && n.parent != nil) {
		x.landings.enter(after, to.tree)
	}
	m := move{node: n, to: to, path: after.path, ids: after.ids, restored: restored}
	if !restored {
		from, err := pathlock.ParsePath(n.path)
		if err != nil {
			return err
		}
		m.from = site{to.tree, from}
		x.claims.add(to.tree, from)
	}
	x.moves = append(x.moves, m)
	for _, id := range []any{n.parent, after.parent} {
		parent := above[id]
		if parent == nil || restored && id != after.parent {
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
func (t *table) parentGone(parent any, n *node) error {
	if t.isLeaf() && parent == n.parent {
		return fmt.Errorf("%w: %s, the parent of %s, is deleted: the leaf can be edited and deleted, and moved or renamed once its parent is restored",
			pathlock.ErrNotFound, t.above.row(parent), t.row(n.id))
	}
	return fmt.Errorf("%w: %s, the parent of %s", pathlock.ErrNotFound, t.above.row(parent), t.row(n.id))
}

// after returns a row as the assignment leaves it, which may have moved rows above it as well.
func (x *turn) after(a *assignment, n *node, affected, above map[any]*node, depth int) (*node, error) {
	t := x.table
	after := *n
	after.parent, after.name = a.parentOf(n), a.nameOf(n)
	if after.parent == nil {
		if t.isLeaf() {
			return nil, t.unsupported("a leaf needs a parent")
		}
		t.follow(&after, nil)
		return &after, nil
	}
	parent := above[after.parent]
	if parent == nil {
		return nil, t.parentGone(after.parent, n)
	}
	if t.isLeaf() {
		t.follow(&after, parent)
		return &after, nil
	}
	below := parent.tree == n.tree && strings.HasPrefix(parent.path+"/", n.path+"/")
	if n.path != "" && x.hit.dead[n.id] == nil && below || depth > pathlock.MaxDepth {
		return nil, fmt.Errorf("%w: %s (%s) cannot go below %s", fault.ErrWouldCycle, t.row(n.id), shown.Text(n.path), shown.Text(parent.path))
	}
	if affected[after.parent] != nil {
		var err error
		if parent, err = x.after(a, parent, affected, above, depth+1); err != nil {
			return nil, err
		}
	}
	t.follow(&after, parent)
	return &after, nil
}

// differs compares a turn with the one that the locking reads led to. The locks are right only if
// every place is the same, and every node above them was locked.
func (x *turn) differs(actual *turn, locked map[any]*node) error {
	planned := make(map[any]move, len(x.moves))
	for _, m := range x.moves {
		planned[m.id] = m
	}
	for _, m := range actual.moves {
		before, ok := planned[m.id]
		if !ok || before.from != m.from || before.to != m.to {
			return &fault.PathChangedError{Table: x.table.name, ID: m.id, Planned: before.from.path.Column(), Actual: m.node.path}
		}
	}
	for _, n := range actual.chains {
		if locked[n.id] == nil {
			return &fault.PathChangedError{Table: x.table.above.name, ID: n.id, Actual: n.path}
		}
	}
	return nil
}

// hasVersion reports whether all rows that the update hits have a version, as far as one is
// assigned.
func (x *turn) hasVersion(version any) bool {
	for _, n := range x.hit.live {
		if version != n.version {
			return false
		}
	}
	return true
}
