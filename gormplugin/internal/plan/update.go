package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// Change is what an UPDATE says about the place of the rows that it hits.
type Change struct {
	// Name and Parent are the assigned values, where they are assigned. The parent may be nil.
	Name   *string
	Parent *any
	// Key, Tree, Path and IDs are what the caller states, if anything. A key cannot change, and the
	// others follow from the place.
	Key, Tree any
	Path, IDs string
	// Restores is set if the deletion mark is assigned to be that of a live row.
	Restores bool
}

// ParentOf returns a row's parent after the change.
func (c *Change) ParentOf(n *Node) any {
	if c.Parent != nil {
		return *c.Parent
	}
	return n.Parent
}

// NameOf returns a row's name after the change.
func (c *Change) NameOf(n *Node) string {
	if c.Name != nil {
		return *c.Name
	}
	return n.Name
}

// SameAs reports whether two changes do the same to the tree.
func (c *Change) SameAs(d *Change) bool {
	name := c.Name == d.Name || c.Name != nil && d.Name != nil && *c.Name == *d.Name
	parent := c.Parent == d.Parent || c.Parent != nil && d.Parent != nil && *c.Parent == *d.Parent
	return name && parent && c.Key == d.Key && c.Tree == d.Tree && c.Path == d.Path && c.IDs == d.IDs &&
		c.Restores == d.Restores
}

// Relocation is what an UPDATE does to the tree: which of the rows that it hits move where.
type Relocation struct {
	Basis
	Moves []Move
	// Landings are the rows that come to the top of their trees.
	Landings Landings
}

// Move is a row that gets another path, and its subtree with it.
type Move struct {
	*Node
	From, To pathlock.Location
	// Path and IDs are the new path columns; Node has the old ones.
	Path, IDs string
	// Restored is set for a row that was deleted before: it had no place.
	Restored bool
}

// Rewrites reports whether the rows below get new paths.
func (m Move) Rewrites() bool { return !m.Restored && (m.Node.Path != m.Path || m.Node.IDs != m.IDs) }

// After returns the row with its new paths and version.
func (m Move) After() *Node {
	n := *m.Node
	n.Path, n.IDs, n.Version = m.Path, m.IDs, m.Version+1
	return &n
}

// Deeper returns by how many levels a row moves down.
func (m Move) Deeper() int { return strings.Count(m.Path, "/") - strings.Count(m.Node.Path, "/") }

// CheckChange refuses a change that no row that it hits can undergo.
func (s *Shape) CheckChange(c *Change, hit Hits) error {
	if c.Key == nil || s.IsLeaf() {
		return nil
	}
	for _, id := range hit.IDs() {
		if id != c.Key {
			return s.Unsupported("the primary key of %s cannot change: the rows below would lose their parent", shown.ID(id))
		}
	}
	return nil
}

// Affected returns the rows that a change gives a place.
func (c *Change) Affected(hit Hits) map[any]*Node {
	affected := maps.Clone(hit.Live)
	if c.Restores {
		maps.Copy(affected, hit.Dead)
	}
	return affected
}

// Update works out what a change does to the rows that it hits. parents has the rows above
// these, before the change and after it, by id.
func (s *Shape) Update(c *Change, hit Hits, parents map[any]*Node) (*Relocation, error) {
	x := &Relocation{Basis: newBasis(s, hit, parents), Landings: make(Landings)}
	u := updating{Relocation: x, change: c, affected: c.Affected(hit)}
	// From the top down, so that what is wrong with a row is not said of one below it.
	down := slices.SortedFunc(maps.Values(u.affected), func(a, b *Node) int { return cmp.Compare(len(a.Path), len(b.Path)) })
	for _, n := range down {
		if err := u.consider(n); err != nil {
			return nil, err
		}
	}
	if err := x.followUpper(); err != nil {
		return nil, err
	}
	for _, m := range x.Moves {
		if err := s.checkLengths(m.After()); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// updating is an update that is being planned.
type updating struct {
	*Relocation
	change   *Change
	affected map[any]*Node
}

// consider enters one affected row into the relocation.
func (u *updating) consider(n *Node) error {
	s, c := u.shape, u.change
	restored := u.Dead[n.ID] != nil
	tree := n.Tree
	if s.IsLeaf() {
		// The place that a leaf has now follows from the parent that it has now.
		parent := u.Parents[n.Parent]
		if parent == nil && !restored {
			if c.ParentOf(n) == n.Parent && c.NameOf(n) == n.Name {
				// It stays where it is, among the leaves that the deletion of their parent has left
				// behind.
				return nil
			}
			return s.parentGone(n.Parent, n)
		}
		if parent != nil {
			s.Follow(n, parent)
			tree = parent.Tree
		}
	}
	after, err := u.after(n, 0)
	if err != nil {
		return err
	}
	if parent := u.Parents[after.Parent]; parent != nil {
		if s.IsLeaf() && restored {
			tree = parent.Tree
		}
		if parent.Tree != tree {
			return s.Misplaced("a row cannot move from the tree %s to the tree %s", shown.ID(tree), shown.ID(parent.Tree))
		}
	}
	if c.Tree != nil && c.Tree != tree {
		return s.Misplaced("a row cannot move from the tree %s to the tree %s", shown.ID(tree), shown.ID(c.Tree))
	}
	if err := u.checkStated(n, after, restored); err != nil {
		return err
	}
	if !restored && after.Parent == n.Parent && after.Name == n.Name && after.Path == n.Path && after.IDs == n.IDs {
		return nil
	}
	return u.relocate(n, after, restored)
}

// checkStated checks the paths that the caller states. A statement with a name and a parent, as a
// Save, writes a row as it was read. Where the path is outdated because a row above has changed its
// place, that is none of the statement's business. Where the row itself has changed its own, the
// statement would undo that.
func (u *updating) checkStated(n, after *Node, restored bool) error {
	s, c := u.shape, u.change
	switch {
	case restored || c.Name == nil && !s.Nameless || c.Parent == nil:
		return s.checkStated(n.ID, c.Path, c.IDs, after, n)
	case after.Parent == n.Parent && (after.Name == n.Name || s.StatedBelow(n, c.Path)):
		return nil
	default:
		return s.checkStated(n.ID, c.Path, c.IDs, n)
	}
}

// after returns a row as the change leaves it. The change may move rows above it as well.
func (u *updating) after(n *Node, depth int) (*Node, error) {
	s := u.shape
	after := *n
	after.Parent, after.Name = u.change.ParentOf(n), u.change.NameOf(n)
	if after.Parent == nil {
		if s.IsLeaf() {
			return nil, s.Misplaced("a leaf needs a parent")
		}
		s.Follow(&after, nil)
		return &after, nil
	}
	parent := u.Parents[after.Parent]
	if parent == nil {
		return nil, s.parentGone(after.Parent, n)
	}
	if s.IsLeaf() {
		s.Follow(&after, parent)
		return &after, nil
	}
	below := parent.Tree == n.Tree && strings.HasPrefix(parent.Path+"/", n.Path+"/")
	if n.Path != "" && u.Dead[n.ID] == nil && below || depth > pathlock.MaxDepth {
		return nil, fmt.Errorf("%w: %s (%s) cannot go below %s", fault.ErrWouldCycle, s.RowName(n.ID), shown.Text(n.Path), shown.Text(parent.Path))
	}
	if u.affected[after.Parent] != nil {
		var err error
		if parent, err = u.after(parent, depth+1); err != nil {
			return nil, err
		}
	}
	s.Follow(&after, parent)
	return &after, nil
}

// relocate enters a row that changes its place.
func (u *updating) relocate(n, after *Node, restored bool) error {
	s := u.shape
	switch {
	case s.IsLeaf():
	case !restored && n.IsRoot():
		return s.Misplaced("the root row %s can be neither renamed nor moved", shown.ID(n.ID))
	case restored && n.IsRoot() && after.Parent != nil && after.Name == "":
		return s.Misplaced("the root row %s needs a name to be restored below another row", shown.ID(n.ID))
	}
	to, err := s.checkedLocation(after, after.Parent == nil && restored)
	if errors.Is(err, pathlock.ErrInvalidPath) && after.Name == n.Name {
		err = s.Damaged(n.ID, err)
	}
	if err == nil && (restored || to.Path.Depth() > strings.Count(n.Path, "/")) {
		err = s.checkDepth(to.Path)
	}
	if err != nil {
		return err
	}
	u.Claims.Add(to)
	if !s.IsLeaf() && (restored || after.Parent == nil && n.Parent != nil) {
		u.Landings.Add(after, to.Tree)
	}
	m := Move{Node: n, To: to, Path: after.Path, IDs: after.IDs, Restored: restored}
	if !restored {
		if m.From, err = s.Location(n); err != nil {
			return err
		}
		u.Claims.Add(m.From)
	}
	u.places[n.ID] = route{m.From, m.To}
	u.Moves = append(u.Moves, m)
	for _, id := range []any{n.Parent, after.Parent} {
		parent := u.Parents[id]
		// What the update restores as well asserts itself what is above it.
		if parent == nil || restored && id != after.Parent || u.Dead[id] != nil {
			continue
		}
		u.Chains = append(u.Chains, parent)
	}
	return nil
}

// followUpper corrects the new paths of rows that move within the subtree of another moving row.
// These were worked out from the present paths of the rows in between, which move along with the
// upper one. The error is a [*fault.PathChangedError] where the two paths of a row disagree about
// what is above it, because the rows were read one after another.
func (x *Relocation) followUpper() error {
	if x.shape.IsLeaf() || len(x.Moves) < 2 {
		return nil
	}
	slices.SortFunc(x.Moves, func(a, b Move) int { return cmp.Compare(len(a.Node.Path), len(b.Node.Path)) })
	type place struct {
		tree any
		path string
	}
	moved := make(map[place]Move, len(x.Moves))
	for i := range x.Moves {
		m := &x.Moves[i]
		for end := strings.LastIndexByte(m.Path, '/'); end > 0; end = strings.LastIndexByte(m.Path[:end], '/') {
			upper, ok := moved[place{m.Node.Tree, m.Path[:end]}]
			if !ok {
				continue
			}
			m.Path = upper.Path + m.Path[end:]
			if x.shape.BothPaths {
				rest, ok := strings.CutPrefix(m.IDs, upper.Node.IDs)
				if !ok {
					return &fault.PathChangedError{Table: x.shape.TableName, ID: m.ID, Planned: m.IDs}
				}
				m.IDs = upper.IDs + rest
			}
			break
		}
		if !m.Restored {
			moved[place{m.Node.Tree, m.Node.Path}] = *m
		}
	}
	return nil
}
