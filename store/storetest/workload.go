package storetest

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pathlock-go/pathlock"
)

func workload() topic {
	return topic{"workload", []promise{
		{"many owners count on shared nodes: no writer meets another, no reader meets a writer", func(f *fixture) {
			const owners, rounds, budget = 8, 60, 2 * time.Second
			var nodes [4]register
			end := time.Now().Add(budget)
			var all sync.WaitGroup
			for i := range owners {
				all.Go(func() {
					for n := 0; n < rounds && (n == 0 || time.Now().Before(end)); n++ {
						f.work(&nodes, i, n)
					}
				})
			}
			all.Wait()
		}},
	}}
}

// registers are the nodes. Sorted as strings they come in another order than by their components:
// those who lock them one by one in that order may deadlock.
var registers = [...]string{"/a-b/c", "/a/b", "/a b", "/a/c/d"}

// register is what one node guards: a counter that nothing but the locks guards, as in etcd's lock
// workload, whose users notice when they are not alone.
type register struct {
	users atomic.Int32 // writers count as crowd, readers as one
	count atomic.Int64
}

// crowd is what a writer adds to the users of a register: more than all readers together.
const crowd = 1000

// work takes one or two nodes, reads or writes what they guard, and lets them go.
func (f *fixture) work(nodes *[len(registers)]register, worker, n int) {
	first, second := (worker+n)%len(nodes), (worker*3+n*7)%len(nodes)
	mode := pathlock.ModeX
	if (worker+n)%3 == 0 {
		mode = pathlock.ModeS
	}
	set, touched := claims{claim(mode, registers[first])}, []int{first}
	if second != first && n%2 == 0 {
		set, touched = append(set, claim(mode, registers[second])), append(touched, second)
	}
	a := f.actor("worker")
	req := a.ask(set...)
	req.Wait = long
	if _, err := f.store.Acquire(f.ctx, req); err != nil {
		f.Errorf("%v: %v", set, err)
		return
	}
	for _, i := range touched {
		nodes[i].use(f, mode == pathlock.ModeX)
	}
	if err := f.store.Release(f.ctx, f.tree, a.owner, req.Grant); err != nil {
		f.Errorf("%v: %v", set, err)
	}
}

// use reads or writes the register and counts whom it meets.
func (r *register) use(f *fixture, writes bool) {
	weight, count := int32(1), r.count.Load()
	if writes {
		weight = crowd
		count++
	}
	if users := r.users.Add(weight); users > weight && max(users, weight) >= crowd {
		f.Errorf("there are %d writers and %d readers at once", users/crowd, users%crowd)
	}
	if writes {
		r.count.Store(count)
	}
	for range 20 {
		runtime.Gosched() // or else nobody comes in the meantime, on few processors
	}
	if after := r.count.Load(); after != count {
		f.Errorf("the register changed from %d to %d under a lock", count, after)
	}
	r.users.Add(-weight)
}
