package ticketstore

import (
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/internal/locktable"
)

// transaction is one update of a tree's tickets: the lock table that they form at one instant, and
// what happens to them.
type transaction struct {
	state State
	table *locktable.Table
	fence uint64
	// quota is how many requests are let in at most, 0 for any number.
	quota int
	// refused are the tickets of waits that ended without a grant before, or end now.
	refused []*Ticket
	// woken has the keys of the tickets whose wait has ended, or whose process has to look again.
	woken map[string]bool
	// ended has the errors of waits that end without a grant now.
	ended map[*locktable.Request]error
}

// openTransaction builds a lock table from a tree's tickets. Its fences go on from the latest on
// record, or from the backend's floor if that is higher.
func openTransaction(tree pathlock.Tree, state State, quota int) *transaction {
	tx := &transaction{
		state: state, fence: max(state.Fence, state.Floor), quota: quota, ended: make(map[*locktable.Request]error), woken: make(map[string]bool),
	}
	tx.table = locktable.New(tree, func(time.Time) uint64 {
		tx.fence++
		return tx.fence
	}, tx.waitEnded)
	tx.table.MostWaiters, tx.table.MostOfOwner, tx.table.ClockError = state.MostWaiters, state.MostOfOwner, state.ClockError
	records := make([]*locktable.Record, 0, len(state.Tickets))
	last := uint64(0)
	for i := range state.Tickets {
		t := &state.Tickets[i]
		last = max(last, t.Place)
		switch {
		case t.State != Refused:
			kept := t.Record
			kept.Data = t
			records = append(records, &kept)
		case state.Now.Before(t.Until):
			tx.refused = append(tx.refused, t)
		}
	}
	tx.table.Restore(records, state.Now, state.Fence, last, quota)
	return tx
}

// waitEnded notes that the wait of a request is over. A ticket that was read is kept, so that its
// process learns why.
func (tx *transaction) waitEnded(r *locktable.Request) {
	err := r.Err()
	if err != nil {
		tx.ended[r] = err
	}
	t, wasRead := r.Data.(*Ticket)
	if !wasRead || err != nil && !tx.state.Now.Before(t.Until) {
		return // nobody asks for it any more
	}
	tx.woken[t.Key] = true
	if err != nil {
		refused := *t
		refused.State, refused.Refusal = Refused, refusalOf(err)
		tx.refused = append(tx.refused, &refused)
	}
}

// forceRelease takes away what an owner holds and waits for, as much as one update can write beside
// what it lets in, and reports whether anything is left. The latest grant gets a tombstone: a
// process that has not seen that grant yet would find nothing, and ask for another place.
func (tx *transaction) forceRelease(owner pathlock.Owner) (more bool, err error) {
	most := 0
	if tx.quota > 0 {
		most = max(1, tx.quota/2)
	}
	if more, err = tx.table.ForceRelease(owner, most); err != nil {
		return more, err
	}
	var latest *Ticket
	for i := range tx.state.Tickets {
		t := &tx.state.Tickets[i]
		if t.Owner == owner && t.State == Granted && tx.table.Find(owner, t.Grant) == nil && (latest == nil || t.Fence > latest.Fence) {
			latest = t
		}
	}
	if latest != nil {
		tx.bury(owner, latest.Grant, fmt.Errorf("%w: taken away from owner %s in %s", pathlock.ErrLost, owner.Short(), tx.table.Tree()))
	}
	return more, nil
}

// bury puts a tombstone into the tree, a ticket that neither holds nor waits. So an abandoned
// update of the same request, which may still be under way, comes too late: the tree has changed.
// And whoever still waits for the request learns why it is refused.
func (tx *transaction) bury(owner pathlock.Owner, id pathlock.GrantID, why error) {
	tx.refused = append(tx.refused, &Ticket{State: Refused, Refusal: refusalOf(why), Record: locktable.Record{
		Place: tx.table.Reserve(), Owner: owner, Grant: id, Until: tx.state.Now.Add(tombstoneLife), Lease: tombstoneLife, Since: tx.state.Now,
	}})
}

// tombstoneLife is how long a tombstone stays at most.
const tombstoneLife = time.Minute

// errTakenBack is why a request that its own process has taken back was refused.
var errTakenBack = fmt.Errorf("%w: taken back", pathlock.ErrLost)

// takeRefusal returns why a wait was refused, and forgets the ticket. It is nil if the wait was
// not.
func (tx *transaction) takeRefusal(owner pathlock.Owner, id pathlock.GrantID) error {
	i := slices.IndexFunc(tx.refused, func(t *Ticket) bool { return t.Owner == owner && t.Grant == id })
	if i < 0 {
		return nil
	}
	t := tx.refused[i]
	tx.refused = slices.Delete(tx.refused, i, i+1)
	delete(tx.woken, t.Key)
	return t.Refusal.in(tx.table.Tree())
}

// changes returns what there is to write. Tickets that were read, and are neither in the table nor
// refused, are deleted.
func (tx *transaction) changes() Changes {
	tx.tellOfEarlierEnds()
	c := Changes{Fence: tx.state.Fence}
	if tx.fence > max(tx.state.Fence, tx.state.Floor) {
		c.Fence = tx.fence
	}
	kept := make(map[string]bool, len(tx.state.Tickets))
	for r := range tx.table.Requests {
		t := ticketOf(r)
		kept[t.Key] = true
		looks := t.State == Waiting && tx.woken[t.Key]
		if looks {
			t.Looks++
		}
		if looks || r.Changed() {
			c.Put = append(c.Put, t)
		}
		c.Fence = max(c.Fence, t.Fence)
	}
	for _, t := range tx.refused {
		kept[t.Key] = true
		if t.Key == "" || tx.woken[t.Key] {
			c.Put = append(c.Put, *t)
		}
	}
	for _, t := range tx.state.Tickets {
		if !kept[t.Key] {
			c.Delete = append(c.Delete, t)
		}
	}
	for _, t := range c.Put {
		if tx.woken[t.Key] {
			c.Woken = append(c.Woken, t)
		}
	}
	return c
}

// tellOfEarlierEnds wakes waiters that expect a lease to end later than it does: those that watch a
// request whose lease now ends earlier, and those that wait on top of it. One that looks in time
// lets all others in, so no more are woken than may be let in.
func (tx *transaction) tellOfEarlierEnds() {
	for r := range tx.table.Requests {
		before, ok := r.Data.(*Ticket)
		if !ok || !r.Ends().Before(before.Ends()) {
			continue
		}
		told := 0
		for w := range r.Concerned {
			if t, wasRead := w.Data.(*Ticket); wasRead && (tx.quota == 0 || told < tx.quota) {
				tx.woken[t.Key] = true
				told++
			}
		}
	}
}

// ticketOf returns the ticket that keeps a request.
func ticketOf(r *locktable.Request) Ticket {
	t := Ticket{State: Waiting, Record: r.Record()}
	if t.Fence != 0 {
		t.State = Granted
	}
	if before, ok := r.Data.(*Ticket); ok {
		t.Key, t.Home, t.Looks = before.Key, before.Home, before.Looks
	}
	return t
}
