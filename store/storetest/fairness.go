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
		{"bounded overtaking: no later request of a newcomer passes a waiter that it conflicts with", func(f *fixture) {
			reader := f.actor("reader").takes(s("/a"))
			writer := f.actor("writer").queuesFor(x("/a"))
			var late []*pending
			for range 20 {
				f.actor("late reader").isRefused(s("/a/deep/below"))
				late = append(late, f.actor("late reader").queuesFor(s("/a")))
			}
			reader.release()
			turn := writer.isGranted()
			turn.release()
			for _, p := range late {
				if g := p.isGranted(); g.fence < turn.fence {
					f.Errorf("a late reader has the fence %d, before the writer's %d", g.fence, turn.fence)
				}
			}
		}},
		{"a root X gets its turn under a stream of IX", func(f *fixture) { f.stream(3, 5) }},
		{"scenario 7: waiters that time out again and again don't lengthen anybody's turn", func(f *fixture) {
			holder := f.actor("holder").takes(s("/a"))
			waiter := f.actor("patient writer").queuesFor(x("/a"))
			for range 5 {
				a := f.actor("impatient writer")
				req := a.ask(x("/a"))
				req.Wait = 10 * time.Millisecond
				a.conflict(a.queue(f.ctx, req).fails())
			}
			holder.release()
			waiter.isGranted().release()
			f.actor("next").takes(x("/a"))
		}},
		{"scenario 7: waiters that time out ahead of others let them in", func(f *fixture) {
			f.actor("reader").takes(s("/a"))
			a := f.actor("impatient writer")
			req := a.ask(x("/a"))
			req.Wait = short
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

// stream lets inserters work without a pause, each beginning before the last has ended, and
// requires that a request for the root X is served in their midst before any
// insert that was asked for after the root X had been queued.
func (f *fixture) stream(inserters, after int) {
	var (
		queued  atomic.Bool  // the root X has its place
		enough  atomic.Int64 // inserts that began after that
		granted atomic.Bool
		late    sync.Map // fences of inserts that began when queued was set
		stream  sync.WaitGroup
	)
	started := make(chan struct{}, inserters)
	for i := range inserters {
		stream.Go(func() {
			for n := 0; !granted.Load() || enough.Load() < int64(after); n++ {
				behind := queued.Load()
				a := f.actor("insert")
				req := a.ask(x(fmt.Sprintf("/dir/%d-%d", i, n)))
				req.Wait = long
				g, err := f.store.Acquire(f.ctx, req)
				if err != nil {
					f.Errorf("insert: %v", err)
					return
				}
				if behind {
					enough.Add(1)
					late.Store(g.Fence, true)
				}
				if err := f.store.Release(f.ctx, f.tree, a.owner, req.Grant); err != nil {
					f.Errorf("insert: %v", err)
					return
				}
				select {
				case started <- struct{}{}:
				default:
				}
			}
		})
	}
	defer stream.Wait()
	defer granted.Store(true)
	for range inserters {
		<-started
	}
	// One insert stands still, so that the root X has to wait whatever the others do.
	still := f.actor("slow insert").takes(x("/slow"))
	rename := f.actor("rename of the root").queuesFor(x("/"))
	queued.Store(true)
	still.release()
	turn := rename.isGranted()
	turn.release()
	granted.Store(true)
	stream.Wait()
	late.Range(func(fence, _ any) bool {
		if fence.(uint64) < turn.fence {
			f.Errorf("an insert that was asked for later has the fence %d, before the root's %d", fence, turn.fence)
		}
		return true
	})
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
			req.Wait = 2 * long
			req.Lease = 2 * long
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
