package memstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Calls that wait for one grant are all told of it, and leave the queue with the last of them.
func TestAcquire_callsThatWaitForOneGrant(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		<-w.acquire(w.Context(), w.ask("holder"))
		req := w.ask("waiter")
		ctx, cancel := context.WithCancel(w.Context())
		cancelled, first, second := w.acquire(ctx, req), w.acquire(w.Context(), req), w.acquire(w.Context(), req)
		cancel()
		if o := <-cancelled; !errors.Is(o.err, context.Canceled) {
			w.Errorf("the cancelled call: %v, want context.Canceled", o.err)
		}
		a, b := <-first, <-second
		w.requireGranted(a, 30*time.Second)
		w.requireGranted(b, 30*time.Second)
		if a.grant != b.grant {
			w.Errorf("grants %v and %v", a.grant, b.grant)
		}
		other := w.ask("other")
		other.Wait = 10 * time.Second
		calls := []<-chan outcome{w.acquire(w.Context(), other), w.acquire(w.Context(), other)}
		for _, call := range calls {
			if o := <-call; !errors.Is(o.err, pathlock.ErrConflict) {
				w.Errorf("a call whose time is up: %v", o.err)
			}
		}
		if waiters := w.snapshot().Waiters; len(waiters) > 0 {
			w.Errorf("waiters %v after the last call, want none", waiters)
		}
	})
}

func TestPanicInWaitingLeavesTheQueue(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		<-w.acquire(w.Context(), w.ask("holder"))
		req := w.ask("waiter")
		req.Waiting = func() { panic("an observer's") }
		func() {
			defer func() {
				if recover() == nil {
					w.Error("the panic is swallowed")
				}
			}()
			_, _ = w.store.Acquire(w.Context(), req)
		}()
		if waiters := w.snapshot().Waiters; len(waiters) > 0 {
			w.Errorf("waiters %v, want none", waiters)
		}
	})
}

// A process that starts after another gives out greater fences, as a database that remembers them
// expects.
func TestFence_growsOverRestarts(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		before := <-w.acquire(w.Context(), w.ask("owner"))
		time.Sleep(time.Millisecond)
		w.store = memstore.New()
		after := <-w.acquire(w.Context(), w.ask("owner"))
		if after.grant.Fence <= before.grant.Fence {
			w.Errorf("fence %d after a restart, %d before it", after.grant.Fence, before.grant.Fence)
		}
	})
}
