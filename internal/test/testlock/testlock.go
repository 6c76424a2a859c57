// Package testlock asks lock stores for locks, as lockers do, in tests of stores.
package testlock

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// Long is a lease, and a wait, that no test sees the end of: no sign of life wakes a waiter.
const Long = 10 * time.Minute

// Patience is how long a test waits for what has to happen.
const Patience = 30 * time.Second

// Patiently puts a bound of [Patience] before the options of a store, whose option for that is
// timeout: unless a test bounds the store's calls, a busy machine fails none.
func Patiently[O any](timeout func(time.Duration) O, opts []O) []O {
	return append([]O{timeout(Patience)}, opts...)
}

// Tree returns a tree of the test's own.
func Tree(t testing.TB) pathlock.Tree {
	t.Helper()
	tree, err := pathlock.NewTree("test", t.Name()+" "+rand.Text())
	testerr.Must(t, err)
	return tree
}

// X is the claim X on a path.
func X(path string) pathlock.Claim { return pathlock.X(pathlock.MustParsePath(path)) }

// Text writes claims as in "IX /, X /a".
func Text(claims []pathlock.Claim) string {
	parts := make([]string, len(claims))
	for i, c := range claims {
		parts[i] = c.String()
	}
	return strings.Join(parts, ", ")
}

// Ask returns a request of a new owner that does not wait, unless it is queued.
func Ask(tree pathlock.Tree, claims ...pathlock.Claim) pathlock.Acquisition {
	return pathlock.Acquisition{
		Tree: tree, Owner: pathlock.Owner(rand.Text()), Grant: pathlock.GrantID(rand.Text()),
		Claims: pathlock.Normalize(claims...), Lease: Long, Note: "test",
	}
}

// Take requires that a request is granted.
func Take(t testing.TB, s pathlock.Store, req pathlock.Acquisition) pathlock.Grant {
	t.Helper()
	grant, err := s.Acquire(t.Context(), req)
	if err != nil {
		t.Fatalf("acquire %v: %v", few(req.Claims), err)
	}
	return grant
}

// Release requires that a grant can be given back.
func Release(t testing.TB, s pathlock.Store, req pathlock.Acquisition) {
	t.Helper()
	if err := s.Release(context.WithoutCancel(t.Context()), req.Tree, req.Owner, req.Grant); err != nil {
		t.Fatalf("release %v: %v", few(req.Claims), err)
	}
}

// Keeps requires that an owner's lease can be renewed.
func Keeps(t testing.TB, s pathlock.Store, req pathlock.Acquisition) {
	t.Helper()
	lost, err := s.Renew(t.Context(), req.Tree, []pathlock.Lease{{Owner: req.Owner, For: Long}})
	if err != nil || len(lost) > 0 {
		t.Fatalf("a renewal: %v are lost, error %v", lost, err)
	}
}

// Holders requires that so many hold in a tree, and nobody waits.
func Holders(t testing.TB, s pathlock.Store, tree pathlock.Tree, want int) {
	t.Helper()
	got, err := s.Snapshot(context.WithoutCancel(t.Context()), tree)
	if err != nil || len(got.Holders) != want || len(got.Waiters) > 0 {
		t.Fatalf("%d hold and %d wait, error %v; want %d and none: %+v", len(got.Holders), len(got.Waiters), err, want, got)
	}
}

// Waiting is a request that waits.
type Waiting struct {
	pathlock.Acquisition
	t     testing.TB
	over  chan struct{}
	grant pathlock.Grant
	err   error
}

// Queue requires that a request begins to wait. It waits until the end of the test.
func Queue(t testing.TB, s pathlock.Store, req pathlock.Acquisition) *Waiting {
	t.Helper()
	if req.Wait == 0 {
		req.Wait = Long
	}
	begun := make(chan struct{})
	req.Waiting = func() { close(begun) }
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	w := &Waiting{Acquisition: req, t: t, over: make(chan struct{})}
	go func() {
		defer close(w.over)
		w.grant, w.err = s.Acquire(ctx, req)
	}()
	t.Cleanup(func() { cancel(); <-w.over })
	select {
	case <-begun:
	case <-w.over:
		t.Fatalf("acquire %v: fence %d, error %v; want it to wait", few(req.Claims), w.grant.Fence, w.err)
	case <-time.After(Patience):
		t.Fatalf("acquire %v: neither queued nor refused", few(req.Claims))
	}
	return w
}

// Ends waits for the end of the wait, and returns its error.
func (w *Waiting) Ends() error {
	w.t.Helper()
	select {
	case <-w.over:
	case <-time.After(Patience):
		w.t.Fatalf("%v: still waits", few(w.Claims))
	}
	return w.err
}

// Granted requires that the wait ends with a grant.
func (w *Waiting) Granted() pathlock.Grant {
	w.t.Helper()
	if err := w.Ends(); err != nil {
		w.t.Fatalf("%v: %v, want a grant", few(w.Claims), err)
	}
	return w.grant
}

// few returns the first claims of a set, to be shown.
func few(claims []pathlock.Claim) []pathlock.Claim { return claims[:min(len(claims), 4)] }
