package memstore_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/storetest"
)

// world is a store in a bubble of virtual time: time passes while everybody waits.
type world struct {
	*testing.T
	pathlock.Store
	tree  pathlock.Tree
	began time.Time
}

// lease is that of requests. They wait for an hour.
const lease = 30 * time.Second

// inVirtualTime runs a test while somebody holds /a, who does not come back. A day later there is
// nothing left.
func inVirtualTime(t *testing.T, test func(w *world, holder pathlock.Acquisition)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t, memstore.New(), testlock.Tree(t), time.Now()}
		holder := w.ask()
		testlock.Take(t, w, holder)
		test(w, holder)
		time.Sleep(24 * time.Hour)
		if trees, err := w.Trees(t.Context()); err != nil || len(trees) > 0 {
			t.Errorf("Trees: %v, %v; want none a day later", trees, err)
		}
	})
}

func (w *world) ask() pathlock.Acquisition {
	req := testlock.Ask(w.tree, testlock.X("/a"))
	req.Lease, req.Wait = lease, time.Hour
	return req
}

// outcome is how and when a request ended.
type outcome struct {
	grant pathlock.Grant
	err   error
	after time.Duration // since the world began
}

// acquire makes a request in the background and returns when it has ended or waits.
func (w *world) acquire(ctx context.Context, req pathlock.Acquisition) <-chan outcome {
	ended := make(chan outcome, 1)
	go func() {
		g, err := w.Acquire(ctx, req)
		ended <- outcome{g, err, time.Since(w.began)}
	}()
	synctest.Wait()
	return ended
}

// requireWaiters checks how many wait, and returns them.
func (w *world) requireWaiters(n int) []pathlock.Entry {
	w.Helper()
	snap, err := w.Snapshot(w.Context(), w.tree)
	if err != nil || len(snap.Waiters) != n {
		w.Fatalf("the waiters are %v, error %v; want %d", snap.Waiters, err, n)
	}
	return snap.Waiters
}

// All calls that wait for one grant learn of it, and the last of them leaves the queue.
func TestAcquire_callsThatWaitForOneGrant(t *testing.T) {
	inVirtualTime(t, func(w *world, _ pathlock.Acquisition) {
		req := w.ask()
		ctx, cancel := context.WithCancel(w.Context())
		cancelled, first, second := w.acquire(ctx, req), w.acquire(w.Context(), req), w.acquire(w.Context(), req)
		cancel()
		testerr.Is(t, "the cancelled call", (<-cancelled).err, context.Canceled)
		if a, b := <-first, <-second; a != b || a.err != nil || a.after != lease {
			t.Errorf("%+v and %+v, want one grant after %v", a, b, lease)
		}
		other := w.ask()
		other.Wait = 10 * time.Second
		first, second = w.acquire(w.Context(), other), w.acquire(w.Context(), other)
		testerr.Is(t, "calls whose time is up", errors.Join((<-first).err, (<-second).err), pathlock.ErrConflict)
		w.requireWaiters(0)
	})
}

func TestAcquire_panicInWaitingLeavesTheQueue(t *testing.T) {
	inVirtualTime(t, func(w *world, _ pathlock.Acquisition) {
		req := w.ask()
		req.Waiting = func() { panic("an observer's") }
		defer func() {
			if recover() == nil {
				t.Error("the panic is swallowed")
			}
			w.requireWaiters(0)
		}()
		_, _ = w.Acquire(w.Context(), req)
	})
}

// The alarm for the end of a lease stays when a waiter leaves, and follows renewals.
func TestAlarm(t *testing.T) {
	inVirtualTime(t, func(w *world, holder pathlock.Acquisition) {
		ctx, cancel := context.WithTimeout(w.Context(), 10*time.Second)
		defer cancel()
		leaver, stayer := w.acquire(ctx, w.ask()), w.acquire(w.Context(), w.ask())
		shown := w.requireWaiters(2)[0].Until
		if o := <-leaver; !errors.Is(o.err, context.DeadlineExceeded) || o.after != 10*time.Second || shown.Sub(w.began) != o.after {
			t.Errorf("%+v, want the deadline after 10s, which was shown as %v", o, shown.Sub(w.began))
		}
		for range 10 {
			time.Sleep(10 * time.Second)
			testerr.Must(t, testerr.Of(w.Renew(w.Context(), w.tree, []pathlock.Lease{{Owner: holder.Owner, For: lease}})))
		}
		if o := <-stayer; o.err != nil || o.after != 110*time.Second+lease {
			t.Errorf("%+v, want a grant when the last renewal has ended", o)
		}
	})
}

// A process that starts after another gives out greater fences, as a database that remembers them
// expects.
func TestFence_growsOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		req := testlock.Ask(testlock.Tree(t), testlock.X("/a"))
		before := testlock.Take(t, memstore.New(), req)
		time.Sleep(time.Millisecond)
		if after := testlock.Take(t, memstore.New(), req); after.Fence <= before.Fence {
			t.Errorf("fence %d after a restart, %d before it", after.Fence, before.Fence)
		}
	})
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	storetest.Run(t, func(*testing.T) pathlock.Store { return memstore.New() }, storetest.Virtual())
}
