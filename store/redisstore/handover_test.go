package redisstore

import (
	"fmt"
	"sync"
	"testing"
	"time"
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

// TestTwoStores: owners in two processes hand over to each other without waiting for any lease.
func TestTwoStores(t *testing.T) {
	a, b, tree := newStore(t), newStore(t), newTree(t)
	ours, theirs := ask(tree, x("/a")), ask(tree, x("/a"))
	take(t, a, ours)
	for range 20 {
		w := queue(t, b, theirs)
		release(t, a, ours)
		w.granted()
		w = queue(t, a, ours)
		release(t, b, theirs)
		w.granted()
	}
	release(t, a, ours)
}

// TestDeadWaiter: the place of a process that is gone ends with its lease, and those behind it go
// on.
func TestDeadWaiter(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	holder := ask(tree, ix("/"))
	take(t, store, holder)
	dead := ask(tree, x("/"))
	dead.Lease = short
	if got := sendAs(t, store, dead); got.Status != "queued" {
		t.Fatalf("answer %v, want it queued", got)
	}
	behind := ask(tree, ix("/"))
	behind.Wait = long
	began := time.Now()
	take(t, store, behind)
	if waited := time.Since(began); waited > short+patience/2 {
		t.Errorf("waited for %v behind a dead waiter with a lease of %v", waited, short)
	}
	release(t, store, behind)
	release(t, store, holder)
	requireConsistent(t, store, tree)
}

// TestLiveWaiterKeepsItsPlace: a waiter that is there stays where it is in the queue for longer
// than its lease.
func TestLiveWaiterKeepsItsPlace(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	holder := ask(tree, x("/a"))
	take(t, store, holder)
	early := ask(tree, x("/a"))
	early.Lease = short
	first := queue(t, store, early)
	second := queue(t, store, ask(tree, x("/a")))
	pass(t, store, 2*short)
	release(t, store, holder)
	first.granted()
	release(t, store, first.req)
	second.granted()
	release(t, store, second.req)
}
