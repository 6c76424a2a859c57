package storetest

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pathlock-go/pathlock"
)

func fairness() topic {
	return topic{"fairness", []promise{
		{"a crowd of readers and writers on one node is served: no writer meets another, or a reader", func(f *fixture) {
			crowd := 200
			if testing.Short() {
				crowd = 50
			}
			f.crowd(crowd)
		}},
	}}
}

// crowd lets many owners wait for one node, every third of them to read. As in etcd's lock
// workload, those who hold it notice when they are not alone.
func (f *fixture) crowd(size int) {
	const writer = 1_000_000 // counts more than all readers together
	holder := f.actor("holder").takes(x("/a"))
	var queued, served sync.WaitGroup
	var users, count atomic.Int64
	queued.Add(size)
	for i := range size {
		served.Go(func() {
			a, mode, weight := f.actor("one of many"), pathlock.ModeX, int64(writer)
			if i%3 == 0 {
				mode, weight = pathlock.ModeS, 1
			}
			req := a.ask(claim(mode, "/a"))
			req.Wait, req.Lease = 10*long, 2*long // a busy machine takes its time for so many
			var once sync.Once
			took := func() { once.Do(queued.Done) }
			defer took()
			req.Waiting = took
			if _, err := f.store.Acquire(f.ctx, req); err != nil {
				f.Errorf("one of many: %v", err)
				return
			}
			if n := users.Add(weight); n > writer {
				f.Errorf("there are %d writers and %d readers at once", n/writer, n%writer)
			}
			count.Add(1)
			for range 20 {
				runtime.Gosched() // or else nobody comes in the meantime, on few processors
			}
			users.Add(-weight)
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
	if n := count.Load(); n != int64(size) && !f.Failed() {
		f.Errorf("%d were served, want %d", n, size)
	}
}
