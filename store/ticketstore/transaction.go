package ticketstore

import (
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/internal/locktable"
)

// transaction is one update of a tree's tickets: the lock table that they make at one instant, and
// what becomes of them.
type transaction struct {
	state State
	table *locktable.Table
	fence uint64
	// loaded are the tickets as they were read, but for those that have been refused before.
	loaded []*Ticket
	// refused are the tickets of waits that ended without a grant before, or end now.
	refused []*Ticket
	deleted []Ticket
	woken   []*Ticket
	// told has the tickets as they were read whose processes are told to look, by what is written.
	told map[*Ticket]*Ticket
	// ended has the errors of waits that end without a grant now.
	ended map[*locktable.Request]error
}

// openTransaction makes a table of a tree's tickets. At most limit requests are granted in it, if
// limit is positive.
func openTransaction(tree pathlock.Tree, state State, limit int) *transaction {
	tx := &transaction{state: state, fence: max(state.Fence, state.Floor), ended: make(map[*locktable.Request]error), told: make(map[*Ticket]*Ticket)}
	tx.table = locktable.New(tree, tx.mint, tx.waitEnded)
	records := make([]*locktable.Record, 0, len(state.Tickets))
	last := locktable.Last{Fence: state.Fence}
	for i := range state.Tickets {
		t := &state.Tickets[i]
		last.Ticket = max(last.Ticket, t.Place)
		switch {
		case t.State != Refused:
			tx.loaded = append(tx.loaded, t)
			records = append(records, t.record())
		case state.Now.Before(t.Until):
			tx.refused = append(tx.refused, t)
		default:
			tx.deleted = append(tx.deleted, *t)
		}
	}
	tx.table.Restore(records, state.Now, last, limit)
	return tx
}

// record returns a ticket as lock tables know it.
func (t *Ticket) record() *locktable.Record {
	return &locktable.Record{
		Acquisition: pathlock.Acquisition{
			Owner: t.Owner, Grant: t.Grant, Gate: t.Gate, Apart: t.Apart, Claims: t.Claims, Note: t.Note, Lease: t.Lease, Held: t.Held,
		},
		Ticket: t.Place, Fence: t.Fence, Since: t.Since,
		Until: t.Until, OwnerUntil: t.OwnerUntil, WaitUntil: t.WaitUntil, Data: t,
	}
}

// mint makes the fence of a grant.
func (tx *transaction) mint(time.Time) uint64 {
	tx.fence++
	return tx.fence
}

// waitEnded notes that the wait of a request is over.
func (tx *transaction) waitEnded(r *locktable.Request) {
	t, wasLoaded := r.Data.(*Ticket)
	if err := r.Err(); err != nil {
		tx.ended[r] = err
		if wasLoaded {
			tx.refuse(t, err)
		}
		return
	}
	if wasLoaded {
		tx.woken = append(tx.woken, t)
	}
}

// refuse keeps a ticket for its process, which is to learn why its wait has ended.
func (tx *transaction) refuse(t *Ticket, why error) {
	if !tx.state.Now.Before(t.Until) {
		return // nobody asks for it any more
	}
	told := *t
	told.State, told.Reason = Refused, encodeReason(why)
	tx.refused = append(tx.refused, &told)
	tx.woken = append(tx.woken, &told)
}

// forceRelease takes away everything that an owner holds and waits for. Its latest grant gets a
// tombstone: a process that has not seen yet that its wait ended in it would find nothing, and ask
// for another place.
func (tx *transaction) forceRelease(owner pathlock.Owner) error {
	if err := tx.table.ForceRelease(owner); err != nil {
		return err
	}
	var latest *Ticket
	for _, t := range tx.loaded {
		if t.Owner == owner && t.State == Granted && (latest == nil || t.Fence > latest.Fence) {
			latest = t
		}
	}
	if latest != nil {
		tx.bury(owner, latest.Grant, fmt.Errorf("%w: taken away from owner %s in %s", pathlock.ErrLost, owner.Short(), tx.table.Tree()))
	}
	return nil
}

// bury puts a tombstone into the tree, a ticket that neither holds nor waits. So an update of the
// same request that was given up, and may still be under way, comes too late, as the tree is
// another then. And whoever still waits for the request learns why it is refused.
func (tx *transaction) bury(owner pathlock.Owner, id pathlock.GrantID, why error) {
	tx.refused = append(tx.refused, &Ticket{
		Place: tx.table.Reserve(), Owner: owner, Grant: id, State: Refused, Lease: tombstoneLife,
		Since: tx.state.Now, Until: tx.state.Now.Add(tombstoneLife), Reason: encodeReason(why),
	})
}

// tombstoneLife is how long a tombstone stays at most.
const tombstoneLife = time.Minute

// errTakenBack is why a request was refused that its own process has taken back.
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
	tx.woken = slices.DeleteFunc(tx.woken, func(w *Ticket) bool { return w == t })
	tx.deleted = append(tx.deleted, *t)
	return decodeReason(tx.table.Tree(), t.Reason)
}

// changes returns what there is to write.
func (tx *transaction) changes() Changes {
	tx.tellOfEarlierEnds()
	c := Changes{Fence: tx.state.Fence}
	kept := make(map[*Ticket]bool, len(tx.loaded))
	for r := range tx.table.Requests {
		before, _ := r.Data.(*Ticket)
		loaded := tx.told[before]
		switch {
		case loaded != nil:
			kept[loaded] = true
		case before != nil:
			kept[before] = true
		}
		if loaded != nil || r.Changed() {
			c.Put = append(c.Put, ticketOf(r))
		}
		c.Fence = max(c.Fence, r.Fence())
	}
	if tx.fence > max(tx.state.Fence, tx.state.Floor) {
		c.Fence = max(c.Fence, tx.fence)
	}
	for _, t := range tx.refused {
		kept[t] = true
		if t.Key == "" {
			c.Put = append(c.Put, *t)
		} else if before := tx.find(t); before != nil && before.State != Refused {
			kept[before] = true
			c.Put = append(c.Put, *t)
		}
	}
	for _, t := range tx.loaded {
		if !kept[t] && !slices.ContainsFunc(tx.deleted, func(d Ticket) bool { return d.Key == t.Key }) {
			c.Delete = append(c.Delete, *t)
		}
	}
	c.Delete = append(c.Delete, tx.deleted...)
	for _, t := range tx.woken {
		for i := range c.Put {
			if c.Put[i].Key == t.Key {
				c.Woken = append(c.Woken, c.Put[i])
			}
		}
	}
	return c
}

// tellOfEarlierEnds has those look who expect the end of a lease later than it is: who watch a
// request whose lease ends earlier than it did, and who wait on top of it.
func (tx *transaction) tellOfEarlierEnds() {
	for r := range tx.table.Requests {
		before, ok := r.Data.(*Ticket)
		if !ok || !r.Ends().Before(before.Ends()) {
			continue
		}
		for w := range r.Concerned {
			tx.tell(w)
		}
	}
}

// tell has the process of a waiting request look at its ticket.
func (tx *transaction) tell(w *locktable.Request) {
	t, wasLoaded := w.Data.(*Ticket)
	if !wasLoaded || tx.told[t] != nil {
		return
	}
	told := *t
	told.Looks++
	w.Data = &told
	tx.woken = append(tx.woken, &told)
	tx.told[&told] = t
}

// find returns the loaded ticket with the key of another one.
func (tx *transaction) find(t *Ticket) *Ticket {
	i := slices.IndexFunc(tx.loaded, func(l *Ticket) bool { return l.Key == t.Key })
	if i < 0 {
		return nil
	}
	return tx.loaded[i]
}

// ticketOf returns what is to be kept of a request.
func ticketOf(r *locktable.Request) Ticket {
	rec := r.Record()
	t := Ticket{
		Place: rec.Ticket, Owner: rec.Owner, Grant: rec.Grant, Gate: rec.Gate, Apart: rec.Apart, Claims: rec.Claims, Note: rec.Note,
		Lease: rec.Lease, State: Waiting, Since: rec.Since, Until: rec.Until, WaitUntil: rec.WaitUntil,
	}
	if t.Held = rec.Held; rec.Fence != 0 {
		t.State, t.Fence, t.OwnerUntil, t.WaitUntil = Granted, rec.Fence, rec.OwnerUntil, time.Time{}
	}
	if before, ok := r.Data.(*Ticket); ok {
		t.Key, t.Home, t.Looks = before.Key, before.Home, before.Looks
	}
	return t
}
