package ticketstore

import (
	"sync"

	"github.com/pathlock-go/pathlock"
)

// waiters are the calls of this process that wait.
type waiters struct {
	mu      sync.Mutex
	waiting map[waiterKey]*waiter
}

// waiterKey names a request that waits.
type waiterKey struct {
	tree  pathlock.Tree
	owner pathlock.Owner
	grant pathlock.GrantID
}

// waiter is one request that waits, for one or more calls.
type waiter struct {
	calls int
	// changed is closed, and replaced, when the request's ticket may have changed.
	changed chan struct{}
}

// join adds a call that waits for a request.
func (w *waiters) join(key waiterKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.waiting[key]
	if one == nil {
		one = &waiter{changed: make(chan struct{})}
		w.waiting[key] = one
	}
	one.calls++
}

// leave undoes join, and reports whether no other call waits for the request.
func (w *waiters) leave(key waiterKey) (last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.waiting[key]
	if one.calls--; one.calls > 0 {
		return false
	}
	delete(w.waiting, key)
	return true
}

// changed returns a channel that is closed when the request's ticket may have changed after this
// call.
func (w *waiters) changed(key waiterKey) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiting[key].changed
}

// signal has those who wait for a request look at its ticket.
func (w *waiters) signal(key waiterKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.waiting[key]; one != nil {
		close(one.changed)
		one.changed = make(chan struct{})
	}
}

// calls returns how many calls wait for a request.
func (w *waiters) calls(key waiterKey) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.waiting[key]; one != nil {
		return one.calls
	}
	return 0
}
