package locktable

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/queue"
)

// Record is a request as it is kept outside of a table, so that another process can go on with it.
type Record struct {
	// Place is the request's place in the order of arrival. No two of a tree have the same.
	Place uint64         `json:"place"`
	Owner pathlock.Owner `json:"owner"`
	// Until is when the lease ends, by the clock that all processes share. While the request waits,
	// the lease runs from its process's last sign of life.
	Until time.Time `json:"until,omitzero"`
	// OwnerUntil is the end of the lease that the owner's grants share, zero while the request
	// waits. It is Until, too, unless the grant is apart.
	OwnerUntil time.Time `json:"owner_until,omitzero"`
	// WaitUntil is when the wait ends, zero for a grant.
	WaitUntil time.Time `json:"wait_until,omitzero"`

	Grant  pathlock.GrantID `json:"grant"`
	Gate   bool             `json:"gate,omitempty"`
	Apart  bool             `json:"apart,omitempty"`
	Claims []pathlock.Claim `json:"claims,omitempty"`
	Note   string           `json:"note,omitempty"`
	Origin pathlock.Origin  `json:"origin,omitzero"`
	Lease  time.Duration    `json:"lease"`
	// Fence is that of the grant, 0 while the request waits.
	Fence uint64 `json:"fence,omitempty"`
	// Since is when the wait began, and then when the grant was made.
	Since time.Time `json:"since,omitzero"`
	// Held says that the request rests on others of its owner: a waiting one on any that hold, and
	// one that is apart on those that are not. If these go without a release, the request ends.
	Held bool `json:"held,omitempty"`

	// Data is the caller's.
	Data any `json:"-"`
}

// Restore fills an empty table with what records say at the given time, and hands over what nobody
// holds any more. Do not call [Table.Enter] after it. Waiters expire in a restored table: each
// leaves the queue when its lease ends, unless it is asked for again.
//
// The fence is that of the latest grant. The place is the last one in the order of arrival that a
// record, or anything else that is kept of the tree, has: new requests get later ones.
//
// At most limit requests are granted by all that follows, if limit is positive.
func (t *Table) Restore(records []*Record, now time.Time, fence, place uint64, limit int) {
	t.now, t.fence, t.ticket, t.waitersExpire, t.limit = now, fence, place, true, limit
	slices.SortFunc(records, func(a, b *Record) int {
		return cmp.Or(cmp.Compare(a.Fence, b.Fence), cmp.Compare(a.Place, b.Place))
	})
	var waiting []*queue.Request
	for _, rec := range records {
		r := t.newRequest(&pathlock.Acquisition{
			Owner: rec.Owner, Grant: rec.Grant, Gate: rec.Gate, Held: rec.Held, Claims: rec.Claims, Lease: rec.Lease, Apart: rec.Apart,
			Note: rec.Note, Origin: rec.Origin,
		}, rec.Place)
		r.Data, r.restored, r.since, r.waitUntil = rec.Data, rec, rec.Since, rec.WaitUntil
		if rec.Fence == 0 {
			t.wait(r, rec.Until, nil)
			waiting = append(waiting, &r.entry)
			continue
		}
		r.fence = rec.Fence
		t.queue.Grant(&r.entry)
		t.extend(&r.owner.until, rec.OwnerUntil)
		if r.apart = r.Apart; r.apart {
			t.extend(&r.until, rec.Until)
		}
	}
	t.evictOrphans()
	t.reclaim()
	t.queue.Settle(waiting)
}

// evictOrphans ends the apart grants and the waits that rest on holds which are gone without a
// release: with the session of a process, for instance.
func (t *Table) evictOrphans() {
	for _, r := range slices.Collect(t.Requests) {
		switch {
		case !r.restored.Held:
		case r.apart && !r.owner.shares():
			t.remove(r)
		case r.Queued() && !r.owner.Holds():
			t.remove(r)
			t.end(r, fmt.Errorf("%w: owner %s holds nothing in %s any more", pathlock.ErrLost, r.Owner.Short(), t.tree))
		}
	}
}

// Record returns what is kept of a request.
func (r *Request) Record() Record {
	rec := Record{
		Place: r.entry.Order, Owner: r.Owner, Grant: r.Grant, Gate: r.Gate, Claims: slices.Clone(r.Claims), Note: r.Note, Origin: r.Origin,
		Lease: r.Lease, Fence: r.fence, Since: r.since,
	}
	if r.Queued() {
		rec.Apart, rec.Held, rec.Until, rec.WaitUntil = r.Apart, r.owner.Holds(), r.Ends(), r.waitUntil
		return rec
	}
	rec.Apart, rec.Held = r.apart, r.apart && r.owner.shares()
	rec.Until, rec.OwnerUntil = *r.lease(), r.owner.until
	return rec
}

// Changed reports whether the request is new, or another than the record that it was restored from.
func (r *Request) Changed() bool {
	was := r.restored
	if was == nil {
		return true
	}
	is := r.Record()
	if is.Owner != was.Owner || is.Fence != was.Fence || !is.WaitUntil.Equal(was.WaitUntil) || !is.Until.Equal(was.Until) {
		return true
	}
	if r.Queued() {
		return is.Held != was.Held
	}
	return is.Apart != was.Apart || is.Apart && is.Held != was.Held || !is.OwnerUntil.Equal(was.OwnerUntil)
}

// Reserve returns a place in the order of arrival that no request gets.
func (t *Table) Reserve() uint64 {
	t.ticket++
	return t.ticket
}
