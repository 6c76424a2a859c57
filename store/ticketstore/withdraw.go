package ticketstore

import (
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/pathlock-go/pathlock"
)

// withdraw removes what the request may have left in the store. If the first try fails, or takes
// longer than the call may, withdraw goes on in the background, until the store has answered. If
// the store never does, the request ends with its lease.
func (a *attempt) withdraw() {
	tried := make(chan struct{})
	a.store.attempts.Go(func() {
		defer a.store.waiters.withdrawn(a)
		removed := a.remove()
		close(tried)
		if !removed {
			a.keepRemoving()
		}
	})
	timer := time.NewTimer(min(cleanupTime, time.Until(a.until)))
	defer timer.Stop()
	select {
	case <-tried:
	case <-timer.C:
	}
}

// The first and the longest pause between two tries to take a request back.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second
)

// keepRemoving removes the request, again and again until the store has answered, or the request's
// lease has ended. A store that is being closed is asked once more.
func (a *attempt) keepRemoving() {
	end := time.Now().Add(a.req.Lease)
	pauses := backoff.ExponentialBackOff{InitialInterval: firstPause, MaxInterval: longestPause, Multiplier: 2}
	for last := false; !last; {
		timer := time.NewTimer(pauses.NextBackOff())
		select {
		case <-timer.C:
		case <-a.store.closing.Done():
			timer.Stop()
		}
		last = a.store.closing.Err() != nil || !time.Now().Before(end)
		if a.remove() {
			return
		}
	}
}

// remove removes the request, and reports whether the store has answered. If an update of the
// request may still be under way, the request is given a tombstone first, which comes in before
// that update.
func (a *attempt) remove() bool { return a.try(true) && (!a.open || a.try(false)) }

// try is one update of remove. It does nothing once another call has asked for the request, whose
// own update comes after that.
func (a *attempt) try(bury bool) bool {
	if !a.store.waiters.isWithdrawing(a) {
		return true
	}
	op := &operation{apply: func(tx *transaction) {
		if !a.store.waiters.isWithdrawing(a) {
			return
		}
		refusal := tx.takeRefusal(a.req.Owner, a.req.Grant)
		switch r := tx.table.Find(a.req.Owner, a.req.Grant); {
		case r == nil && refusal == nil && bury && a.open:
			tx.bury(a.req.Owner, a.req.Grant, errTakenBack)
		case r == nil:
		case r.Queued():
			tx.table.GiveUp(r)
		default:
			_ = tx.table.Release(a.req.Owner, a.req.Grant) // it is there
		}
	}}
	return a.store.do(a.store.open, a.store.latest(), a.req.Tree, op) == nil
}

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
