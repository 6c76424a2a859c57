package sqlstore_test

import (
	"crypto/rand"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// An acquisition is two round trips, and so is a release.
func TestRoundTrips(t *testing.T) {
	eachServer(t, func(t *testing.T, d database) {
		d.store(t) // creates the tables
		far, proxy := d.behind(t)
		s := far.store(t)
		tree := testlock.Tree(t)
		for range 2 { // connects, prepares, and makes the tree's row
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

// A release wakes only the one whom it lets in: what a process sends does not depend on how many
// wait there.
func TestNoHerd(t *testing.T) {
	d := scratchPostgres(t)
	here := d.store(t)
	far, proxy := d.behind(t)
	there := far.store(t, sqlstore.WithPollListening(testlock.Long)) // looks that time alone causes are not counted
	perWaiter := func(waiters int) float64 {
		tree := testlock.Tree(t)
		held := testlock.Ask(tree, x("/a"))
		testlock.Take(t, here, held)
		var waits []*testlock.Waiting
		for range waiters {
			waits = append(waits, testlock.Queue(t, there, testlock.Ask(tree, x("/a"))))
		}
		testserver.Await(t, "the store listens", there.Listening)
		before := proxy.Messages()
		testlock.Release(t, here, held)
		for _, w := range waits {
			w.Granted()
			testlock.Release(t, here, w.Acquisition)
		}
		return float64(proxy.Messages()-before) / float64(waiters)
	}
	few, many := perWaiter(5), perWaiter(100)
	// One is woken, reads and writes what it has seen.
	const most = 10 // a herd would send many times as much
	if many > most || few > most {
		t.Errorf("a waiter costs %.1f messages where 5 wait, and %.1f where 100 do; want at most %d", few, many, most)
	}
}
