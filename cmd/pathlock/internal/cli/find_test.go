package cli

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
)

// Owners that begin alike are listed, and none is chosen. A fence names one of them.
func TestFindNamesOneHolder(t *testing.T) {
	tree, err := pathlock.NewTree("ns", "id")
	if err != nil {
		t.Fatal(err)
	}
	snapshot := pathlock.Snapshot{
		Tree:    tree,
		Holders: []pathlock.Entry{{Owner: "ABCDEF1111", Fence: 11, Note: "first"}, {Owner: "ABCDEF1111", Fence: 12}, {Owner: "GHIJKL3333", Fence: 13}},
		Waiters: []pathlock.Entry{{Owner: "ABCDEF2222", Note: "second"}},
	}
	for name, want := range map[string]pathlock.Owner{"11": "ABCDEF1111", "12": "ABCDEF1111", "GHIJKL": "GHIJKL3333", "GHIJKL…": "GHIJKL3333"} {
		if owner, err := find(snapshot, name); owner != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", name, owner.Short(), err, want)
		}
	}
	for name, says := range map[string][]string{
		"ABCDEF": {"2 are called ABCDEF", `"first"`, `"second"`, "fence 11"},
		"GHIJK":  {"nobody called GHIJK"},
		"0":      {"nobody called 0"},
	} {
		owner, err := find(snapshot, name)
		if owner != "" || err == nil {
			t.Errorf("%s: %s was chosen", name, owner.Short())
			continue
		}
		for _, text := range says {
			if !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "1111") {
				t.Errorf("%s: %v; want something about %s", name, err, text)
			}
		}
	}
}
