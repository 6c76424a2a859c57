package quorum_test

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/quorum"
)

// generous is a time to answer that no member exceeds on a busy machine.
const generous = 10 * time.Second

// memstores returns n new stores.
func memstores(n int) []pathlock.Store {
	stores := make([]pathlock.Store, n)
	for i := range stores {
		stores[i] = memstore.New()
	}
	return stores
}

// newQuorum returns a quorum that is closed at the end of the test.
func newQuorum(t testing.TB, stores []pathlock.Store, opts ...quorum.Option) *quorum.Store {
	t.Helper()
	s, err := quorum.New(stores, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*generous)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("closing the quorum: %v", err)
		}
	})
	return s
}

// process is one of several processes with the same members, and links of its own to them.
type process struct {
	store *quorum.Store
	links []*link
}

func newProcesses(t *testing.T, n int, stores []pathlock.Store, opts ...quorum.Option) []process {
	t.Helper()
	processes := make([]process, n)
	for i := range processes {
		links, members := links(stores)
		processes[i] = process{newQuorum(t, members, opts...), links}
	}
	t.Cleanup(func() { heal(processes) })
	return processes
}

// heal lets all links of all processes work again.
func heal(processes []process) {
	for _, p := range processes {
		for _, l := range p.links {
			l.set(open)
		}
	}
}

// newTree returns a tree that nobody else uses.
func newTree(t testing.TB) pathlock.Tree {
	t.Helper()
	tree, err := pathlock.NewTree("quorum", t.Name()+" "+rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// ask returns a request of a new owner that does not wait.
func ask(tree pathlock.Tree, claims ...pathlock.Claim) pathlock.Acquisition {
	return pathlock.Acquisition{
		Tree:   tree,
		Owner:  pathlock.Owner(rand.Text()),
		Grant:  pathlock.GrantID(rand.Text()),
		Claims: pathlock.Normalize(claims...),
		Lease:  time.Minute,
		Note:   "test",
	}
}

// x claims a path exclusively.
func x(path string) pathlock.Claim { return pathlock.X(pathlock.MustParsePath(path)) }

// take requires that a request is granted.
func take(t testing.TB, s pathlock.Store, req pathlock.Acquisition) pathlock.Grant {
	t.Helper()
	g, err := s.Acquire(t.Context(), req)
	if err != nil {
		t.Fatalf("%v: %v, want a grant", req.Claims, err)
	}
	return g
}

// release requires that a grant can be given back.
func release(t testing.TB, s pathlock.Store, req pathlock.Acquisition) {
	t.Helper()
	if err := s.Release(t.Context(), req.Tree, req.Owner, req.Grant); err != nil {
		t.Fatalf("release: %v", err)
	}
}

// renew renews the lease of a request's owner.
func renew(t testing.TB, s pathlock.Store, req pathlock.Acquisition) ([]pathlock.Owner, error) {
	t.Helper()
	return s.Renew(t.Context(), req.Tree, []pathlock.Lease{{Owner: req.Owner, For: time.Minute}})
}

// holders returns how many grants there are in a tree.
func holders(t testing.TB, s pathlock.Store, tree pathlock.Tree) int {
	t.Helper()
	snap, err := s.Snapshot(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	return len(snap.Holders)
}

// waiter is a request that waits.
type waiter struct {
	t    testing.TB
	req  pathlock.Acquisition
	done chan struct{}
	err  error
}

// queue requires that a request begins to wait.
func queue(t testing.TB, s pathlock.Store, req pathlock.Acquisition) *waiter {
	t.Helper()
	begun := make(chan struct{})
	req.Wait, req.Waiting = time.Minute, func() { close(begun) } // a second call panics
	w := &waiter{t: t, req: req, done: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	go func() {
		defer close(w.done)
		_, w.err = s.Acquire(ctx, req)
	}()
	t.Cleanup(func() { cancel(); <-w.done })
	select {
	case <-begun:
	case <-w.done:
		t.Fatalf("%v: %v, want it to wait", req.Claims, w.err)
	case <-time.After(generous):
		t.Fatalf("%v: it is not queued", req.Claims)
	}
	return w
}

// granted requires that the wait ends with a grant.
func (w *waiter) granted() {
	w.t.Helper()
	select {
	case <-w.done:
	case <-time.After(2 * generous):
		w.t.Fatalf("%v: still waits", w.req.Claims)
	}
	if w.err != nil {
		w.t.Fatalf("%v: %v, want a grant", w.req.Claims, w.err)
	}
}
