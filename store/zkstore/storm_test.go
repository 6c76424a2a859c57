package zkstore

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testnet"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/testzk"
)

// TestStorm: clients of three servers compete for a few nodes, while connections break and the
// leader dies. No two ever hold the same node, and fences rise.
func TestStorm(t *testing.T) {
	e := testzk.StartEnsemble(t)
	const workers, turns = 12, 25
	nodes := []string{"/a", "/b", "/c"}
	type node struct {
		busy  atomic.Int32
		fence atomic.Uint64
	}
	guarded := make(map[string]*node)
	for _, name := range nodes {
		guarded[name] = &node{}
	}
	tree := newTree(t)
	proxies := make([]*testnet.Proxy, 3)
	stores := make([]*Store, len(proxies))
	lockers := make([]*pathlock.Locker, len(proxies))
	for i := range stores {
		var addr string
		addr, proxies[i] = behind(t, e.Servers[i].Addr)
		stores[i] = newStore(t, addr+","+e.Hosts(), WithTimeout(3*time.Second))
		lockers[i] = pathlock.New(stores[i], pathlock.WithLease(long), pathlock.WithWait(2*patience))
	}
	var done, failed atomic.Int32
	var running sync.WaitGroup
	for w := range workers {
		running.Go(func() {
			for range turns {
				name := nodes[rand.N(len(nodes))]
				lock, err := lockers[w%len(stores)].Acquire(t.Context(), pathlock.Request{Tree: tree, Claims: []pathlock.Claim{x(name)}})
				if err != nil {
					failed.Add(1) // while there is no leader
					continue
				}
				n := guarded[name]
				if n.busy.Add(1) != 1 {
					t.Errorf("%s is held twice", name)
				}
				if last := n.fence.Swap(lock.Fence()); last >= lock.Fence() {
					t.Errorf("the fence %d of %s follows %d", lock.Fence(), name, last)
				}
				n.busy.Add(-1)
				_ = lock.Release(t.Context()) // the locker tries again
				done.Add(1)
			}
		})
	}
	for i := range 6 {
		testserver.Await(t, "some work is done", func() bool { return int(done.Load()+failed.Load()) > (i+1)*workers*turns/10 })
		proxies[i%len(proxies)].Sever()
		if i == 3 {
			leader := e.Leader()
			leader.Kill()
			defer leader.Start()
		}
	}
	running.Wait()
	for _, locker := range lockers {
		if err := locker.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d locks were held, %d were not to be had", done.Load(), failed.Load())
	if int(done.Load()) < workers*turns/2 {
		t.Error("hardly any lock was to be had")
	}
	holders(t, stores[0], tree, 0)
}
