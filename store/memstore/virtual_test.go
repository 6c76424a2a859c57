package memstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// world is a store in a bubble of virtual time: time passes while everybody waits, and costs
// nothing.
type world struct {
	*testing.T
	store pathlock.Store
	tree  pathlock.Tree
	began time.Time
	asked int
}

func inVirtualTime(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tree, err := pathlock.NewTree("test", "plan")
		testerr.Must(t, err)
		w := &world{T: t, store: memstore.New(), tree: tree, began: time.Now()}
		test(w)
		time.Sleep(24 * time.Hour)
		if trees, err := w.store.Trees(t.Context()); err != nil || len(trees) > 0 {
			t.Errorf("Trees: %v, %v; want none a day later", trees, err)
		}
	})
}

// ask returns a request of an owner for /a, with a lease of 30 s and a wait of an hour.
func (w *world) ask(owner pathlock.Owner) pathlock.Acquisition {
	w.asked++
	return pathlock.Acquisition{
		Tree: w.tree, Owner: owner, Grant: pathlock.GrantID(fmt.Sprint(w.asked)),
		Claims: pathlock.Normalize(pathlock.X(pathlock.MustParsePath("/a"))),
		Lease:  30 * time.Second, Wait: time.Hour, Note: string(owner),
	}
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
		g, err := w.store.Acquire(ctx, req)
		ended <- outcome{g, err, time.Since(w.began)}
	}()
	synctest.Wait()
	return ended
}

// requireGranted checks when a request was granted.
func (w *world) requireGranted(o outcome, after time.Duration) {
	w.Helper()
	if o.err != nil || o.after != after {
		w.Errorf("ended after %v with %v, want a grant after %v", o.after, o.err, after)
	}
}

func (w *world) snapshot() pathlock.Snapshot {
	w.Helper()
	snap, err := w.store.Snapshot(w.Context(), w.tree)
	testerr.Must(w, err)
	return snap
}

func TestWaiterFollowsRenewals(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		<-w.acquire(w.Context(), w.ask("holder"))
		waiter := w.acquire(w.Context(), w.ask("waiter"))
		for range 10 {
			time.Sleep(10 * time.Second)
			testerr.Must(w, testerr.Of(w.store.Renew(w.Context(), w.tree, []pathlock.Lease{{Owner: "holder", For: 30 * time.Second}})))
		}
		w.requireGranted(<-waiter, 130*time.Second)
	})
}

func TestAlarmOutlivesTheWaiterWhoLeaves(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		<-w.acquire(w.Context(), w.ask("crashed"))
		ctx, cancel := context.WithTimeout(w.Context(), 10*time.Second)
		defer cancel()
		leaver := w.acquire(ctx, w.ask("leaver"))
		stayer := w.acquire(w.Context(), w.ask("stayer"))
		shown := w.snapshot().Waiters[0].Until
		if o := <-leaver; !errors.Is(o.err, context.DeadlineExceeded) || o.after != 10*time.Second || shown.Sub(w.began) != o.after {
			w.Errorf("ended after %v with %v, want the deadline after 10s", o.after, o.err)
		}
		w.requireGranted(<-stayer, 30*time.Second)
	})
}
