package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func fairness() topic {
	return topic{"fairness", []promise{
		{"a root X gets its turn under a stream of IX", func(f *fixture) { f.stream(3, 5) }},
		{"scenario 7: waiters that time out ahead of others let them in", func(f *fixture) {
			f.actor("reader").takes(s("/a"))
			a := f.actor("impatient writer")
			req := a.ask(x("/a"))
			req.Wait = 3 * f.short
			writer := a.queue(f.ctx, req)
			reader := f.actor("late reader").queuesFor(s("/a"))
			a.conflict(writer.fails())
			reader.isGranted()
		}},
		{"scenario 16: a crowd of waiters on one node is served", func(f *fixture) {
			crowd := 500
			if testing.Short() {
				crowd = 50
			}
			f.crowd(crowd)
		}},
	}}
}

// stream lets inserters work without a pause, and requires that a request for the root X is served
// in their midst: before every insert that was asked for when the root X had been queued. It
// watches until that many of those have been served as well.
func (f *fixture) stream(inserters, after int) {
	var (
		queued, stop atomic.Bool
		running      sync.WaitGroup
		mu           sync.Mutex
		late         []uint64 // fences of inserts that were asked for when queued was set
	)
	started, passed := make(chan struct{}, inserters), make(chan struct{}, after)
	for i := range inserters {
		running.Go(func() {
			for n := 0; !stop.Load(); n++ {
				behind := queued.Load()
				fence, err := f.insert(fmt.Sprintf("/dir/%d-%d", i, n))
				if err != nil {
					f.Errorf("insert: %v", err)
					return
				}
				signal(started)
				if behind {
					mu.Lock()
					late = append(late, fence)
					mu.Unlock()
					signal(passed)
				}
			}
		})
	}
	defer running.Wait()
	defer stop.Store(true)
	f.receive(started, inserters)

	// One insert stands still, so that the root X has to wait whatever the others do.
	still := f.actor("slow insert").takes(x("/slow"))
	rename := f.actor("rename of the root").queuesFor(x("/"))
	queued.Store(true)
	still.release()
	turn := rename.isGranted()
	turn.release()
	f.receive(passed, after)
	stop.Store(true)
	running.Wait()
	for _, fence := range late {
		if fence < turn.fence {
			f.Errorf("an insert that was asked for later has the fence %d, before the root's %d", fence, turn.fence)
		}
	}
}

// insert takes a new owner's X on a path, lets it go and returns its fence.
func (f *fixture) insert(path string) (uint64, error) {
	a := f.actor("insert")
	req := a.ask(x(path))
	req.Wait = long
	g, err := f.store.Acquire(f.ctx, req)
	if err != nil {
		return 0, err
	}
	return g.Fence, f.store.Release(f.ctx, f.tree, a.owner, req.Grant)
}

// signal sends on events unless enough have been sent already.
func signal(events chan<- struct{}) {
	select {
	case events <- struct{}{}:
	default:
	}
}

// receive waits for n events.
func (f *fixture) receive(events <-chan struct{}, n int) {
	f.Helper()
	for i := range n {
		select {
		case <-events:
		case <-time.After(patience):
			f.Fatalf("%d of %d events in %v", i, n, patience)
		}
	}
}

// crowd lets many owners wait for one node and counts in a variable that the lock alone guards.
func (f *fixture) crowd(size int) {
	holder := f.actor("holder").takes(x("/a"))
	var (
		queued, served sync.WaitGroup
		unguarded      int
	)
	queued.Add(size)
	for range size {
		served.Go(func() {
			a := f.actor("one of many")
			req := a.ask(x("/a"))
			req.Wait, req.Lease = 10*long, 2*long // a busy machine takes its time for so many
			var once sync.Once
			took := func() { once.Do(queued.Done) }
			defer took()
			req.Waiting = took
			if _, err := f.store.Acquire(f.ctx, req); err != nil {
				f.Errorf("one of many: %v", err)
				return
			}
			unguarded++
			if err := f.store.Release(f.ctx, f.tree, a.owner, req.Grant); err != nil {
				f.Errorf("one of many: %v", err)
			}
		})
	}
	queued.Wait()
	if n := len(f.snapshot(f.tree).Waiters); n != size && !f.Failed() {
		f.Errorf("%d wait, want %d", n, size)
	}
	holder.release()
	served.Wait()
	if unguarded != size && !f.Failed() {
		f.Errorf("counted %d, want %d", unguarded, size)
	}
}
