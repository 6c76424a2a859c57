package redisstore

import (
	"fmt"
	"sync"
	"testing"
)

// TestHandOverCounts: each release wakes exactly the one that it lets in, who has nothing more to
// send.
func TestHandOverCounts(t *testing.T) {
	const waiters = 500
	server := startServer(t)
	stores := []*Store{server.store(), server.store()}
	tree := newTree(t)
	first := ask(tree, x("/a"))
	take(t, stores[0], first)
	release(t, stores[0], first) // the server knows the scripts from here on
	take(t, stores[0], first)

	var order sync.Mutex
	var fences []uint64
	var served sync.WaitGroup
	for i := range waiters {
		w := queue(t, stores[i%2], ask(tree, x("/a")))
		served.Go(func() {
			grant, err := w.end()
			if err != nil {
				t.Errorf("waiter %d: %v", i, err)
				return
			}
			order.Lock()
			fences = append(fences, grant.Fence)
			order.Unlock()
			release(t, stores[i%2], w.req)
		})
	}
	queued := server.calls("evalsha")
	release(t, stores[0], first)
	served.Wait()

	if got := server.calls("publish"); got != waiters {
		t.Errorf("%d messages, want one for each of %d waiters", got, waiters)
	}
	if got := server.calls("evalsha") - queued; got != waiters+1 {
		t.Errorf("%d scripts from the first release to the last, want one for each of %d holders", got, waiters+1)
	}
	for i := 1; i < len(fences); i++ {
		if fences[i] <= fences[i-1] {
			t.Fatalf("fence %d after %d: two held at once, or fences do not grow", fences[i], fences[i-1])
		}
	}
	requireConsistent(t, stores[0], tree)
}

// TestHandOverToMany: a release lets all in that it makes room for, and nobody is passed.
func TestHandOverToMany(t *testing.T) {
	const n = 100
	store, tree := newStore(t), newTree(t)
	first := ask(tree, x("/"))
	take(t, store, first)
	var all []*waiting
	for i := range n {
		all = append(all, queue(t, store, ask(tree, x(fmt.Sprintf("/%d", i)))))
	}
	last := queue(t, store, ask(tree, x("/")))
	release(t, store, first)
	for _, w := range all {
		w.granted()
	}
	requireConsistent(t, store, tree)
	for _, w := range all {
		release(t, store, w.req)
	}
	last.granted()
	release(t, store, last.req)
}
