package sqlstore_test

import (
	"context"
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/sqlstore"
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
		far, cutter := d.cutting(t)
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
			before := cutter.messages()
			take(t, s, req)
			taken := cutter.messages()
			release(t, s, req)
			taking, releasing = append(taking, taken-before), append(releasing, cutter.messages()-taken)
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
	far, cutter := d.cutting(t)
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
		before := cutter.messages()
		release(t, here, held)
		for _, w := range waits {
			w.granted()
			release(t, here, w.req)
		}
		return float64(cutter.messages()-before) / float64(waiters)
	}
	few, many := perWaiter(5), perWaiter(100)
	// One is woken, reads and writes what it has seen. The others are asked about every few
	// seconds.
	const most = 5
	if many > most || few > most+1 {
		t.Errorf("a waiter costs %.1f messages where 5 wait, and %.1f where 100 do; want at most %d", few, many, most)
	}
}

// BenchmarkCrowd measures how fast fifty who wait in two processes get a lock one after the other.
func BenchmarkCrowd(b *testing.B) {
	for _, d := range databases(b) {
		b.Run(d.name, func(b *testing.B) {
			stores := [2]*sqlstore.Store{d.store(b), d.store(b)}
			tree := newTree(b)
			const crowd = 50
			var total time.Duration
			for b.Loop() {
				held := ask(tree, x("/a"))
				take(b, stores[0], held)
				var waits [crowd]*pending
				for i := range waits {
					waits[i] = queue(b, stores[i%2], ask(tree, x("/a")))
				}
				began := time.Now()
				release(b, stores[0], held)
				for i, w := range waits {
					w.granted()
					release(b, stores[i%2], w.req)
				}
				total += time.Since(began)
			}
			b.ReportMetric(float64(total.Microseconds())/float64(b.N*crowd), "µs/handover")
		})
	}
}

func BenchmarkAcquireRelease(b *testing.B) {
	for _, d := range databases(b) {
		b.Run(d.name, func(b *testing.B) {
			s := d.store(b)
			tree := newTree(b)
			for b.Loop() {
				req := ask(tree, x("/a/b"))
				take(b, s, req)
				release(b, s, req)
			}
		})
	}
}

// BenchmarkHandOver measures how long it takes from a release in one process to the grant of a
// waiter in another one.
func BenchmarkHandOver(b *testing.B) {
	for _, d := range databases(b) {
		b.Run(d.name, func(b *testing.B) {
			stores := [2]*sqlstore.Store{d.store(b), d.store(b)}
			tree := newTree(b)
			held := ask(tree, x("/a"))
			take(b, stores[0], held)
			var total time.Duration
			for i := 0; b.Loop(); i++ {
				holder, waiter := stores[i%2], stores[(i+1)%2]
				next := ask(tree, x("/a"))
				next.Wait = long
				queued := make(chan struct{})
				next.Waiting = func() { close(queued) }
				granted := make(chan time.Time)
				go func() {
					take(b, waiter, next)
					granted <- time.Now()
				}()
				<-queued
				time.Sleep(20 * time.Millisecond) // somebody works under the lock for a while
				began := time.Now()
				release(b, holder, held)
				total += (<-granted).Sub(began)
				held = next
			}
			b.ReportMetric(float64(total.Microseconds())/float64(b.N), "µs/handover")
			release(b, stores[b.N%2], held)
		})
	}
}
