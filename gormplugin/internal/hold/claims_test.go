package hold

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
		{"as many as are allowed", many("/a/%03d", maxClaims)[:2], "[/a/000 /a/001]"},
		{"too many become what they have in common", many("/a/b/%d/x", maxClaims+1), "[/a/b]"},
		{"few paths whose ancestors are too many do, too", many("/a/%d/b/c", 70), "[/a]"},
		{"even if that is the root", append(many("/a/%d", maxClaims), "/z"), "[/]"},
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
