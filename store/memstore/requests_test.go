package memstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestCallerMayReuseItsClaims(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		req := w.ask("owner", pathlock.X(node("/a")))
		<-w.acquire(w.Context(), req)
		req.Claims[0] = pathlock.S(node("/elsewhere"))
		snap, err := w.store.Snapshot(w.Context(), w.tree)
		if err != nil {
			w.Fatal(err)
		}
		if got := snap.Holders[0].Claims[0]; got != pathlock.IX(pathlock.Root()) {
			w.Errorf("the first claim became %v", got)
		}
	})
}

func TestCallsThatWaitForOneGrant(t *testing.T) {
	t.Run("are all told of it", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			<-w.acquire(w.Context(), w.ask("holder", pathlock.X(node("/a"))))
			req := w.ask("waiter", pathlock.X(node("/a")))
			first, second := w.acquire(w.Context(), req), w.acquire(w.Context(), req)
			a, b := <-first, <-second
			w.requireGranted(a, 30*time.Second)
			w.requireGranted(b, 30*time.Second)
			if a.grant != b.grant {
				w.Errorf("grants %v and %v", a.grant, b.grant)
			}
			w.release("waiter", req.Grant)
		})
	})
	t.Run("leave the queue with the last of them", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			<-w.acquire(w.Context(), w.ask("holder", pathlock.X(node("/a"))))
			req := w.ask("waiter", pathlock.X(node("/a")))
			req.Wait = 10 * time.Second
			ctx, cancel := context.WithCancel(w.Context())
			first, second := w.acquire(ctx, req), w.acquire(w.Context(), req)
			waiters := func() int {
				snap, err := w.store.Snapshot(w.Context(), w.tree)
				if err != nil {
					w.Fatal(err)
				}
				return len(snap.Waiters)
			}
			cancel()
			if o := <-first; !errors.Is(o.err, context.Canceled) {
				w.Errorf("the first call: %v", o.err)
			}
			if n := waiters(); n != 1 {
				w.Errorf("%d waiters after the first call, want 1", n)
			}
			if o := <-second; !errors.Is(o.err, pathlock.ErrConflict) {
				w.Errorf("the second call: %v", o.err)
			}
			if n := waiters(); n != 0 {
				w.Errorf("%d waiters after the second call, want 0", n)
			}
		})
	})
	t.Run("one that does not wait is refused", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			<-w.acquire(w.Context(), w.ask("holder", pathlock.X(node("/a"))))
			req := w.ask("waiter", pathlock.X(node("/a")))
			waiting := w.acquire(w.Context(), req)
			req.Wait = 0
			if o := <-w.acquire(w.Context(), req); !errors.Is(o.err, pathlock.ErrConflict) {
				w.Errorf("error is %v, want a conflict", o.err)
			}
			w.requireGranted(<-waiting, 30*time.Second)
		})
	})
}

func TestCancelledWaitTellsTheCause(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		<-w.acquire(w.Context(), w.ask("holder", pathlock.X(node("/a"))))
		ctx, cancel := context.WithCancelCause(w.Context())
		waiter := w.acquire(ctx, w.ask("waiter", pathlock.X(node("/a"))))
		reason := errors.New("shutting down")
		cancel(reason)
		if o := <-waiter; !errors.Is(o.err, context.Canceled) || !errors.Is(o.err, reason) {
			w.Errorf("error is %v, want one that matches context.Canceled and the cause", o.err)
		}
		if _, err := w.store.Acquire(ctx, w.ask("late", pathlock.X(node("/b")))); !errors.Is(err, context.Canceled) || !errors.Is(err, reason) {
			w.Errorf("error is %v, want one that matches context.Canceled and the cause", err)
		}
	})
}

func TestPanicInWaitingLeavesTheQueue(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		<-w.acquire(w.Context(), w.ask("holder", pathlock.X(node("/a"))))
		req := w.ask("waiter", pathlock.X(node("/a")))
		req.Waiting = func() { panic("an observer's") }
		func() {
			defer func() {
				if recover() == nil {
					w.Error("the panic is swallowed")
				}
			}()
			_, _ = w.store.Acquire(w.Context(), req)
		}()
		snap, err := w.store.Snapshot(w.Context(), w.tree)
		if err != nil {
			w.Fatal(err)
		}
		if len(snap.Waiters) > 0 {
			w.Errorf("waiters %v, want none", snap.Waiters)
		}
	})
}

// A process that starts after another gives out greater fences, as a database that remembers them
// expects.
func TestFencesGrowOverRestarts(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		before := <-w.acquire(w.Context(), w.ask("owner", pathlock.X(node("/a"))))
		time.Sleep(time.Millisecond)
		w.store = memstore.New()
		after := <-w.acquire(w.Context(), w.ask("owner", pathlock.X(node("/a"))))
		if after.grant.Fence <= before.grant.Fence {
			w.Errorf("fence %d after a restart, %d before it", after.grant.Fence, before.grant.Fence)
		}
	})
}

func TestAnUncontendedRequestAllocatesNothing(t *testing.T) {
	testserver.NotUnderRace(t) // which empties pools at times
	tree, err := pathlock.NewTree("test", "plan")
	if err != nil {
		t.Fatal(err)
	}
	store := memstore.New()
	for _, depth := range []int{1, 50} {
		req := pathlock.Acquisition{
			Tree: tree, Owner: "1", Grant: "1", Lease: time.Hour,
			Claims: pathlock.Normalize(pathlock.X(node(strings.Repeat("/n", depth)))),
		}
		allocations := testing.AllocsPerRun(100, func() {
			_, err := store.Acquire(t.Context(), req)
			if err == nil {
				err = store.Release(t.Context(), tree, "1", "1")
			}
			if err != nil {
				t.Fatal(err)
			}
		})
		if allocations > 0 {
			t.Errorf("%v allocations at depth %d, want none", allocations, depth)
		}
	}
}
