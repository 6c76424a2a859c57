package hold

import (
	"cmp"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Demand is what a statement has to have locked: a request per tree, in an order that is the same
// for everybody.
type Demand interface {
	Requests(note string, wait time.Duration) []pathlock.Request
}

// Claims are the nodes, by tree, that a statement needs exclusively: the old
// places and the name slots of the new ones.
type Claims map[pathlock.Tree][]pathlock.Path

// Add claims a node.
func (c Claims) Add(tree pathlock.Tree, path pathlock.Path) { c[tree] = append(c[tree], path) }

// Requests implements [Demand].
func (c Claims) Requests(note string, wait time.Duration) []pathlock.Request {
	var requests []pathlock.Request
	for tree, paths := range c {
		r := pathlock.Request{Tree: tree, Wait: wait, Note: note}
		for _, p := range topmost(paths) {
			r.Claims = append(r.Claims, pathlock.X(p))
		}
		requests = append(requests, r)
	}
	return InOrder(requests)
}

// InOrder sorts requests by tree: of two statements that need the same trees, neither waits for the
// other in a circle.
func InOrder(requests []pathlock.Request) []pathlock.Request {
	slices.SortFunc(requests, func(a, b pathlock.Request) int {
		return cmp.Or(cmp.Compare(a.Tree.Namespace(), b.Tree.Namespace()), cmp.Compare(a.Tree.ID(), b.Tree.ID()))
	})
	return requests
}

// topmost drops the paths that lie below others, and puts the
// deepest common ancestor in the place of too many.
func topmost(paths []pathlock.Path) []pathlock.Path {
	sorted := slices.Clone(paths)
	slices.SortFunc(sorted, pathlock.Path.Compare)
	// Every node comes right before its subtree, so that the last one kept is the only one to ask.
	kept := sorted[:0]
	for _, p := range sorted {
		if n := len(kept); n > 0 && kept[n-1].Contains(p) {
			continue
		}
		kept = append(kept, p)
	}
	if len(kept) <= maxClaims && countNodes(kept) <= maxNodes {
		return kept
	}
	common := kept[0]
	for _, p := range kept {
		for !common.Contains(p) {
			common = common.Parent()
		}
	}
	return []pathlock.Path{common}
}

// countNodes returns how many nodes the paths are, together with all nodes above them.
func countNodes(paths []pathlock.Path) int {
	all := make([]pathlock.Claim, len(paths))
	for i, p := range paths {
		all[i] = pathlock.X(p)
	}
	return len(pathlock.Normalize(all...))
}

// maxClaims is how many nodes one statement locks one by one in a tree, and maxNodes how many these
// are together with all nodes above them, which are locked in intention. A statement that touches
// more locks the deepest node above them all instead. Stores have limits, too, of a few hundred
// nodes.
const (
	maxClaims = 128
	maxNodes  = 200
)
