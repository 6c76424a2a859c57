package plan

import (
	"slices"

	"github.com/pathlock-go/pathlock"
)

// Removal is what a DELETE does to the tree.
type Removal struct {
	Basis
	// Tops are the live rows that it hits, without those that lie below others of them.
	Tops []*Node
}

// Outside returns the ids of the rows above those that a DELETE hits, as far as it does not hit
// them.
func (h Hits) Outside(leaves bool) (ids []any) {
	for _, n := range h.Live {
		if leaves || h.Live[n.Parent] == nil {
			ids = append(ids, n.Parent)
		}
	}
	return ids
}

// Delete works out what the deletion of rows does. parents has the rows above them, by id.
func (s *Shape) Delete(hit Hits, parents map[any]*Node) (*Removal, error) {
	x := &Removal{Basis: newBasis(s, hit, parents)}
	var placed []*Node
	for _, n := range hit.Live {
		x.places[n.ID] = route{}
		if s.IsLeaf {
			if parents[n.Parent] == nil {
				// A leaf whose parent is deleted has no place to lock.
				x.Tops = append(x.Tops, n)
				continue
			}
			s.Follow(n, parents[n.Parent])
		}
		at, err := s.Location(n)
		if err != nil {
			return nil, err
		}
		x.places[n.ID] = route{from: at}
		placed = append(placed, n)
	}
	x.keepTopmost(placed)
	return x, nil
}

// keepTopmost enters the rows that do not lie below others.
func (x *Removal) keepTopmost(placed []*Node) {
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
