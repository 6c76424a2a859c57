package ticketstore

import (
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/internal/locktable"
)

// book is a tree's tickets, opened at one instant: the lock table that they make, and what becomes
// of them.
type book struct {
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

// openBook makes a table of a tree's tickets. At most limit requests are granted in it, if limit is
// positive.
func openBook(tree pathlock.Tree, state State, limit int) *book {
	b := &book{state: state, fence: max(state.Fence, state.Floor), ended: make(map[*locktable.Request]error), told: make(map[*Ticket]*Ticket)}
	b.table = locktable.New(tree, b.mint, b.waitEnded)
	records := make([]*locktable.Record, 0, len(state.Tickets))
	last := locktable.Last{Fence: state.Fence}
	for i := range state.Tickets {
		t := &state.Tickets[i]
		last.Ticket = max(last.Ticket, t.Place)
		switch {
		case t.State != Refused:
			b.loaded = append(b.loaded, t)
			records = append(records, t.record())
		case state.Now.Before(t.Until):
			b.refused = append(b.refused, t)
		default:
			b.deleted = append(b.deleted, *t)
		}
	}
	b.table.Restore(records, state.Now, last, limit)
	return b
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
func (b *book) mint(time.Time) uint64 {
	b.fence++
	return b.fence
}

// waitEnded notes that the wait of a request is over.
func (b *book) waitEnded(r *locktable.Request) {
	t, wasLoaded := r.Data.(*Ticket)
	if err := r.Err(); err != nil {
		b.ended[r] = err
		if wasLoaded {
			b.refuse(t, err)
		}
		return
	}
	if wasLoaded {
		b.woken = append(b.woken, t)
	}
}

// refuse keeps a ticket for its process, which is to learn why its wait has ended.
func (b *book) refuse(t *Ticket, why error) {
	if !b.state.Now.Before(t.Until) {
		return // nobody asks for it any more
	}
	told := *t
	told.State, told.Reason = Refused, encodeReason(why)
	b.refused = append(b.refused, &told)
	b.woken = append(b.woken, &told)
}

// forceRelease takes away everything that an owner holds and waits for. Its latest grant is
// entombed: a process that has not seen yet that its wait ended in it would find nothing, and ask
// for another place.
func (b *book) forceRelease(owner pathlock.Owner) error {
	if err := b.table.ForceRelease(owner); err != nil {
		return err
	}
	var latest *Ticket
	for _, t := range b.loaded {
		if t.Owner == owner && t.State == Granted && (latest == nil || t.Fence > latest.Fence) {
			latest = t
		}
	}
	if latest != nil {
		b.entomb(owner, latest.Grant, fmt.Errorf("%w: taken away from owner %s in %s", pathlock.ErrLost, owner.Short(), b.table.Tree()))
	}
	return nil
}

// entomb puts a ticket into the tree that neither holds nor waits. So an update of the same request
// that was given up, and may still be under way, comes too late, as the tree is another then. And
// whoever still waits for the request learns why it is refused.
func (b *book) entomb(owner pathlock.Owner, id pathlock.GrantID, why error) {
	b.refused = append(b.refused, &Ticket{
		Place: b.table.Reserve(), Owner: owner, Grant: id, State: Refused, Lease: tomb,
		Since: b.state.Now, Until: b.state.Now.Add(tomb), Reason: encodeReason(why),
	})
}

// tomb is how long a ticket stays at most that entomb has put there.
const tomb = time.Minute

// errTakenBack is why a request was refused that its own process has taken back.
var errTakenBack = fmt.Errorf("%w: taken back", pathlock.ErrLost)

// takeRefusal returns why a wait was refused, and forgets the ticket. It is nil if the wait was
// not.
func (b *book) takeRefusal(owner pathlock.Owner, id pathlock.GrantID) error {
	i := slices.IndexFunc(b.refused, func(t *Ticket) bool { return t.Owner == owner && t.Grant == id })
	if i < 0 {
		return nil
	}
	t := b.refused[i]
	b.refused = slices.Delete(b.refused, i, i+1)
	b.woken = slices.DeleteFunc(b.woken, func(w *Ticket) bool { return w == t })
	b.deleted = append(b.deleted, *t)
	return decodeReason(b.table.Tree(), t.Reason)
}

// changes returns what there is to write.
func (b *book) changes() Changes {
	b.tellOfEarlierEnds()
	c := Changes{Fence: b.state.Fence}
	kept := make(map[*Ticket]bool, len(b.loaded))
	for r := range b.table.Requests {
		before, _ := r.Data.(*Ticket)
		loaded := b.told[before]
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
	if b.fence > max(b.state.Fence, b.state.Floor) {
		c.Fence = max(c.Fence, b.fence)
	}
	for _, t := range b.refused {
		kept[t] = true
		if t.Key == "" {
			c.Put = append(c.Put, *t)
		} else if before := b.find(t); before != nil && before.State != Refused {
			kept[before] = true
			c.Put = append(c.Put, *t)
		}
	}
	for _, t := range b.loaded {
		if !kept[t] && !slices.ContainsFunc(b.deleted, func(d Ticket) bool { return d.Key == t.Key }) {
			c.Delete = append(c.Delete, *t)
		}
	}
	c.Delete = append(c.Delete, b.deleted...)
	for _, t := range b.woken {
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
func (b *book) tellOfEarlierEnds() {
	for r := range b.table.Requests {
		before, ok := r.Data.(*Ticket)
		if !ok || !r.Ends().Before(before.Ends()) {
			continue
		}
		for w := range r.Concerned {
			b.tell(w)
		}
	}
}

// tell has the process of a waiting request look at its ticket.
func (b *book) tell(w *locktable.Request) {
	t, wasLoaded := w.Data.(*Ticket)
	if !wasLoaded || b.told[t] != nil {
		return
	}
	told := *t
	told.Looks++
	w.Data = &told
	b.woken = append(b.woken, &told)
	b.told[&told] = t
}

// find returns the loaded ticket with the key of another one.
func (b *book) find(t *Ticket) *Ticket {
	i := slices.IndexFunc(b.loaded, func(l *Ticket) bool { return l.Key == t.Key })
	if i < 0 {
		return nil
	}
	return b.loaded[i]
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
