package memstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// world is a store in a bubble of virtual time: time passes while everybody waits, and costs
// nothing.
type world struct {
	*testing.T
	store *memstore.Store
	tree  pathlock.Tree
	began time.Time
	asked int
}

func inVirtualTime(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tree, err := pathlock.NewTree("test", "plan")
		if err != nil {
			t.Fatal(err)
		}
		w := &world{T: t, store: memstore.New(), tree: tree, began: time.Now()}
		test(w)
		time.Sleep(24 * time.Hour)
		if trees, err := w.store.Trees(t.Context()); err != nil || len(trees) > 0 {
			t.Errorf("Trees: %v, %v; want none a day later", trees, err)
		}
	})
}

// ask returns a request of an owner for one node, with a lease of 30 s and a wait of an hour.
func (w *world) ask(owner pathlock.Owner, c pathlock.Claim) pathlock.Acquisition {
	w.asked++
	return pathlock.Acquisition{
		Tree: w.tree, Owner: owner, Grant: pathlock.GrantID(fmt.Sprint(w.asked)),
		Claims: pathlock.Normalize(c),
		Lease:  30 * time.Second, Wait: time.Hour, Note: string(owner),
	}
}

// outcome is how and when a request ended.
type outcome struct {
	id    pathlock.GrantID
	grant pathlock.Grant
	err   error
	after time.Duration // since the world began
}

// acquire makes a request in the background and returns when it has ended or waits.
func (w *world) acquire(ctx context.Context, req pathlock.Acquisition) <-chan outcome {
	ended := make(chan outcome, 1)
	go func() {
		g, err := w.store.Acquire(ctx, req)
		ended <- outcome{req.Grant, g, err, time.Since(w.began)}
	}()
	synctest.Wait()
	return ended
}

func (w *world) release(owner pathlock.Owner, id pathlock.GrantID) {
	w.Helper()
	if err := w.store.Release(w.Context(), w.tree, owner, id); err != nil {
		w.Fatalf("%s releases: %v", owner, err)
	}
}

// requireGranted checks when a request was granted.
func (w *world) requireGranted(o outcome, after time.Duration) {
	w.Helper()
	if o.err != nil || o.after != after {
		w.Errorf("ended after %v with %v, want a grant after %v", o.after, o.err, after)
	}
}

func node(path string) pathlock.Path { return pathlock.MustParsePath(path) }

func TestWaiterFollowsRenewals(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		<-w.acquire(w.Context(), w.ask("holder", pathlock.X(node("/a"))))
		waiter := w.acquire(w.Context(), w.ask("waiter", pathlock.X(node("/a"))))
		for range 10 {
			time.Sleep(10 * time.Second)
			lost, err := w.store.Renew(w.Context(), w.tree, []pathlock.Lease{{Owner: "holder", For: 30 * time.Second}})
			if err != nil || len(lost) > 0 {
				w.Fatalf("Renew: lost %v, error %v", lost, err)
			}
		}
		w.requireGranted(<-waiter, 130*time.Second)
	})
}

func TestAlarmOutlivesTheWaiterWhoLeaves(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		<-w.acquire(w.Context(), w.ask("crashed", pathlock.S(node("/a"))))
		ctx, cancel := context.WithTimeout(w.Context(), 10*time.Second)
		defer cancel()
		leaver := w.acquire(ctx, w.ask("leaver", pathlock.X(node("/a"))))
		stayer := w.acquire(w.Context(), w.ask("stayer", pathlock.X(node("/a"))))
		if o := <-leaver; !errors.Is(o.err, context.DeadlineExceeded) || o.after != 10*time.Second {
			w.Errorf("ended after %v with %v, want the deadline after 10s", o.after, o.err)
		}
		w.requireGranted(<-stayer, 30*time.Second)
	})
}

func TestConflictTellsTheTruth(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		<-w.acquire(w.Context(), w.ask("holder", pathlock.X(node("/a"))))
		time.Sleep(3 * time.Second)
		req := w.ask("asker", pathlock.S(node("/a/b")))
		req.Wait = 0
		_, err := w.store.Acquire(w.Context(), req)
		var c *pathlock.ConflictError
		if !errors.As(err, &c) {
			w.Fatalf("error is %v, want a conflict", err)
		}
		want := pathlock.ConflictError{
			Tree: w.tree, Path: node("/a"), Mode: pathlock.ModeIS,
			Blocker: pathlock.Blocker{
				Owner: "holder", Note: "holder", Mode: pathlock.ModeX,
				Since: w.began, Until: w.began.Add(30 * time.Second),
			},
		}
		if *c != want {
			w.Errorf("conflict %+v\nwant     %+v", *c, want)
		}
	})
}

// The intention that everybody has on the gate is not what people are told of.
func TestConflictAtTheGateNamesTheTopmostClaim(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		conflict := func(req pathlock.Acquisition) *pathlock.ConflictError {
			w.Helper()
			req.Wait = 0
			_, err := w.store.Acquire(w.Context(), req)
			var c *pathlock.ConflictError
			if !errors.As(err, &c) {
				w.Fatalf("error is %v, want a conflict", err)
			}
			return c
		}
		gate := w.ask("gate", pathlock.X(pathlock.Root()))
		gate.Gate, gate.Claims = true, nil
		reader := w.ask("reader", pathlock.S(pathlock.Root()))
		<-w.acquire(w.Context(), reader)
		if c := conflict(gate); !c.Gate || c.Mode != pathlock.ModeX || c.Blocker.Mode != pathlock.ModeS || c.Blocker.Gate {
			w.Errorf("of the gate: %+v", c)
		}
		w.release("reader", reader.Grant)
		<-w.acquire(w.Context(), gate)
		if c := conflict(reader); c.Gate || c.Mode != pathlock.ModeS || !c.Path.IsRoot() || c.Blocker.Mode != pathlock.ModeX || !c.Blocker.Gate {
			w.Errorf("because of the gate: %+v", c)
		}
	})
}
