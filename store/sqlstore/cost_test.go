package sqlstore_test

import (
	"context"
	"crypto/rand"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock"
)

func newTree(t testing.TB) pathlock.Tree {
	t.Helper()
	tree, err := pathlock.NewTree("sqlstore", t.Name()+" "+rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// ask returns a request of a new owner that does not wait.
func ask(tree pathlock.Tree, claims ...pathlock.Claim) pathlock.Acquisition {
	return pathlock.Acquisition{
		Tree: tree, Owner: pathlock.Owner(rand.Text()), Grant: pathlock.GrantID(rand.Text()),
		Claims: pathlock.Normalize(claims...), Lease: long, Note: "test",
	}
}

func x(s string) pathlock.Claim { return pathlock.X(pathlock.MustParsePath(s)) }

// take requires that a request is granted.
func take(t testing.TB, s pathlock.Store, req pathlock.Acquisition) pathlock.Grant {
	t.Helper()
	grant, err := s.Acquire(t.Context(), req)
	if err != nil {
		t.Fatalf("acquire %v: %v", req.Claims, err)
	}
	return grant
}

// release requires that a grant can be given back.
func release(t testing.TB, s pathlock.Store, req pathlock.Acquisition) {
	t.Helper()
	if err := s.Release(context.WithoutCancel(t.Context()), req.Tree, req.Owner, req.Grant); err != nil {
		t.Fatalf("release: %v", err)
	}
}

// An acquisition is two round trips, and so is a release.
func TestRoundTrips(t *testing.T) {
	eachServer(t, func(t *testing.T, d database) {
		d.store(t) // creates the tables
		far, proxy := d.behind(t)
		s := far.store(t)
		tree := newTree(t)
		for range 2 { // connects, prepares, and makes the tree's row
			warm := ask(tree, x("/a"))
			take(t, s, warm)
			release(t, s, warm)
		}
		var taking, releasing []int
		for range 10 {
			req := ask(tree, x("/"+rand.Text()))
			before := proxy.Messages()
			take(t, s, req)
			taken := proxy.Messages()
			release(t, s, req)
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
	there := far.store(t)
	perWaiter := func(waiters int) float64 {
		tree := newTree(t)
		held := ask(tree, x("/a"))
		take(t, here, held)
		var waits []*pending
		for range waiters {
			waits = append(waits, queue(t, there, ask(tree, x("/a"))))
		}
		eventually(t, "the store listens", there.Listening)
		before := proxy.Messages()
		release(t, here, held)
		for _, w := range waits {
			w.granted()
			release(t, here, w.req)
		}
		return float64(proxy.Messages()-before) / float64(waiters)
	}
	few, many := perWaiter(5), perWaiter(100)
	// One is woken, reads and writes what it has seen. The others are asked about every few
	// seconds.
	const most = 5
	if many > most || few > most+1 {
		t.Errorf("a waiter costs %.1f messages where 5 wait, and %.1f where 100 do; want at most %d", few, many, most)
	}
}
