package storetest

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/pathlock-go/pathlock"
)

// watch observes whom a waiter lets pass while others work beside it.
type watch struct {
	*fixture
	queued atomic.Bool
	over   context.Context // ends when the workers have to
	end    context.CancelFunc

	mu      sync.Mutex
	changed *sync.Cond // when somebody comes, or begins to wait
	workers int
	come    int      // how many have come
	waiting int      // how many of them wait
	late    []uint64 // fences of grants that conflict with the waiter and were asked for after it
}

// now changes what is counted.
func (w *watch) now(change func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change()
	w.changed.Broadcast()
}

// stay returns when one more has come than there were, when all others wait, or when it is over.
func (w *watch) stay() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for before := w.come; w.come == before && w.waiting < w.workers-1 && w.over.Err() == nil; {
		w.changed.Wait()
	}
}

// worker does its n-th piece of work.
type worker func(n int, w *watch) error

// turn takes what conflicts with the waiter, in the name of an owner for whom that one does not
// wait, and releases it when the next one has come: there is no moment at which nobody holds,
// unless those who come have to wait.
func (w *watch) turn(a *actor, req pathlock.Acquisition) error {
	behind := w.queued.Load()
	waited := false
	req.Wait = long
	req.Waiting = func() {
		waited = true
		w.now(func() { w.come++; w.waiting++ })
	}
	g, err := w.store.Acquire(w.ctx, req)
	w.now(func() {
		if waited {
			w.waiting--
		} else {
			w.come++
		}
	})
	if err != nil {
		return err
	}
	if behind {
		w.now(func() {
			if w.late = append(w.late, g.Fence); len(w.late) >= 100 {
				w.end() // the waiter would wait for ever
			}
		})
	}
	w.stay()
	return w.store.Release(w.ctx, w.tree, a.owner, req.Grant)
}

// watch requires that a claim which waits for the slow one is granted before anything that the
// workers ask for after it.
func (f *fixture) watch(workers []worker, slow, claim pathlock.Claim) {
	f.Helper()
	w := &watch{fixture: f, workers: len(workers)}
	w.changed = sync.NewCond(&w.mu)
	w.over, w.end = context.WithCancel(f.ctx)
	context.AfterFunc(w.over, func() { w.now(func() {}) })
	var running sync.WaitGroup
	started := make(chan struct{}, len(workers))
	for _, work := range workers {
		running.Go(func() {
			for n := 0; w.over.Err() == nil; n++ {
				if err := work(n, w); err != nil {
					f.Errorf("work: %v", err)
					return
				}
				signal(started)
			}
		})
	}
	defer running.Wait()
	defer w.end()
	f.receive(started, len(workers))
	still := f.actor("slow one").takes(slow)
	waiter := f.actor("waiter").queuesFor(claim)
	w.queued.Store(true)
	still.release()
	turn := waiter.isGranted()
	turn.release()
	w.end()
	running.Wait()
	passed := 0
	for _, fence := range w.late {
		if fence < turn.fence {
			passed++
		}
	}
	if passed > 0 {
		f.Errorf("%d conflicting grants to owners that the waiter does not wait for passed it, want 0", passed)
	}
}
