package plan

import (
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
)

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
	// Chains are the nodes that must stay where they are, with everything above them.
	Chains []*Node
	// places has, by id, the route of each row that gets or loses a place by the plan.
	places map[any]route
	// Moves are the rows that get other places, and TopArrivals those that come to the top of their
	// trees.
	Moves []Move
	TopArrivals
	// Tops are the live rows that a deletion hits, without those that lie below others of them.
	Tops []*Node
}

// route is where a row is and where it will be; zero where it has no place.
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
// every place is the same, and every node above was locked.
func (x *Effect) Differs(actual *Effect, locked map[any]*Node) error {
	for id, at := range actual.places {
		if before, planned := x.places[id]; !planned || before != at {
			return &fault.PathChangedError{Table: x.shape.TableName, ID: id, Planned: before.from.Path.Column(), Actual: at.from.Path.Column()}
		}
	}
	for _, n := range actual.Chains {
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
			x.Chains = append(x.Chains, parent)
		}
	}
}
