package section

import (
	"testing"

	"github.com/pathlock-go/pathlock"
)

// The leaves have the depth and the shared nodes that the sections say.
func TestShapesOfTrees(t *testing.T) {
	if got, want := leafAt(3, "case-1").String(), "/suite-1/suite-2/case-1"; got != want {
		t.Errorf("the leaf at depth 3 is %s, want %s", got, want)
	}
	for _, depth := range depths {
		for what, p := range map[string]pathlock.Path{"leafAt": leafAt(depth, "x"), "spread": spread(77, depth, 2), "apart": apart(77, depth)} {
			if p.Depth() != depth {
				t.Errorf("%s gives depth %d, want %d: %s", what, p.Depth(), depth, p)
			}
		}
	}
	for _, tt := range []struct {
		name string
		at   func(i int) pathlock.Path
		n    int
		// nodes that one or more of n leaves have, the root included
		nodes int
	}{
		{"only the root is shared", func(i int) pathlock.Path { return apart(i, 4) }, 8, 1 + 8*4},
		{"two children each", func(i int) pathlock.Path { return spread(i, 4, 2) }, 8, 1 + 1 + 2 + 4 + 8},
		{"ten children each", func(i int) pathlock.Path { return spread(i, 4, 10) }, 100, 1 + 1 + 1 + 10 + 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			nodes := make(map[pathlock.Path]bool)
			leaves := make(map[pathlock.Path]bool)
			for i := range tt.n {
				p := tt.at(i)
				leaves[p], nodes[p] = true, true
				for a := range p.Ancestors() {
					nodes[a] = true
				}
			}
			if len(leaves) != tt.n || len(nodes) != tt.nodes {
				t.Errorf("%d leaves with %d nodes, want %d with %d", len(leaves), len(nodes), tt.n, tt.nodes)
			}
		})
	}
}
