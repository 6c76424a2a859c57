package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// Change is what an UPDATE says about the place of the rows that it hits.
type Change struct {
	// Name and Parent are the assigned values, where they are assigned. The parent may be nil.
	Name   *string
	Parent *any
	// Parents are the new parents of an arrangement instead, by the rows' ids. All of these rows
	// have to be there, in one tree. Trees are those that the caller states, by the ids of rows.
	Parents, Trees map[any]any
	// Key, Tree, Path and IDs are what the caller states, if anything. A key cannot change, and the
	// others follow from the place.
	Key, Tree any
	Path, IDs string
	// AtTop is set if an empty path is assigned that is not the parent's, as of a row at the top.
	AtTop bool
	// StatesPath is set if a path of names is assigned, and ByPath once the parent has been found
	// by it: see [Shape.Goal].
	StatesPath, ByPath bool
	// Restores is set if the deletion mark is assigned to be that of a live row, and Deletes if
	// rows are deleted, or marked as deleted, whatever else is assigned.
	Restores, Deletes bool
}

// ParentOf returns a row's parent after the change; that of a row that is deleted does not count.
func (c *Change) ParentOf(n *Node) any {
	if c.Deletes {
		return n.Parent
	}
	if parent, ok := c.Parents[n.ID]; ok {
		return parent
	}
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
		c.AtTop == d.AtTop && c.StatesPath == d.StatesPath && c.Restores == d.Restores && c.Deletes == d.Deletes && maps.Equal(c.Parents, d.Parents) && maps.Equal(c.Trees, d.Trees)
}

// Goal returns where the parent is that a change states by its path instead, below which all of the
// affected rows are to go. Only a column that holds the path of the parent says so: a row's own
// path may have been read before somebody moved the row. It is not ok if the change states the
// parent, or a path that leaves every row where it is. Deleted rows among others stay where they
// are. parents has the rows above.
func (s *Shape) Goal(c *Change, hit Hits, parents map[any]*Node) (to Spot, ok bool, err error) {
	if !c.StatesPath || !s.PathForm.OfParent || c.Parent != nil || c.Parents != nil || c.Deletes {
		return to, false, nil
	}
	affected := c.Affected(hit)
	if len(affected) == 0 && len(hit.Dead) > 0 {
		return to, false, s.Unsupported("a path does not move a row that is deleted: restore it by the same update, or set its parent")
	}
	if _, err := s.parse(c.Path); err != nil && len(affected) > 0 {
		return to, false, s.Misplaced("the path %q says no parent: %v", shown.Cut(s.PathForm.Print(c.Path)), err)
	}
	trees, moves := make(map[any]bool), false
	for _, n := range affected {
		now := *n
		if s.IsLeaf {
			if parents[n.Parent] == nil {
				return to, false, s.parentGone(n.Parent, n)
			}
			s.Follow(&now, parents[n.Parent])
		}
		trees[now.Tree], moves, to = true, moves || s.PathForm.Holds(now.Path) != c.Path, Spot{now.Tree, c.Path}
	}
	if moves && len(trees) > 1 {
		return to, false, s.Misplaced("rows of %d trees cannot go to one path: update those of each tree by themselves", len(trees))
	}
	return to, moves, nil
}

// Reach returns the change with the parent, nil for none, that was found at its goal.
func (s *Shape) Reach(c Change, parent *Node) (Change, error) {
	var id any
	switch {
	case parent != nil:
		id = parent.ID
	case c.Path != "":
		return c, s.noneAt(c.Path)
	}
	c.Parent, c.ByPath = &id, true
	return c, nil
}

// Move is a row that gets another path, and its subtree with it.
type Move struct {
	*Node
	// After is the row as the change leaves it.
	After    *Node
	From, To pathlock.Location
	// Restored is set for a row that was deleted before: it had no place.
	Restored bool
	// SamePaths is set for a detour, after which the rows below have the paths that they had
	// before, and so keep their versions.
	SamePaths bool
}

// Rewrites reports whether the rows below get new paths.
func (m Move) Rewrites() bool { return !m.Restored && (m.Path != m.After.Path || m.IDs != m.After.IDs) }

// Deeper returns by how many levels a row moves down.
func (m Move) Deeper() int { return strings.Count(m.After.Path, "/") - strings.Count(m.Path, "/") }

// Longer returns by how many characters the path, and that of ids, grow.
func (m Move) Longer() [2]int {
	longer := func(from, to string) int { return utf8.RuneCountInString(to) - utf8.RuneCountInString(from) }
	return [2]int{longer(m.Path, m.After.Path), longer(m.IDs, m.After.IDs)}
}

// CheckBelow refuses a move by which a row below would get a path that is longer than its column,
// or lie too deep.
func (s *Shape) CheckBelow(m Move, n *Node) error {
	tops := s.paths(m.After)
	for i, of := range s.paths(n) {
		if longer := m.Longer()[i]; longer > 0 {
			if err := of.room.Fits(utf8.RuneCountInString(of.form.Column(of.path))+longer, of.form.Print(tops[i].path)); err != nil {
				return err
			}
		}
	}
	if depth := strings.Count(n.Path, "/") + m.Deeper(); m.Deeper() > 0 && depth > s.MaxDepth {
		return &fault.TooDeepError{Table: s.TableName, Path: m.After.Path, Depth: depth, Limit: s.MaxDepth}
	}
	return nil
}

// CheckChange refuses a change that no row that it hits can undergo.
func (s *Shape) CheckChange(c *Change, hit Hits) error {
	for id := range c.Parents {
		if hit.Live[id] == nil {
			return &fault.RowError{Table: s.TableName, ID: id, Err: s.Missing(id)}
		}
	}
	if c.Key == nil || s.IsLeaf {
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
func (s *Shape) Update(c *Change, hit Hits, parents map[any]*Node) (*Effect, error) {
	x := &Effect{shape: s, Change: c, Hits: hit, Parents: parents, Claims: make(Claims), places: make(map[any]route), TopArrivals: make(TopArrivals)}
	if c.Deletes {
		return x, x.remove()
	}
	u := &updating{Effect: x, affected: c.Affected(hit), at: make(map[Spot]*Node), taken: make(map[pathlock.Location]bool)}
	for _, n := range hit.Live {
		u.at[Spot{n.Tree, n.Path}] = n
	}
	// From the top down, so that what is wrong with a row is not said of one below it.
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
	// tree is the one that an arrangement is of, nil until a row has been considered.
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
		if s.IsLeaf && restored {
			tree = parent.Tree
		}
		if parent.Tree != tree {
			return s.Misplaced("a row cannot move from the tree %s to the tree %s", shown.ID(tree), shown.ID(parent.Tree))
		}
	}
	if c.Parents != nil && u.tree != nil && u.tree != tree {
		return s.Misplaced("the row is in the tree %s, and others of the arrangement in %s", shown.ID(tree), shown.ID(u.tree))
	}
	u.tree = tree
	if stated := cmp.Or(c.Tree, c.Trees[n.ID]); stated != nil && stated != tree {
		return s.Misplaced("a row cannot move from the tree %s to the tree %s", shown.ID(tree), shown.ID(stated))
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
	s, c := u.shape, u.Change
	switch {
	case c.AtTop && c.Parent == nil && n.Parent != nil:
		return s.Misplaced("an empty path does not move %s to the top: use gormplugin.Move, or set the parent, too", s.RowName(n.ID))
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

// after returns a row as the change leaves it, which may move rows above it as well. depth is how
// many rows have been followed to it.
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

// relocate enters a row that changes its place.
func (u *updating) relocate(n, after *Node, restored bool) error {
	s := u.shape
	switch {
	case s.IsLeaf:
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
	if u.Change.Parents != nil && u.taken[to] && !s.Nameless {
		return &fault.NameTakenError{Table: s.TableName, Tree: to.Tree, Path: to.Path}
	}
	u.taken[to] = true
	u.Claims.Add(to)
	if !s.IsLeaf && (restored || after.Parent == nil && n.Parent != nil) {
		u.TopArrivals.Add(after, to.Tree)
	}
	after.Version++
	m := Move{Node: n, After: after, To: to, Restored: restored}
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
		// A row that the update restores, too, asserts what is above it by itself.
		if parent == nil || restored && id != after.Parent || u.Dead[id] != nil {
			continue
		}
		u.Chains = append(u.Chains, parent)
	}
	return nil
}
