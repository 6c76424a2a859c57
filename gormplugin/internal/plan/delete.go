package plan

import (
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
)

// Removal is what a DELETE does to the tree.
type Removal struct {
	shape *Shape
	// Tops are the live rows that it hits, without those that lie below others of them.
	Tops []Departure
	// Chains are the nodes above the tops.
	Chains []*Node
	Claims
}

// Departure is a row that is deleted with its subtree.
type Departure struct {
	*Node
	At pathlock.Location
}

// Above returns the ids of the rows above those that a DELETE hits, as far as it does not hit them.
func (h Hits) Above(leaves bool) (ids []any) {
	for _, n := range h.Live {
		if leaves || h.Live[n.Parent] == nil {
			ids = append(ids, n.Parent)
		}
	}
	return ids
}

// Delete works out what the deletion of rows does. above has the rows above them, by id.
func (s *Shape) Delete(hit Hits, above map[any]*Node) (*Removal, error) {
	x := &Removal{shape: s, Claims: make(Claims)}
	places := make(map[pathlock.Tree][]Departure)
	for _, n := range hit.Live {
		if s.IsLeaf() {
			parent := above[n.Parent]
			if parent == nil {
				// A leaf whose parent is deleted has no place to lock.
				x.Tops = append(x.Tops, Departure{Node: n})
				continue
			}
			s.Follow(n, parent)
		}
		at, err := s.Location(n)
		if err != nil {
			return nil, err
		}
		places[at.Tree] = append(places[at.Tree], Departure{n, at})
	}
	for _, tops := range places {
		x.keepTopmost(tops, above)
	}
	return x, nil
}

// keepTopmost enters the rows of one tree that do not lie below others.
func (x *Removal) keepTopmost(tops []Departure, above map[any]*Node) {
	slices.SortFunc(tops, func(a, b Departure) int { return a.At.Path.Compare(b.At.Path) })
	var last *Departure
	for _, n := range tops {
		if last != nil && last.At.Path.Contains(n.At.Path) && !x.shape.IsLeaf() && last.At.Path != n.At.Path {
			continue
		}
		last = &n
		x.Tops = append(x.Tops, n)
		x.Claims.Add(n.At)
		if parent := above[n.Parent]; parent != nil {
			x.Chains = append(x.Chains, parent)
		}
	}
}

// Differs compares a removal with the one that the locking reads led to.
func (x *Removal) Differs(actual *Removal, locked map[any]*Node) error {
	at := make(map[any]pathlock.Location, len(x.Tops))
	for _, n := range x.Tops {
		at[n.ID] = n.At
	}
	for _, n := range actual.Tops {
		if at[n.ID] != n.At {
			return &fault.PathChangedError{Table: x.shape.TableName, ID: n.ID, Planned: at[n.ID].Path.Column(), Actual: n.Node.Path}
		}
	}
	return x.shape.checkLocked(actual.Chains, locked)
}
