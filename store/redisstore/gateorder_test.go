package redisstore

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock"
)

// TestGateNotStarved: the gate gets its turn under a stream of requests that go on well beside each
// other.
func TestGateNotStarved(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	current := ask(tree, ix("/"))
	take(t, store, current)
	var gate *waiting
	for i := range 20 {
		next := ask(tree, ix("/"))
		if i == 5 {
			gate = queue(t, store, askGate(tree))
		}
		if gate == nil {
			take(t, store, next)
			release(t, store, current)
			current = next
			continue
		}
		if _, err := store.Acquire(t.Context(), next); !errors.Is(err, pathlock.ErrConflict) {
			t.Fatalf("request %d passed the waiting gate: %v", i, err)
		}
	}
	release(t, store, current)
	gate.granted()
	release(t, store, gate.req)
}

// TestGateKeepsItsTurn: who asks for the gate behind a waiter is not overtaken by those who come
// later, when that waiter is let in.
func TestGateKeepsItsTurn(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	holder := ask(tree, x("/a"))
	take(t, store, holder)
	first := queue(t, store, ask(tree, x("/a")))
	gate := queue(t, store, askGate(tree))
	late := queue(t, store, ask(tree, x("/b")))

	release(t, store, holder)
	one := first.granted()
	release(t, store, first.req)
	two := gate.granted()
	release(t, store, gate.req)
	three := late.granted()
	if one.Fence >= two.Fence || two.Fence >= three.Fence {
		t.Errorf("fences %d, %d, %d; want them in the order of arrival", one.Fence, two.Fence, three.Fence)
	}
	release(t, store, late.req)
}
