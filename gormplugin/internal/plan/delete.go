package plan

import (
	"slices"

	"github.com/pathlock-go/pathlock"
)

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
