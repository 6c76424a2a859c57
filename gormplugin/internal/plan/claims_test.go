package plan

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock"
)

func TestTopmost(t *testing.T) {
	many := func(format string, n int) (paths []string) {
		for i := range n {
			paths = append(paths, fmt.Sprintf(format, i))
		}
		return paths
	}
	for _, c := range []struct {
		name  string
		paths []string
		want  string
	}{
		{"one", []string{"/a"}, "[/a]"},
		{"what lies below is covered", []string{"/a/b/c", "/a", "/a/b", "/a"}, "[/a]"},
		{"what only looks so is not", []string{"/a", "/a-b", "/ab", "/a/b"}, "[/a /a-b /ab]"},
		{"128 are allowed", many("/a/%03d", 128), fmt.Sprint(many("/a/%03d", 128))},
		{"more become what they have in common", many("/a/%03d", 129), "[/a]"},
		// The root and /a are two, and each path is three nodes more.
		{"200 nodes with those above are allowed", many("/a/%03d/b/c", 66), fmt.Sprint(many("/a/%03d/b/c", 66))},
		{"more nodes become what their paths have in common", append(many("/a/%03d/b/c", 66), "/a/z"), "[/a]"},
		{"even if that is the root", append(many("/a/%d", 128), "/z"), "[/]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var paths []pathlock.Path
			for _, p := range c.paths {
				paths = append(paths, pathlock.MustParsePath(p))
			}
			if got := fmt.Sprint(topmost(paths)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
