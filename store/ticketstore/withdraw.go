package ticketstore

import (
	"context"
	"time"

	"github.com/pathlock-go/pathlock"
)

// requestKey names a request.
type requestKey struct {
	tree  pathlock.Tree
	owner pathlock.Owner
	grant pathlock.GrantID
}

// withdraw removes what the request may have left in the store. If the first try fails, or takes
// longer than the call may, withdraw goes on in the background, until the store has answered. If
// the store never does, the request ends with its lease.
func (a *attempt) withdraw() {
	s, end := a.store, time.Now().Add(a.req.Lease)
	tried := s.withdrawals.Begin(a.key)
	s.attempts.Go(func() {
		defer tried()
		if !a.remove() {
			s.withdrawals.Retry(a.key, func() (over bool) { return a.remove() || !time.Now().Before(end) })
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), min(cleanupTime, time.Until(a.until)))
	defer cancel()
	s.withdrawals.UnderWay(a.key).Wait(ctx)
}

// remove removes the request, and reports whether the store has answered. If an update of the
// request may still be under way, the request is given a tombstone first, which comes in before
// that update.
func (a *attempt) remove() bool { return a.try(true) && (!a.open || a.try(false)) }

// try is one update of remove.
func (a *attempt) try(bury bool) bool {
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
