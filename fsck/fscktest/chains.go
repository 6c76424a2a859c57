package fscktest

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// testChains looks at trees that are one long chain, in which parents have smaller or greater keys than their children, and
// at cycles of any length.
func testChains(t *testing.T, database Database) {
	const length = 700
	parents := map[string]func(int) int{
		"parents first":  func(id int) int { return id - 1 },
		"children first": func(id int) int { return (id + 1) % (length + 1) },
		// A chain through keys that jump about; 700 and 397 have no common divisor.
		"mixed": func(id int) int { return (id*397)%length + 1 },
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
	// cycles has the lengths by the smallest key.
	cycles map[int]int
	deep   int
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

// testGate has somebody else hold the gate of a tree.
func testGate(t *testing.T, database Database) {
	w := newWorld(t, database, schema{})
	w.insert(t, with(Node{5, 1, 4, "x", "/wrong", "/1/4/5", false})...)
	locker := pathlock.New(memstore.New())
	tree, err := pathlock.NewTree("suites", "1")
	if err != nil {
		t.Fatal(err)
	}
	lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/c"))}, Note: "an editor"})
	if err != nil {
		t.Fatal(err)
	}
	opts := fsck.RepairOptions{Apply: true, Locker: locker, Wait: pathlock.NoWait}
	if _, err := w.checker(t).Repair(t.Context(), opts); !errors.Is(err, pathlock.ErrConflict) {
		t.Errorf("error %v, want one that matches ErrConflict", err)
	}
	if path := w.rows(t)[5].Path; path != "/wrong" {
		t.Errorf("path %q: changed without the gate", path)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.checker(t).Repair(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	w.sound(t, w.rows(t))
	if trees, err := locker.Trees(t.Context()); err != nil || len(trees) > 0 {
		t.Errorf("held afterwards: %v (%v)", trees, err)
	}
}
