package storetest

import (
	"sync"
	"testing"
)

func fairness() topic {
	return topic{"fairness", []promise{
		{"waiters that time out ahead of others let them in", func(f *fixture) {
			f.actor("reader").takes(s("/a"))
			a := f.actor("impatient writer")
			req := a.ask(x("/a"))
			req.Wait = 3 * f.short
			writer := a.queue(f.ctx, req)
			reader := f.actor("late reader").queuesFor(s("/a"))
			a.conflict(writer.fails())
			reader.isGranted()
		}},
		{"a crowd of waiters on one node is served", func(f *fixture) {
			crowd := 200
			if testing.Short() {
				crowd = 50
			}
			f.crowd(crowd)
		}},
	}}
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
