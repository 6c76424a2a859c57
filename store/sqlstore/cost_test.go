package sqlstore_test

import (
	"crypto/rand"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testlock"
)

// An acquisition is two round trips, and so is a release.
func TestRoundTrips(t *testing.T) {
	eachServer(t, func(t *testing.T, d database) {
		d.store(t) // creates the tables
		far, proxy := d.behind(t, 0)
		s := far.store(t)
		tree := testlock.Tree(t)
		for range 2 { // connects, and makes the tree's row
			warm := testlock.Ask(tree, x("/a"))
			testlock.Take(t, s, warm)
			testlock.Release(t, s, warm)
		}
		var taking, releasing []int
		for range 10 {
			req := testlock.Ask(tree, x("/"+rand.Text()))
			before := proxy.Messages()
			testlock.Take(t, s, req)
			taken := proxy.Messages()
			testlock.Release(t, s, req)
			taking, releasing = append(taking, taken-before), append(releasing, proxy.Messages()-taken)
		}
		// A look of the store's own may come between.
		if n := slices.Min(taking); n != 2 {
			t.Errorf("an acquisition takes %d round trips, want 2", n)
		}
		if n := slices.Min(releasing); n != 2 {
			t.Errorf("a release takes %d round trips, want 2", n)
		}
	})
}
