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

// Update works out what a change does to the rows that it hits. parents has the rows above
// these, before the change and after it, by id.
func (s *Shape) Update(c *Change, hit Hits, parents map[any]*Node) (*Effect, error) {
	x := &Effect{shape: s, Change: c, Hits: hit, Parents: parents, Claims: make(Claims), places: make(map[any]route), TopArrivals: make(TopArrivals)}
	if c.Deletes {
		return x, x.remove()
	}
	u := &updating{Effect: x, affected: c.Affected(hit), at: make(map[Spot]*Node), taken: make(map[pathlock.Location]bool)}
	for _, n := range hit.Live {
		u.at[Spot{n.Tree, n.Path}] = n
	}
	// From the top down, so that an error names the row that is wrong and not one below it.
	down := slices.SortedFunc(maps.Values(u.affected), func(a, b *Node) int { return cmp.Compare(len(a.Path), len(b.Path)) })
	for _, n := range down {
		if err := u.consider(n); err != nil {
			return nil, u.about(n, err)
		}
	}
	return x, nil
}

// updating is an update that is being planned.
type updating struct {
	*Effect
	affected map[any]*Node
	// at are the rows that are hit by their places, and taken are the slots of those that move.
	at    map[Spot]*Node
	taken map[pathlock.Location]bool
	// tree is that of an arrangement, nil until a row has been considered.
	tree any
}

// consider enters one affected row into the relocation.
func (u *updating) consider(n *Node) error {
	s, c := u.shape, u.Change
	restored := u.Dead[n.ID] != nil
	tree := n.Tree
	if s.IsLeaf {
		// The place that a leaf has now follows from the parent that it has now.
		parent := u.Parents[n.Parent]
		if parent == nil && !restored {
			if c.ParentOf(n) == n.Parent && c.NameOf(n) == n.Name {
				// The deletion of its parent has left the leaf behind, and it stays where it is.
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
		if s.IsLeaf && restored {
			tree = parent.Tree
		}
		if parent.Tree != tree {
			return s.Misplaced(otherTree, fmt.Sprintf("%s is in %s, not in %s", shown.ID(parent.ID), shown.ID(parent.Tree), shown.ID(tree)))
		}
	}
	if c.Parents != nil && u.tree != nil && u.tree != tree {
		return s.Misplaced("the rows of an arrangement are in one tree", fmt.Sprintf("not in %s and %s", shown.ID(tree), shown.ID(u.tree)))
	}
	u.tree = tree
	if stated := cmp.Or(c.Tree, c.Trees[n.ID]); stated != nil && stated != tree {
		return s.Misplaced("a row stays in its tree: copy it to another", fmt.Sprintf("from %s to %s", shown.ID(tree), shown.ID(stated)))
	}
	if err := u.checkOutdated(n, after, restored); err != nil {
		return err
	}
	if !restored && after.Parent == n.Parent && after.Name == n.Name && after.Path == n.Path && after.IDs == n.IDs {
		return nil
	}
	return u.relocate(n, after, restored)
}

// checkOutdated checks the paths that the caller states. A statement with a name and a parent, as a
// Save, writes a row as it was read. If the path is outdated because a row above has moved, the
// statement does no harm. If the row itself has moved, the statement would undo that.
func (u *updating) checkOutdated(n, after *Node, restored bool) error {
	s, c := u.shape, u.Change
	switch {
	case c.AtTop && c.Parent == nil && n.Parent != nil:
		return s.Misplaced("an empty path does not move a row to the top", s.RowName(n.ID)+": use gormplugin.Move, or set the parent, too")
	case c.ByPath: // the parent was found there
		return s.checkStated(n.ID, "", c.IDs, after, n)
	case restored || c.Name == nil && !s.Nameless || c.Parent == nil:
		return s.checkStated(n.ID, c.Path, c.IDs, after, n)
	case after.Parent == n.Parent && (after.Name == n.Name || s.StatedBelow(n, c.Path)):
		return nil
	default:
		return s.checkStated(n.ID, c.Path, c.IDs, n)
	}
}

// otherTree says why a row cannot go below one of another tree.
const otherTree = "the parent is in another tree"

// after returns a row as the change leaves it, which may move rows above it as well. depth is how
// many rows led to it.
func (u *updating) after(n *Node, depth int) (*Node, error) {
	s := u.shape
	after := *n
	after.Parent, after.Name = u.Change.ParentOf(n), u.Change.NameOf(n)
	var parent *Node
	switch {
	case after.Parent == nil && s.IsLeaf:
		return nil, u.about(n, s.Misplaced("a leaf needs a parent"))
	case after.Parent == nil:
	case u.Parents[after.Parent] == nil:
		return nil, u.about(n, s.parentGone(after.Parent, n))
	case s.IsLeaf:
		parent = u.Parents[after.Parent]
	default:
		above := u.Parents[after.Parent]
		if depth == pathlock.MaxDepth {
			if circling := u.circling(n); circling != nil {
				above = u.Parents[u.Change.ParentOf(circling)]
				return nil, u.about(circling, fmt.Errorf("%w: %w: %s cannot go below %s", fault.ErrWouldCycle, shown.Inside(s.RowName(circling.ID)), shown.Text(circling.Path), shown.Text(above.Path)))
			}
		}
		var err error
		if parent, err = u.carried(above, depth); err != nil {
			return nil, err
		}
	}
	s.Follow(&after, parent)
	if names := strings.Count(after.Path, "/"); names > pathlock.MaxDepth {
		return nil, u.about(n, &fault.TooDeepError{Table: s.TableName, Path: after.Path, Depth: names, Limit: s.MaxDepth})
	}
	return &after, nil
}

// circling returns a row that the change puts below itself, nil if the rows above n end at the top.
// A chain of rows may be longer than paths can be, and is no cycle.
func (u *updating) circling(n *Node) *Node {
	for range len(u.affected) { // so that n is on the cycle, if there is one above it
		if n = u.affectedAbove(n); n == nil {
			return nil
		}
	}
	for range len(u.affected) {
		if u.Change.ParentOf(n) != n.Parent {
			break // this is one; in a damaged tree, there may be none
		}
		n = u.affectedAbove(n)
	}
	return n
}

// relocate enters a row that changes its place.
func (u *updating) relocate(n, after *Node, restored bool) error {
	s := u.shape
	switch {
	case s.IsLeaf:
	case !restored && n.IsRoot():
		return s.Misplaced("a root row can be neither renamed nor moved", shown.ID(n.ID))
	case restored && n.IsRoot() && after.Parent != nil && after.Name == "":
		return s.Misplaced("a root row needs a name to be restored below another row", shown.ID(n.ID))
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
	if u.Change.Parents != nil && u.taken[to] && !s.Nameless {
		return &fault.NameTakenError{Table: s.TableName, Tree: to.Tree, Path: to.Path}
	}
	u.taken[to] = true
	u.Claims.Add(to)
	if !s.IsLeaf && (restored || after.Parent == nil && n.Parent != nil) {
		u.TopArrivals.Add(after, to.Tree)
	}
	after.Version++
	r := route{to: to}
	if !restored {
		if r.from, err = s.Location(n); err != nil {
			return err
		}
		u.Claims.Add(r.from)
	}
	u.places[n.ID] = r
	u.Moves = append(u.Moves, Move{Node: n, After: after, To: to, Restored: restored})
	for _, id := range []any{n.Parent, after.Parent} {
		parent := u.Parents[id]
		// A row that the update restores, too, asserts what is above it by itself.
		if parent == nil || restored && id != after.Parent || u.Dead[id] != nil {
			continue
		}
		u.Anchors = append(u.Anchors, parent)
	}
	return nil
}
