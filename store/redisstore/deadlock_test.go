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

// TestDeadlockOfGates: two owners who hold something cannot both wait for the gate.
func TestDeadlockOfGates(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	a, b := ask(tree, x("/a")), ask(tree, x("/b"))
	take(t, store, a)
	take(t, store, b)
	gateOfA, gateOfB := more(a), more(b)
	gateOfA.Gate, gateOfB.Gate = true, true
	first := queue(t, store, gateOfA)
	_, err := store.Acquire(t.Context(), wait(gateOfB))
	requireDeadlock(t, err, a.Owner)
	release(t, store, b)
	first.granted()
	requireConsistent(t, store, tree)
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

// TestDeadlockByHandOver: a grant from the queue may close a cycle if its owner waits for something
// else too. The other request is ended, not the grant.
func TestDeadlockByHandOver(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	holder, b := ask(tree, x("/n")), ask(tree, x("/b"))
	take(t, store, holder)
	take(t, store, b)
	a := ask(tree, x("/n"))
	forN := queue(t, store, a)                 // first for /n
	forB := queue(t, store, more(a, x("/b")))  // and, in another goroutine, for what b holds
	bForN := queue(t, store, more(b, x("/n"))) // b waits for /n, after a
	requireConsistent(t, store, tree)
	release(t, store, holder)
	forN.granted()
	_, err := forB.end()
	requireDeadlock(t, err, b.Owner)
	requireConsistent(t, store, tree)
	release(t, store, forN.req)
	bForN.granted()
}

// TestConversionsOfSeveralRequests: an owner whose first request is granted passes those waiters
// from then on that wait for it, and no others.
func TestConversionsOfSeveralRequests(t *testing.T) {
	for _, awaited := range []bool{false, true} {
		store, tree := newStore(t), newTree(t)
		one, two := ask(tree, x("/one")), ask(tree, ix("/two"))
		take(t, store, one)
		take(t, store, two)
		claims := []pathlock.Claim{x("/two")}
		if awaited {
			claims = append(claims, x("/one"))
		}
		a := ask(tree, x("/one"))
		first := queue(t, store, a)
		between := queue(t, store, ask(tree, claims...))
		second := queue(t, store, more(a, ix("/two"))) // fits, but stands behind the one that wants X
		requireConsistent(t, store, tree)
		release(t, store, one)
		first.granted()
		requireConsistent(t, store, tree)
		if awaited {
			second.granted()
			release(t, store, a)
			release(t, store, two)
			release(t, store, second.req)
			between.granted()
		} else {
			release(t, store, two)
			between.granted()
			release(t, store, between.req)
			second.granted()
		}
		requireConsistent(t, store, tree)
	}
}

// TestOwnRequestsPassEachOther: a request is not kept back by an earlier one of the same owner that
// cannot go on.
func TestOwnRequestsPassEachOther(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	n, m := ask(tree, x("/n")), ask(tree, x("/m"))
	take(t, store, n)
	take(t, store, m)
	both := queue(t, store, ask(tree, x("/n"), x("/m")))
	one := queue(t, store, more(both.req, x("/n")))
	release(t, store, n)
	one.granted()
	requireConsistent(t, store, tree)
	release(t, store, m)
	both.granted()
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
