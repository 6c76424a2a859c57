package ticketstore

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

// withdraw removes what the request may have left in the store. Where the first try fails, or takes
// longer than the call may, it goes on in the background, until the store has answered. Where it
// does not, the lease sees to it.
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
// request may still be under way, it is given a tombstone first, which comes in before it.
func (a *attempt) remove() bool { return a.try(true) && (!a.open || a.try(false)) }

// try is one update of remove, unless another call has asked for the request since.
func (a *attempt) try(bury bool) bool {
	if !a.store.waiters.isWithdrawing(a) {
		return true
	}
	op := &operation{apply: func(tx *transaction) {
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
