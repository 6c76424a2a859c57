package redisstore

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// TestBlockerAmongMany: the one in the way is found and described, however many others hold
// something.
func TestBlockerAmongMany(t *testing.T) {
	const others = 450
	store, tree := newStore(t), newTree(t)
	for i := range others {
		req := ask(tree, x(fmt.Sprintf("/%d", i)))
		req.Lease = long / 2 // the holders are gone through in the order of their leases' ends
		take(t, store, req)
	}
	holder := ask(tree, x("/a"))
	holder.Note = "the last of all"
	began := time.Now()
	take(t, store, holder)
	_, err := store.Acquire(t.Context(), ask(tree, x("/a/b")))
	var conflict *pathlock.ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("error %v, want a conflict", err)
	}
	if conflict.Path != path("/a") || conflict.Mode != pathlock.ModeIX {
		t.Errorf("the conflict is on %v %v, want IX /a", conflict.Mode, conflict.Path)
	}
	b := conflict.Blocker
	if b.Owner != holder.Owner || b.Note != holder.Note || b.Mode != pathlock.ModeX || b.Waiting || b.Gate {
		t.Errorf("the blocker is %+v, want %s with X", b, holder.Owner)
	}
	// The server runs on this machine: its clock is ours.
	if b.Since.Before(began.Add(-time.Second)) || b.Since.After(time.Now().Add(time.Second)) || b.Until.Sub(b.Since) < long || b.Until.Sub(b.Since) > long+time.Second {
		t.Errorf("since %v until %v, want a lease of %v from about %v on", b.Since, b.Until, long, began)
	}
}

// TestBlockerOfAHolderAtTheGate: a holder that asks for the gate is told of the other holder, and
// not of the waiter that has closed the gate and waits for both of them.
func TestBlockerOfAHolderAtTheGate(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	one, other := ask(tree, ix("/a")), ask(tree, ix("/b"))
	take(t, store, one)
	take(t, store, other)
	w := queue(t, store, askGate(tree))
	gate := askGate(tree)
	gate.Owner = one.Owner
	_, err := store.Acquire(t.Context(), gate)
	var conflict *pathlock.ConflictError
	if !errors.As(err, &conflict) || conflict.Blocker.Owner != other.Owner || conflict.Blocker.Waiting {
		t.Errorf("error %v, want a conflict with the other holder", err)
	}
	// Who holds nothing is behind the waiter.
	_, err = store.Acquire(t.Context(), askGate(tree))
	if !errors.As(err, &conflict) || conflict.Blocker.Owner != w.req.Owner || !conflict.Blocker.Waiting {
		t.Errorf("error %v, want a conflict with the waiter", err)
	}
	release(t, store, one)
	release(t, store, other)
	w.granted()
	release(t, store, w.req)
}
