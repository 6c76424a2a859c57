package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Demand states the locks that a statement needs: a request per tree, in the same order for
// everybody.
type Demand interface {
	Requests(note string, wait time.Duration) []pathlock.Request
}

// Claims are the nodes, by tree, that a statement needs exclusively: the old places and the name
// slots of the new ones.
type Claims map[pathlock.Tree][]pathlock.Path

// Add claims a node.
func (c Claims) Add(at pathlock.Location) { c[at.Tree] = append(c[at.Tree], at.Path) }

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
	return inOrder(requests)
}

// inOrder sorts requests by tree, so that two statements that need the same trees do not wait for
// each other.
func inOrder(requests []pathlock.Request) []pathlock.Request {
	slices.SortFunc(requests, func(a, b pathlock.Request) int {
		return cmp.Or(cmp.Compare(a.Tree.Namespace(), b.Tree.Namespace()), cmp.Compare(a.Tree.ID(), b.Tree.ID()))
	})
	return requests
}

// topmost drops the paths that lie below others, and replaces the rest by their deepest common
// ancestor if they are too many.
func topmost(paths []pathlock.Path) []pathlock.Path {
	// Every node comes right before its subtree, so that only the last one kept can contain the
	// next.
	sorted := slices.SortedFunc(slices.Values(paths), pathlock.Path.Compare)
	kept, most := sorted[:0], 0 // nodes, if the paths have none in common
	for _, p := range sorted {
		if n := len(kept); n == 0 || !kept[n-1].Contains(p) {
			kept, most = append(kept, p), most+p.Depth()+1
		}
	}
	if len(kept) <= maxClaims && (most <= maxNodes || countNodes(kept) <= maxNodes) {
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

// maxClaims bounds how many nodes of a tree one statement locks one by one, and maxNodes how many
// these are together with all nodes above them, which get intention locks. A statement that touches
// more locks the deepest node above them all instead. Stores, too, have limits of a few hundred
// nodes.
const (
	maxClaims = 128
	maxNodes  = 200
)
