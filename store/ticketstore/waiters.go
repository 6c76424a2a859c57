package ticketstore

import (
	"sync"

	"github.com/pathlock-go/pathlock"
)

// waiters are the calls of this process that ask for something.
type waiters struct {
	mu sync.Mutex
	// calls are how many wait for each request.
	calls map[waiterKey]int
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

// join adds a call that waits for a request, which is not taken back any more.
func (w *waiters) join(key waiterKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.withdrawing, key)
	w.calls[key]++
}

// leave undoes join, and reports whether the request is to be taken back: no other call waits for
// it, and the store may have a ticket of it.
func (w *waiters) leave(a *attempt) (withdraw bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calls[a.key]--; w.calls[a.key] > 0 {
		return false
	}
	delete(w.calls, a.key)
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

// others reports whether several calls wait for a request.
func (w *waiters) others(key waiterKey) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[key] > 1
}
