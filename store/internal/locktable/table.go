// Package locktable is the lock table of one tree, as stores in Go keep it: the queue of its
// requests, by the rule of internal/queue, with leases, fences and the errors that callers get.
//
// A table knows neither clocks nor goroutines: time comes with each use. A store in memory keeps
// its tables for as long as somebody holds or waits. A store that keeps its tickets elsewhere
// restores a table from them, uses it, and writes what has changed.
//
// In a restored table, a waiter's process may be another one, which may die. So each waiter has a
// lease, which its process's signs of life prolong. A grant that is handed over to it gets what is
// left of that lease.
package locktable

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/queue"
)

// Table is the lock table of one tree. Only one goroutine at a time may use it. Each use begins
// with [Table.Enter], and happens at the time that it states.
type Table struct {
	// MostWaiters is how many requests may wait, 0 for any number. One too many gets a conflict
	// that matches [pathlock.ErrQueueFull], too.
	MostWaiters int
	// MostOfOwner is how many requests an owner may have, granted or waiting, 0 for any number.
	MostOfOwner int
	// ClockError bounds how much later the true time may be than the time that a use states. Leases
	// last longer by it.
	ClockError time.Duration

	tree  pathlock.Tree
	mint  func(now time.Time) (fence uint64)
	ended func(*Request)

	queue  queue.Queue
	owners map[pathlock.Owner]*owner
	first  time.Time // before which no lease ends, zero if none runs
	ticket uint64    // of the latest request
	fence  uint64    // of the latest grant
	now    time.Time
	// waitersExpire says that a waiter has a lease, too, which its process has to prolong.
	waitersExpire bool
	// limit bounds how many requests one use grants, if it is positive. The rest stays in the
	// queue, and waits for nobody.
	limit, granted int
	// spare and spareOwner are kept for the next request, nil if there are none: a request that
	// nobody competes with allocates nothing.
	spare      *Request
	spareOwner *owner
	// asked are the claims of the latest request, as the queue gets them.
	asked []queue.Claim
}

// New returns an empty table. mint makes the fence of a grant, greater than all before it in the
// tree. ended is called when the wait of a request is over: it is granted, or [Request.Err] says
// why not. It is not called if the request's own call gives up.
func New(tree pathlock.Tree, mint func(now time.Time) (fence uint64), ended func(*Request)) *Table {
	t := &Table{tree: tree, mint: mint, ended: ended, owners: make(map[pathlock.Owner]*owner)}
	t.queue.Granted, t.queue.Refused, t.queue.Full = t.handedOver, t.refused, t.isFull
	return t
}

// Tree returns the table's tree.
func (t *Table) Tree() pathlock.Tree { return t.tree }

// Reset makes an empty table like new, for any tree.
func (t *Table) Reset(tree pathlock.Tree) {
	t.tree, t.ticket, t.fence, t.first = tree, 0, 0, time.Time{}
}

// IsEmpty reports whether nobody holds or waits.
func (t *Table) IsEmpty() bool { return len(t.owners) == 0 }

// Enter clears the table of leases that have ended.
func (t *Table) Enter(now time.Time) {
	t.now = now
	t.reclaim()
}

// Acquire grants req, refuses it, or queues it. A second call with the same owner and grant id gets
// the same request, and is a sign of life. A request that does not wait gets a conflict and never a
// deadlock.
func (t *Table) Acquire(req pathlock.Acquisition) (*Request, error) {
	switch r := t.Find(req.Owner, req.Grant); {
	case r == nil:
	case r.entry.Granted():
		t.extend(r.lease(), t.ending(req.Lease))
		return r, nil
	case req.Wait <= 0:
		return nil, t.Conflict(r, 0, nil)
	default:
		t.revive(r, t.ending(req.Lease))
		return r, nil
	}
	o := t.owners[req.Owner]
	if req.Held && (o == nil || !o.Holds()) {
		return nil, fmt.Errorf("%w: owner %s holds nothing in %s any more", pathlock.ErrLost, req.Owner.Short(), t.tree)
	}
	if o != nil && t.MostOfOwner > 0 && len(o.Grants)+len(o.Waits) >= t.MostOfOwner {
		return nil, fmt.Errorf("%w: owner %s has %d grants in %s already: claim an ancestor, or the gate", pathlock.ErrInvalidRequest, req.Owner.Short(), t.MostOfOwner, t.tree)
	}
	t.ticket++
	r := t.newRequest(&req, t.ticket)
	if err := t.decide(r); err != nil {
		t.queue.Drop(&r.entry)
		t.tidy(r)
		return nil, err
	}
	return r, nil
}

// decide grants a new request, queues it, or says why not.
func (t *Table) decide(r *Request) error {
	obstacle := t.queue.Obstacle(&r.entry)
	switch {
	case obstacle.By == nil:
		t.queue.Grant(&r.entry)
		t.begin(r)
		t.queue.Settle(t.queue.Advance(&r.owner.Owner))
		return nil
	case r.Wait <= 0:
		return t.Conflict(r, 0, nil)
	}
	if c := t.queue.Deadlock(&r.entry); c.By != nil {
		return t.deadlock(r, c)
	}
	if t.MostWaiters > 0 && t.queue.Waiters() >= t.MostWaiters {
		return t.Conflict(r, 0, pathlock.ErrQueueFull)
	}
	t.wait(r, t.ending(r.Lease), obstacle.By)
	return nil
}

// wait queues a request, which watches another one if that is not nil.
func (t *Table) wait(r *Request, until time.Time, watching *queue.Request) {
	t.queue.Wait(&r.entry, watching)
	r.waited = true
	t.revive(r, until)
}

// handedOver notes that a waiting request has been granted.
func (t *Table) handedOver(q *queue.Request) {
	r := of(q)
	t.begin(r)
	t.end(r, nil)
}

// refused notes that a waiting request was refused, because it would now close a deadlock.
func (t *Table) refused(q *queue.Request, c queue.Conflict) {
	r := of(q)
	err := t.deadlock(r, c)
	t.tidy(r)
	t.end(r, err)
}

// end ends the wait of r, which is granted if err is nil.
func (t *Table) end(r *Request, err error) {
	r.err = err
	t.ended(r)
}

// isFull reports whether this use may grant nothing more.
func (t *Table) isFull() bool { return t.limit > 0 && t.granted >= t.limit }

// GiveUp takes a waiting request out of the queue.
func (t *Table) GiveUp(r *Request) { t.queue.Settle(t.remove(r)) }

// Find returns the request of an owner with an id, nil if it neither holds nor waits.
func (t *Table) Find(owner pathlock.Owner, id pathlock.GrantID) *Request {
	o := t.owners[owner]
	if o == nil {
		return nil
	}
	for _, list := range [][]*queue.Request{o.Grants, o.Waits} {
		for i := len(list) - 1; i >= 0; i-- { // the latest is mostly released first
			if r := of(list[i]); r.Grant == id {
				return r
			}
		}
	}
	return nil
}

// Release gives back one grant.
func (t *Table) Release(owner pathlock.Owner, id pathlock.GrantID) error {
	r := t.Find(owner, id)
	if r == nil || !r.entry.Granted() {
		return fmt.Errorf("%w: grant %s of owner %s in %s", pathlock.ErrNotHeld, id, owner.Short(), t.tree)
	}
	t.queue.Settle(t.remove(r))
	return nil
}

// ForceRelease takes away what an owner holds and waits for, but no more requests than most, unless
// that is 0. It reports whether any are left.
func (t *Table) ForceRelease(owner pathlock.Owner, most int) (more bool, err error) {
	o := t.owners[owner]
	if o == nil {
		return false, fmt.Errorf("%w: owner %s in %s", pathlock.ErrNotHeld, owner.Short(), t.tree)
	}
	reason := fmt.Errorf("%w: taken away from owner %s in %s", pathlock.ErrLost, owner.Short(), t.tree)
	all := len(o.Grants) + len(o.Waits)
	if most == 0 {
		most = all
	}
	t.queue.Settle(t.evict(o, most, reason))
	return most < all, nil
}

// evict ends the waits of o with the given reason, and takes away what it holds, but no more
// requests than most. It returns those to settle.
func (t *Table) evict(o *owner, most int, reason error) (unwatched []*queue.Request) {
	all := slices.Concat(o.Grants, o.Waits)
	for _, q := range slices.Backward(all[max(0, len(all)-most):]) {
		waited := of(q).Queued()
		unwatched = append(unwatched, t.remove(of(q))...)
		if waited {
			t.end(of(q), reason)
		}
	}
	return unwatched
}

// remove takes r, granted or waiting, out of the table. It returns those to settle.
func (t *Table) remove(r *Request) (unwatched []*queue.Request) {
	unwatched = t.queue.Remove(&r.entry)
	t.tidy(r)
	return unwatched
}

// tidy ends the lease of an owner that holds nothing any more, and keeps a request that is not in
// the queue for the next one. It does not keep one that has waited, because the calls that wait for
// it still look at it.
func (t *Table) tidy(r *Request) {
	o := r.owner
	if !o.Holds() {
		o.until = time.Time{}
		if len(o.Waits) == 0 {
			delete(t.owners, o.id)
			*o = owner{Owner: queue.Owner{Grants: o.Grants, Waits: o.Waits}}
			t.spareOwner = o
		}
	}
	const fewClaims = 64
	if !r.waited && cap(r.Claims) <= fewClaims {
		t.spare = r
	}
	if cap(t.asked) > fewClaims {
		t.asked = nil
	}
}

// Snapshot returns what the table holds.
func (t *Table) Snapshot() pathlock.Snapshot {
	s := pathlock.Snapshot{Tree: t.tree, Now: t.now, Fence: t.fence, Holders: []pathlock.Entry{}, Waiters: []pathlock.Entry{}}
	all := slices.SortedFunc(t.Requests, func(a, b *Request) int {
		return cmp.Or(cmp.Compare(a.fence, b.fence), cmp.Compare(a.entry.Order, b.entry.Order))
	})
	for _, r := range all {
		e := pathlock.Entry{
			Owner: r.Owner, Gate: r.Gate, Detached: r.Owner.Detached(), Claims: slices.Clone(r.Claims), Note: r.Note, Origin: r.Origin,
			Fence: r.fence, Since: r.since, Until: r.waitUntil,
		}
		if r.entry.Granted() {
			e.Until = r.Ends()
			s.Holders = append(s.Holders, e)
		} else {
			s.Waiters = append(s.Waiters, e)
		}
	}
	return s
}

// Requests yields all requests of the table, in no particular order.
func (t *Table) Requests(yield func(*Request) bool) {
	for _, o := range t.owners {
		for _, list := range [][]*queue.Request{o.Grants, o.Waits} {
			for _, q := range list {
				if !yield(of(q)) {
					return
				}
			}
		}
	}
}
