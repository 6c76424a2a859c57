package fscktest

import (
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
)

// testChains checks trees that are one chain, longer than a path can be.
func testChains(t *testing.T, database Database) {
	const length, joint = 700, 300
	for what, tt := range map[string]struct {
		parent       func(int) int
		deep         int
		first, count int
	}{
		"parents first": {parent: func(id int) int { return id - 1 }, deep: length - pathlock.MaxDepth},
		"a tail that ends in a cycle": {
			parent: func(id int) int { return map[bool]int{true: joint, false: id + 1}[id == length] }, first: joint, count: 1,
		},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, database, schema{})
			var nodes []Node
			for id := 1; id <= length; id++ {
				nodes = append(nodes, Node{ID: id, Tree: 1, Parent: tt.parent(id), Name: "n"})
			}
			w.insert(t, nodes...)
			got := make(map[fsck.Kind]int)
			for _, p := range w.problems(t) {
				got[p.Kind]++
				if p.Kind == fsck.Cycle && (number(p.ID) != tt.first || len(p.Others) != 15) {
					t.Errorf("%v, want the cycle from %d on, with 15 others", p, tt.first)
				}
			}
			if got[fsck.Cycle] != tt.count || got[fsck.TooDeep] != tt.deep {
				t.Errorf("found %v, want %d cycles and %d rows too deep", got, tt.count, tt.deep)
			}
			_, summary := w.repair(t, fsck.RepairOptions{Apply: true})
			if after := summary.After; after.Problems[fsck.Cycle] > 0 || after.Total() != after.Problems[fsck.TooDeep]+after.Problems[fsck.PathTooLong] {
				t.Errorf("left: %v", after.Problems)
			}
		})
	}
}
