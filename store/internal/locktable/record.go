package locktable

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Record is a request as it is kept outside of a table, so that another process can go on with it.
type Record struct {
	// Acquisition is what was asked for. Held says whether the request rests on something else: a
	// waiting one on what its owner holds, and an apart grant on grants of its owner that are not.
	pathlock.Acquisition
	// Ticket is the request's place in the order of arrival.
	Ticket uint64
	// Fence is that of the grant, 0 while the request waits.
	Fence uint64
	// Since is when the wait began, and then when the grant was made.
	Since time.Time
	// Until is when the lease ends: of the grant, or of the waiter, whose lease runs from its last
	// sign of life.
	Until time.Time
	// OwnerUntil is when the lease ends that the owner's grants share. It means nothing while the
	// request waits.
	OwnerUntil time.Time
	// WaitUntil is when the wait ends.
	WaitUntil time.Time
	// Data is the caller's.
	Data any
}

// Last is what a tree has given out last.
type Last struct {
	// Fence is that of the latest grant.
	Fence uint64
	// Ticket is the last place in the order of arrival that anything kept of the tree has, a record
	// or something else. No new request gets it, nor one before it.
	Ticket uint64
}

// Restore fills an empty table with what records say at the given time, and hands over what nobody
// holds any more. It is followed by no [Table.Enter]. Waiters are mortal in a restored table: each
// leaves the queue when its lease ends, unless it is asked for again.
//
// At most limit requests are granted by all that follows, if limit is positive.
func (t *Table) Restore(records []*Record, now time.Time, last Last, limit int) {
	t.now, t.fence, t.mortal, t.quota = now, last.Fence, true, quota{limit: limit}
	slices.SortFunc(records, func(a, b *Record) int {
		return cmp.Or(cmp.Compare(a.Fence, b.Fence), cmp.Compare(a.Ticket, b.Ticket))
	})
	var waiting []*Request
	for _, rec := range records {
		if rec.Fence != 0 {
			t.restoreGrant(rec)
		}
	}
	for _, rec := range records {
		if rec.Fence == 0 {
			waiting = append(waiting, t.restoreWaiter(rec))
		}
	}
	t.ticket = last.Ticket
	t.stale = len(t.conversions) > 0
	t.evictBereft(records, waiting)
	t.reclaim(now)
	t.handOver(now, waiting)
}

// evictBereft ends the apart grants and the waits that rest on holds which are gone without a
// release: with the session of a process, for instance.
func (t *Table) evictBereft(records []*Record, waiting []*Request) {
	for _, rec := range records {
		if o := t.owners[rec.Owner]; rec.Fence != 0 && rec.Apart && rec.Held && o != nil && !o.shares() {
			t.remove(o.grants.find(rec.Grant))
		}
	}
	for _, r := range waiting {
		if !r.restored.Held || r.owner.holds() {
			continue
		}
		t.remove(r)
		t.end(r, fmt.Errorf("%w: owner %s holds nothing in %s any more", pathlock.ErrLost, r.Owner.Short(), t.tree))
	}
}

// restored makes a request of a record.
func (t *Table) restored(rec *Record) *Request {
	r := t.newRequest(t.owners[rec.Owner], &rec.Acquisition, rec.Since)
	r.ticket, r.Data, r.restored = rec.Ticket, rec.Data, rec
	return r
}

func (t *Table) restoreGrant(rec *Record) {
	r := t.restored(rec)
	r.fence, r.until = rec.Fence, rec.WaitUntil
	for i := range r.places {
		p := &r.places[i]
		p.node.granted.append(p)
		p.node.uses++
	}
	r.owner.grants.add(r)
	t.leases.extend(&r.owner.lease, rec.OwnerUntil)
	if r.Apart {
		r.apartLease = &lease{request: r}
		t.leases.extend(r.apartLease, rec.Until)
	}
}

func (t *Table) restoreWaiter(rec *Record) *Request {
	r := t.restored(rec)
	r.life = &lease{request: r, until: rec.Until}
	r.until = rec.WaitUntil
	t.enqueue(r)
	return r
}

// Requests yields all requests of the table, in no particular order.
func (t *Table) Requests(yield func(*Request) bool) {
	for _, o := range t.owners {
		for r := range o.grants.all {
			if !yield(r) {
				return
			}
		}
		for r := range o.waits.all {
			if !yield(r) {
				return
			}
		}
	}
}

// Record returns what is to be kept of a request.
func (r *Request) Record() Record {
	rec := Record{
		Acquisition: r.Acquisition, Ticket: r.ticket, Fence: r.fence, Since: r.since, WaitUntil: r.until, Data: r.Data,
	}
	rec.Claims = r.claims()
	switch {
	case r.granted():
		rec.Apart = r.apartLease != nil
		rec.Held = rec.Apart && r.owner.shares()
		rec.Until, rec.OwnerUntil = r.lease().until, r.owner.lease.until
	case r.life != nil:
		rec.Until = r.life.until
	}
	return rec
}

// Changed reports whether the request is new, or another than the record that it was restored from.
func (r *Request) Changed() bool {
	rec := r.restored
	if rec == nil || r.Owner != rec.Owner || r.fence != rec.Fence || !r.until.Equal(rec.WaitUntil) {
		return true
	}
	if !r.granted() {
		return r.Held != rec.Held || !r.life.until.Equal(rec.Until)
	}
	if r.apartLease != nil && r.owner.shares() != rec.Held {
		return true
	}
	return r.Apart && r.apartLease == nil || !r.lease().until.Equal(rec.Until) || !r.owner.lease.until.Equal(rec.OwnerUntil)
}

// Ends returns when the request ends, unless its lease is prolonged.
func (r *Request) Ends() time.Time {
	if r.granted() {
		return r.ends()
	}
	return r.life.until
}

// OwnerWaits yields the waiting requests of a request's owner.
func (r *Request) OwnerWaits(yield func(*Request) bool) { r.owner.waits.all(yield) }

// Reserve returns a place in the order of arrival that no request gets.
func (t *Table) Reserve() uint64 {
	t.ticket++
	return t.ticket
}

// Watched returns the request that a waiting request watches: it cannot be granted while that one
// is there. It is nil where the quota was used up before the request had its turn.
func (r *Request) Watched() *Request { return r.watching }

// Deferred reports whether requests are left in the queue because the quota is used up.
func (t *Table) Deferred() bool { return t.quota.isUsedUp() && t.waiters > 0 }

// Alive prolongs the life of a mortal waiter: it lasts for the given time from now.
func (t *Table) Alive(r *Request, lease time.Duration) {
	if r.life != nil && r.queued {
		t.leases.extend(r.life, t.now.Add(lease))
	}
}

// OwnerEnd returns when the lease ends that the grants of a request's owner share. It reports false
// if the owner holds nothing.
func (t *Table) OwnerEnd(r *Request) (time.Time, bool) {
	return r.owner.lease.until, r.owner.holds()
}
