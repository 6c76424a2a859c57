package testlock

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// Crowd has n requests wait for what somebody holds in the first of the stores, each in the next
// store. serve lets in so many, one after the other.
func Crowd(t testing.TB, stores []pathlock.Store, n int) (serve func(turns int)) {
	t.Helper()
	held, at := Ask(Tree(t), X("/a")), stores[0]
	Take(t, at, held)
	crowd := make([]*Waiting, n)
	for i := range crowd {
		crowd[i] = Queue(t, stores[i%len(stores)], Ask(held.Tree, X("/a")))
	}
	return func(turns int) {
		t.Helper()
		for i, w := range crowd[:turns] {
			Release(t, at, held)
			fence := w.Granted().Fence
			if i > 0 && fence <= crowd[i-1].grant.Fence {
				t.Errorf("the fence %d follows %d", fence, crowd[i-1].grant.Fence)
			}
			held, at = w.Acquisition, stores[i%len(stores)]
		}
		Release(t, at, held)
	}
}

// Full requires that of two stores in each of which one request may wait in a tree, the next one
// neither waits nor keeps anybody from what is free, in whichever process it is. One that would
// never be granted is told that.
func Full(t testing.TB, here, there pathlock.Store) {
	t.Helper()
	tree := Tree(t)
	held, first := Ask(tree, X("/a")), Ask(tree, X("/c"))
	Take(t, here, held)
	Take(t, there, first)
	waits, cycle, full := first, held, Ask(tree, X("/a"))
	waits.Grant, waits.Claims = "waits", held.Claims
	w := Queue(t, there, waits)
	cycle.Grant, cycle.Claims, cycle.Wait = "cycle", first.Claims, Long
	testerr.Is(t, "a deadlock", testerr.Of(here.Acquire(t.Context(), cycle)), pathlock.ErrDeadlock)
	full.Wait = Long
	gate := full
	gate.Gate, gate.Claims = true, nil
	for what, req := range map[string]pathlock.Acquisition{"a request": full, "one for the gate": gate} {
		_, err := here.Acquire(t.Context(), req)
		conflict, ok := errors.AsType[*pathlock.ConflictError](err)
		if !ok || !errors.Is(err, pathlock.ErrQueueFull) || conflict.Blocker.IsZero() {
			t.Errorf("%s too many: %v, want a conflict with ErrQueueFull that names somebody", what, err)
		}
	}
	full.Claims = pathlock.Normalize(X("/b"))
	Take(t, here, full)
	Release(t, there, held)
	w.Granted()
	next := Queue(t, here, Ask(tree, X("/a")))
	Release(t, there, w.Acquisition)
	next.Granted()
	for _, req := range []pathlock.Acquisition{first, full, next.Acquisition} {
		Release(t, here, req)
	}
	Holders(t, there, tree, 0)
}

// Far requires that a store is served whose server is far away, while another one's, which is near,
// keeps writing to the same tree.
func Far(t testing.TB, far, near pathlock.Store) {
	t.Helper()
	held := Ask(Tree(t), X("/near"))
	Take(t, near, held)
	var writing sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer writing.Wait()
	defer stop()
	writing.Go(func() {
		for ctx.Err() == nil {
			_, _ = near.Renew(ctx, held.Tree, []pathlock.Lease{{Owner: held.Owner, For: held.Lease}})
		}
	})
	asked := Ask(held.Tree, X("/far"))
	Take(t, far, asked)
	Release(t, far, asked)
}

// Outlive requires that locks outlive a fault of the servers, with all waiters in their places, one
// in each store. The fault returns what ends it.
func Outlive(t testing.TB, stores []pathlock.Store, fault func() (heal func())) {
	t.Helper()
	kept := Ask(Tree(t), X("/kept"))
	Take(t, stores[0], kept)
	serve := Crowd(t, stores, len(stores))
	heal := fault()
	for _, s := range stores {
		testserver.Await(t, "each client is served", func() bool { return s.Ping(t.Context()) == nil })
	}
	Keeps(t, stores[0], kept)
	serve(len(stores))
	heal()
	Holders(t, stores[0], kept.Tree, 1)
	Release(t, stores[0], kept)
}
