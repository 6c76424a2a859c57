package fscktest

import (
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
)

// testChains checks trees that are one long chain, in which parents have smaller or greater keys
// than their children, and cycles of any length.
func testChains(t *testing.T, database Database) {
	const length = 2000 // longer than a page and a path together
	parents := map[string]func(int) int{
		"parents first":  func(id int) int { return id - 1 },
		"children first": func(id int) int { return (id + 1) % (length + 1) },
		// Cycles through keys in no order; 2000 and 397 have no common divisor.
		"mixed": func(id int) int { return (id*397)%length + 1 },
		// Both the tail and the cycle are longer than a path can be.
		"a tail that ends in a cycle": func(id int) int {
			if id == length {
				return 1200
			}
			return id + 1
		},
	}
	for what, parent := range parents {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, database, schema{})
			var nodes []Node
			for id := 1; id <= length; id++ {
				nodes = append(nodes, Node{ID: id, Tree: 1, Parent: parent(id), Name: "n"})
			}
			w.insert(t, nodes...)
			want := naive(nodes)
			got := make(map[fsck.Kind]int)
			for _, p := range w.problems(t) {
				got[p.Kind]++
				if p.Kind == fsck.Cycle {
					if members := want.cycles[w.number(p.ID)]; members != len(p.Others)+1 && len(p.Others)+1 != min(16, members) {
						t.Errorf("%v, want %d members", p, members)
					}
				}
			}
			if got[fsck.Cycle] != len(want.cycles) || got[fsck.TooDeep] != want.deep {
				t.Errorf("found %v, want %d cycles and %d rows too deep", got, len(want.cycles), want.deep)
			}
			_, summary := w.repair(t, fsck.RepairOptions{Apply: true})
			if summary.After.Problems[fsck.Cycle] > 0 || summary.After.Total() != summary.After.Problems[fsck.TooDeep]+summary.After.Problems[fsck.PathTooLong] {
				t.Errorf("left: %v", summary.After.Problems)
			}
		})
	}
}

// outcome is what following all parents finds.
type outcome struct {
	// cycles has the lengths of cycles by their smallest keys.
	cycles map[int]int
	// deep is the number of rows that are too deep.
	deep int
}

func naive(nodes []Node) outcome {
	o := outcome{cycles: make(map[int]int)}
	parent := make(map[int]int)
	for _, n := range nodes {
		parent[n.ID] = n.Parent
	}
	for id := range parent {
		smallest, at, steps := id, id, 1
		for ; steps <= len(nodes); steps++ {
			at = parent[at]
			if at == 0 || at == id {
				break
			}
			smallest = min(smallest, at)
		}
		switch {
		case at == id && smallest == id:
			o.cycles[id] = steps
		case at == 0 && steps > pathlock.MaxDepth:
			o.deep++
		}
	}
	return o
}
