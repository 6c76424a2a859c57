package ticketstore

import (
	"sync"

	"github.com/pathlock-go/pathlock"
)

// waiters are the calls of this process that wait.
type waiters struct {
	mu      sync.Mutex
	waiting map[waiterKey]*waiter
	// withdrawing are the attempts that are being taken back, unless their request was asked for
	// again since.
	withdrawing map[waiterKey]*attempt
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

// join adds a call that waits for a request, which is not taken back any more.
func (w *waiters) join(key waiterKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.withdrawing, key)
	one := w.waiting[key]
	if one == nil {
		one = &waiter{changed: make(chan struct{})}
		w.waiting[key] = one
	}
	one.calls++
}

// leave undoes join, and reports whether the request is to be taken back: no other call waits for
// it, and the store may have a ticket of it.
func (w *waiters) leave(a *attempt) (withdraw bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.waiting[a.key]
	if one.calls--; one.calls > 0 {
		return false
	}
	delete(w.waiting, a.key)
	if a.unsettled {
		w.withdrawing[a.key] = a
	}
	return a.unsettled
}

// isWithdrawing reports whether an attempt is still to be taken back.
func (w *waiters) isWithdrawing(a *attempt) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.withdrawing[a.key] == a
}

// withdrawn notes that an attempt has been taken back, or that its lease has ended.
func (w *waiters) withdrawn(a *attempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.withdrawing[a.key] == a {
		delete(w.withdrawing, a.key)
	}
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

// others reports whether several calls wait for a request.
func (w *waiters) others(key waiterKey) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiting[key].calls > 1
}
