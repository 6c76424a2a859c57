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
			w := workbench{fixture: f, nodes: make([]register, len(registers))}
			w.run(8, 2*time.Second)
		}},
	}}
}

// registers are the nodes. Sorted as strings they come in another order than by their components:
// those who lock them one by one in that order may deadlock.
var registers = []string{"/a-b/c", "/a/b", "/a b", "/a/c/d"}

// workbench is etcd's lock workload on several nodes: counters that nothing but the locks guards,
// whose users notice when they are not alone.
type workbench struct {
	*fixture
	nodes []register
	ops   atomic.Int64
}

// register is what one node guards.
type register struct {
	users atomic.Int32 // writers count as crowd, readers as one
	count atomic.Int64
}

// crowd is what a writer adds to the users of a register: more than all readers together.
const crowd = 1000

func (w *workbench) run(owners int, budget time.Duration) {
	const rounds = 60
	end := time.Now().Add(budget)
	var all sync.WaitGroup
	for i := range owners {
		all.Go(func() {
			for n := 0; n < rounds && time.Now().Before(end); n++ {
				w.step(i, n)
			}
		})
	}
	all.Wait()
	if w.ops.Load() == 0 {
		w.Error("nothing was granted")
	}
	w.Logf("%d grants", w.ops.Load())
}

// step takes one or two nodes, reads or writes what they guard, and lets them go.
func (w *workbench) step(worker, n int) {
	first, second := (worker+n)%len(w.nodes), (worker*3+n*7)%len(w.nodes)
	mode := pathlock.ModeX
	if (worker+n)%3 == 0 {
		mode = pathlock.ModeS
	}
	set := claims{claim(mode, registers[first])}
	touched := []int{first}
	if second != first && n%2 == 0 {
		set = append(set, claim(mode, registers[second]))
		touched = append(touched, second)
	}
	a := w.actor("worker")
	req := a.ask(set...)
	req.Wait = long
	if _, err := w.store.Acquire(w.ctx, req); err != nil {
		w.Errorf("%v: %v", set, err)
		return
	}
	w.ops.Add(1)
	for _, i := range touched {
		w.nodes[i].use(w.fixture, mode)
	}
	if err := w.store.Release(w.ctx, w.tree, a.owner, req.Grant); err != nil {
		w.Errorf("%v: %v", set, err)
	}
}

// use reads or writes the register and counts whom it meets.
func (r *register) use(f *fixture, mode pathlock.Mode) {
	weight := int32(1)
	if mode == pathlock.ModeX {
		weight = crowd
	}
	before := r.count.Load()
	users := r.users.Add(weight)
	if mode == pathlock.ModeX {
		if users != crowd {
			f.Errorf("a writer meets %d writers and %d readers", users/crowd-1, users%crowd)
		}
		r.count.Store(before + 1)
	} else if users >= crowd {
		f.Errorf("a reader meets a writer")
	}
	for range 20 {
		runtime.Gosched() // or else nobody comes in the meantime, on few processors
	}
	after := r.count.Load()
	if mode == pathlock.ModeX {
		before++
	}
	if after != before {
		f.Errorf("the register changed from %d to %d under a lock", before, after)
	}
	r.users.Add(-weight)
}
