package redisstore

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock"
)

func TestMaxClaims(t *testing.T) {
	store, tree := newStore(t, WithMaxClaims(3)), newTree(t)
	within := ask(tree, x("/a/b")) // with the root and /a, three nodes
	take(t, store, within)
	release(t, store, within)
	_, err := store.Acquire(t.Context(), ask(tree, x("/a/b/c")))
	if !errors.Is(err, pathlock.ErrInvalidRequest) {
		t.Errorf("four nodes: %v, want ErrInvalidRequest", err)
	}
	if left := keysLeft(t, store, tree); len(left) != 1 {
		t.Errorf("left: %v, want the fence alone", left)
	}
}

func TestMaxWaiters(t *testing.T) {
	store, tree := newStore(t, WithMaxWaiters(2)), newTree(t)
	holder := ask(tree, x("/a"))
	take(t, store, holder)
	first, second := queue(t, store, ask(tree, x("/a"))), queue(t, store, askGate(tree))

	for name, req := range map[string]pathlock.Acquisition{
		"a node": ask(tree, x("/a")), "the gate": askGate(tree), "a holder that wants more": more(holder, x("/a"), pathlock.S(path("/b"))),
	} {
		t.Run(name, func(t *testing.T) {
			req.Wait = long
			_, err := store.Acquire(t.Context(), req)
			if req.Owner == holder.Owner {
				if err != nil { // it does not have to wait
					t.Errorf("acquire: %v, want a grant", err)
				}
				release(t, store, req)
				return
			}
			var conflict *pathlock.ConflictError
			if !errors.As(err, &conflict) || !errors.Is(err, pathlock.ErrQueueFull) {
				t.Fatalf("acquire: %v, want a conflict with ErrQueueFull", err)
			}
			if conflict.Blocker.IsZero() {
				t.Error("the conflict names nobody")
			}
			requireConsistent(t, store, tree)
		})
	}
	release(t, store, holder)
	first.granted()
	release(t, store, first.req)
	second.granted()
	release(t, store, second.req)
}
