package memstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestAcquisitionsThatMakeNoSense(t *testing.T) {
	tree, err := pathlock.NewTree("test", "plan")
	if err != nil {
		t.Fatal(err)
	}
	sound := pathlock.Acquisition{
		Tree: tree, Owner: "owner", Grant: "grant",
		Claims: pathlock.Normalize(pathlock.X(pathlock.Root())), Lease: time.Minute,
	}
	if _, err := memstore.New().Acquire(t.Context(), sound); err != nil {
		t.Fatalf("the request that all others derive from: %v", err)
	}
	for name, spoil := range map[string]func(*pathlock.Acquisition){
		"no tree":              func(r *pathlock.Acquisition) { r.Tree = pathlock.Tree{} },
		"no owner":             func(r *pathlock.Acquisition) { r.Owner = "" },
		"no grant id":          func(r *pathlock.Acquisition) { r.Grant = "" },
		"no lease":             func(r *pathlock.Acquisition) { r.Lease = 0 },
		"negative lease":       func(r *pathlock.Acquisition) { r.Lease = -time.Second },
		"nothing asked for":    func(r *pathlock.Acquisition) { r.Claims = nil },
		"no mode":              func(r *pathlock.Acquisition) { r.Claims = []pathlock.Claim{{}} },
		"mode out of range":    func(r *pathlock.Acquisition) { r.Claims = []pathlock.Claim{{Mode: 200}} },
		"gate and a bad claim": func(r *pathlock.Acquisition) { r.Gate, r.Claims = true, []pathlock.Claim{{}} },
	} {
		t.Run(name, func(t *testing.T) {
			store, req := memstore.New(), sound
			spoil(&req)
			if _, err := store.Acquire(t.Context(), req); !errors.Is(err, pathlock.ErrInvalidRequest) {
				t.Errorf("error is %v, want ErrInvalidRequest", err)
			}
			if trees, err := store.Trees(t.Context()); err != nil || len(trees) > 0 {
				t.Errorf("Trees: %v, %v; want none", trees, err)
			}
		})
	}
}

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

// An owner may ask for several things at once: each grant makes it a holder for the rest.
func TestSeveralRequestsOfOneOwner(t *testing.T) {
	t.Run("a grant lets the others pass those who wait for it", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			holder := w.ask("holder", pathlock.X(node("/a")))
			<-w.acquire(w.Context(), holder)
			reader := w.ask("reader", pathlock.S(node("/b")))
			<-w.acquire(w.Context(), reader)
			first := w.acquire(w.Context(), w.ask("owner", pathlock.X(node("/a"))))
			req := w.ask("writer", pathlock.X(node("/b")))
			req.Claims = pathlock.Normalize(pathlock.X(node("/a")), pathlock.X(node("/b")))
			writer := w.acquire(w.Context(), req)
			second := w.acquire(w.Context(), w.ask("owner", pathlock.S(node("/b"))))
			time.Sleep(time.Second)
			w.release("holder", holder.Grant)
			w.requireGranted(<-first, time.Second)
			w.requireGranted(<-second, time.Second)
			w.requireGranted(<-writer, 31*time.Second)
		})
	})
	t.Run("a grant that closes a cycle ends the other's wait", func(t *testing.T) {
		inVirtualTime(t, func(w *world) {
			first := w.ask("first", pathlock.X(node("/a")))
			<-w.acquire(w.Context(), first)
			second := w.ask("second", pathlock.X(node("/b")))
			<-w.acquire(w.Context(), second)
			// The owner waits for both; the second waits for the first and then, after the grant,
			// for the owner, who still waits for the second.
			granted := w.acquire(w.Context(), w.ask("owner", pathlock.X(node("/a"))))
			closing := w.acquire(w.Context(), w.ask("owner", pathlock.X(node("/b"))))
			upgrade := w.acquire(w.Context(), w.ask("second", pathlock.X(node("/a"))))
			time.Sleep(time.Second)
			w.release("first", first.Grant)
			o := <-granted
			w.requireGranted(o, time.Second)
			if o := <-closing; !errors.Is(o.err, pathlock.ErrDeadlock) || o.after != time.Second {
				w.Errorf("ended after %v with %v, want a deadlock after 1s", o.after, o.err)
			}
			w.release("owner", o.id)
			w.requireGranted(<-upgrade, time.Second)
		})
	})
}

func TestOwnerThatLosesItsLeaseStopsWaiting(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		brief := w.ask("owner", pathlock.X(node("/a")))
		brief.Lease = 5 * time.Second
		<-w.acquire(w.Context(), brief)
		<-w.acquire(w.Context(), w.ask("holder", pathlock.X(node("/b"))))
		o := <-w.acquire(w.Context(), w.ask("owner", pathlock.X(node("/b"))))
		if !errors.Is(o.err, pathlock.ErrLost) || o.after != 5*time.Second {
			w.Errorf("ended after %v with %v, want ErrLost after 5s", o.after, o.err)
		}
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
