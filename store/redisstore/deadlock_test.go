package redisstore

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock"
)

// wait is a request that may wait.
func wait(req pathlock.Acquisition) pathlock.Acquisition {
	req.Wait = long
	return req
}

// requireDeadlock requires an error that names the other owner.
func requireDeadlock(t *testing.T, err error, other pathlock.Owner) {
	t.Helper()
	var deadlock *pathlock.DeadlockError
	if !errors.As(err, &deadlock) || deadlock.Blocker.Owner != other {
		t.Fatalf("error %v, want a deadlock with owner %s", err, other.Short())
	}
}

// TestNoDeadlockWithClosingGate: an owner that wants the gate while another, who holds nothing yet,
// has its key and waits for this owner to end, passes the other, which closes the gate again
// afterwards.
func TestNoDeadlockWithClosingGate(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	a := ask(tree, x("/a"))
	take(t, store, a)
	gate := queue(t, store, askGate(tree))
	gateOfA := more(a)
	gateOfA.Gate = true
	take(t, store, wait(gateOfA))
	further := more(a, x("/b"))
	take(t, store, further)
	requireConsistent(t, store, tree)
	release(t, store, gateOfA)
	if _, err := store.Acquire(t.Context(), ask(tree, x("/c"))); !errors.Is(err, pathlock.ErrConflict) {
		t.Errorf("a newcomer before the closing gate: %v, want a conflict", err)
	}
	release(t, store, further)
	release(t, store, a)
	gate.granted()
	requireConsistent(t, store, tree)
}

// TestFencesAreExact: large fences lose no digit.
func TestFencesAreExact(t *testing.T) {
	const last = 8_999_999_999_999_999 // beyond any clock, and not a round number
	store, tree := newStore(t), newTree(t)
	if err := store.client.Set(t.Context(), store.keys.of(tree)[3], last, long).Err(); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(3) {
		req := ask(tree, x("/a"))
		if grant := take(t, store, req); grant.Fence != last+1+i {
			t.Errorf("fence %d, want %d", grant.Fence, last+1+i)
		}
		release(t, store, req)
	}
}
