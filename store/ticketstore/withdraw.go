package ticketstore

import (
	"time"

	"github.com/cenkalti/backoff/v5"
)

// withdraw removes what the request may have left in the store. Where that takes longer than the
// call may, it goes on in the background, until the store has answered. Where it does not, the
// lease sees to it.
func (a *attempt) withdraw() {
	a.store.attempts.Add(1)
	done := make(chan struct{})
	go func() {
		defer a.store.attempts.Done()
		defer close(done)
		defer a.store.waiters.withdrawn(a)
		a.keepRemoving()
	}()
	timer := time.NewTimer(min(cleanupTime, time.Until(a.until)))
	defer timer.Stop()
	select {
	case <-done:
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
	for {
		last := a.store.closing.Err() != nil || !time.Now().Before(end)
		if a.remove(true) {
			break
		}
		if last {
			return
		}
		timer := time.NewTimer(pauses.NextBackOff())
		select {
		case <-timer.C:
		case <-a.store.closing.Done():
			timer.Stop()
		}
	}
	if a.open {
		a.remove(false)
	}
}

// remove removes the request, unless another call has asked for it since, and reports whether the
// store has answered. If an update of the request may still be under way, it is given a tombstone.
func (a *attempt) remove(bury bool) bool {
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
