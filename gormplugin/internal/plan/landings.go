package plan

import (
	"cmp"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
)

// Landing is what a statement puts at the top of a tree.
type Landing struct {
	Tree any
	// Domain is the tree's lock domain.
	Domain pathlock.Tree
	// Root is set for a root row.
	Root bool
	// Rows is how many rows the statement brings into the tree altogether, and AtTop how many of
	// these are at the top.
	Rows, AtTop int
}

// Landings are what a statement puts at the top of trees, by tree.
type Landings map[any]*Landing

// Add notes a row that comes into a tree, or to the top of it.
func (l Landings) Add(n *Node, domain pathlock.Tree) {
	at := l[n.Tree]
	if at == nil {
		at = &Landing{Tree: n.Tree, Domain: domain}
		l[n.Tree] = at
	}
	at.Rows++
	if n.Parent == nil {
		at.AtTop++
		at.Root = at.Root || n.IsRoot()
	}
}

// AtTops returns the landings that put a row at the top, in an order that is the same for
// everybody.
func (l Landings) AtTops() []*Landing {
	all := slices.DeleteFunc(slices.Collect(maps.Values(l)), func(at *Landing) bool { return at.AtTop == 0 })
	slices.SortFunc(all, func(a, b *Landing) int { return cmp.Compare(a.Domain.ID(), b.Domain.ID()) })
	return all
}
