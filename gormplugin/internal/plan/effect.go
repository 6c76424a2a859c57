package plan

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// Change is what an UPDATE assigns to the places of the rows that it hits.
type Change struct {
	// Name and Parent are the assigned values, if any. The parent may be nil.
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
	// Restores is set if the UPDATE clears the deletion mark, and Deletes if it deletes rows or
	// marks them as deleted, whatever else it assigns.
	Restores, Deletes bool
}

// ParentOf returns a row's parent after the change. A deletion changes none, whatever else is
// assigned.
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
func (c *Change) SameAs(d *Change) bool { return reflect.DeepEqual(c, d) }

// Goal returns the place of the new parent of all affected rows, if a change states the parent by
// its path alone. Only a column that holds the path of the parent can state it: a row's own path
// may have been read before somebody moved the row. ok is false if the change states the parent's
// key, or a path that leaves every row where it is. Deleted rows among others stay where they are.
// parents has the rows above.
func (s *Shape) Goal(c *Change, hit Hits, parents map[any]*Node) (to Spot, ok bool, err error) {
	if !c.StatesPath || !s.PathForm.OfParent || c.Parent != nil || c.Parents != nil || c.Deletes {
		return to, false, nil
	}
	affected := c.Affected(hit)
	if len(affected) == 0 && len(hit.Dead) > 0 {
		return to, false, s.Unsupported("a path does not move a row that is deleted: restore it by the same update, or set its parent")
	}
	if _, err := s.parse(c.Path); err != nil && len(affected) > 0 {
		return to, false, s.Misplaced(fmt.Sprintf("the path %q says no parent: %v", shown.Cut(s.PathForm.Print(c.Path)), err))
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
		goal := strings.TrimSuffix(c.Path, Top)
		trees[now.Tree], moves, to = true, moves || s.PathForm.Holds(now.Path) != goal, Spot{now.Tree, goal}
	}
	if moves && len(trees) > 1 {
		return to, false, s.Misplaced(fmt.Sprintf("rows of %d trees cannot go to one path: update those of each tree by themselves", len(trees)))
	}
	return to, moves, nil
}

// Reach returns the change with the parent, nil for none, that was found at its goal.
func (s *Shape) Reach(c Change, parent *Node) (Change, error) {
	var id any
	switch {
	case parent != nil:
		id = parent.ID
	case strings.TrimSuffix(c.Path, Top) != "":
		return c, s.noneAt(c.Path)
	}
	c.Parent, c.ByPath = &id, true
	return c, nil
}

// CheckChange refuses a change that is impossible for every row.
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

// Effect is what an UPDATE or a DELETE does to the tree.
type Effect struct {
	shape *Shape
	// Change is what was asked for, and Hits are the rows that it was planned on.
	Change *Change
	Hits
	// Parents are the rows above those that are hit, before the change and after it, with what was
	// read of the rows above these.
	Parents map[any]*Node
	// Claims are the old places and the new slots.
	Claims
	// Anchors are the nodes that must stay where they are, with everything above them.
	Anchors []*Node
	// places has, by id, the route of each row that gets or loses a place by the plan.
	places map[any]route
	// Moves are the rows that get other places, and TopArrivals those that come to the top of their
	// trees.
	Moves []Move
	TopArrivals
	// Tops are the live rows that a deletion hits, without those that lie below others of them.
	Tops []*Node
}

// route is where a row is and where it will be; zero if it has no place.
type route struct{ from, to pathlock.Location }

// StaysPut reports whether the tree is the same afterwards as before, and no row of it is deleted
// or restored.
func (x *Effect) StaysPut() bool { return len(x.Moves)+len(x.Dead) == 0 && !x.Change.Deletes }

// After returns the rows that move as the change leaves them, and if stayed is set, those that stay
// where they are.
func (x *Effect) After(stayed bool) map[any]*Node {
	now := make(map[any]*Node, len(x.Moves))
	if stayed {
		maps.Copy(now, x.Live)
	}
	for _, m := range x.Moves {
		now[m.ID] = m.After
	}
	return now
}

// IsOn reports whether hit are the rows of the plan, in the places where it found them. That does
// not cover leaves, whose places follow from rows above.
func (x *Effect) IsOn(hit Hits) bool {
	return !x.shape.IsLeaf && len(hit.Dead) == 0 && maps.EqualFunc(x.Live, hit.Live, func(a, b *Node) bool {
		return a.Tree == b.Tree && a.Parent == b.Parent && a.Name == b.Name && a.Path == b.Path && a.IDs == b.IDs
	})
}

// HasVersion reports whether all live rows have the version.
func (x *Effect) HasVersion(version any) bool {
	for _, n := range x.Live {
		if version != n.Version {
			return false
		}
	}
	return true
}

// StatesOutdated reports whether the change states a path that a row does not have.
func (x *Effect) StatesOutdated() bool {
	for _, n := range x.Live {
		if !x.shape.AsStated(n, x.Change.Path, x.Change.IDs) {
			return true
		}
	}
	return false
}

// Differs compares a plan with the one that the locking reads led to. The locks are right only if
// every place is the same, and every node above was locked. What lies below a row is found by the
// row's paths, which have to be those that follow from its place.
func (x *Effect) Differs(actual *Effect, locked map[any]*Node) error {
	for id, at := range actual.places {
		if before, planned := x.places[id]; !planned || before != at {
			return &fault.PathChangedError{Table: x.shape.TableName, ID: id, Planned: before.from.Path.Column(), Actual: at.from.Path.Column()}
		}
		n := actual.Live[id]
		if n == nil || x.shape.IsLeaf {
			continue
		}
		if parent := actual.Parents[n.Parent]; parent != nil || n.Parent == nil {
			if err := x.shape.inPlace(n, parent); err != nil {
				return err
			}
		}
	}
	for _, n := range actual.Anchors {
		if locked[n.ID] == nil {
			return &fault.PathChangedError{Table: x.shape.Above.TableName, ID: n.ID, Actual: n.Path}
		}
	}
	return nil
}

// remove works out what the deletion of the rows does.
func (x *Effect) remove() error {
	var placed []*Node
	for _, n := range x.Live {
		x.places[n.ID] = route{}
		if x.shape.IsLeaf {
			if x.Parents[n.Parent] == nil {
				// A leaf whose parent is deleted has no place to lock.
				x.Tops = append(x.Tops, n)
				continue
			}
			x.shape.Follow(n, x.Parents[n.Parent])
		}
		at, err := x.shape.Location(n)
		if err != nil {
			return err
		}
		x.places[n.ID] = route{from: at}
		placed = append(placed, n)
	}
	x.keepTopmost(placed)
	return nil
}

// keepTopmost enters the rows that do not lie below others.
func (x *Effect) keepTopmost(placed []*Node) {
	at := func(n *Node) pathlock.Location { return x.places[n.ID].from }
	slices.SortFunc(placed, func(a, b *Node) int { return at(a).Path.Compare(at(b).Path) })
	last := make(map[pathlock.Tree]pathlock.Path)
	for _, n := range placed {
		here := at(n)
		upper, found := last[here.Tree]
		if found && upper.Contains(here.Path) && upper != here.Path && !x.shape.IsLeaf {
			delete(x.places, n.ID)
			continue
		}
		last[here.Tree] = here.Path
		x.Tops = append(x.Tops, n)
		x.Claims.Add(here)
		if parent := x.Parents[n.Parent]; parent != nil {
			x.Anchors = append(x.Anchors, parent)
		}
	}
}
