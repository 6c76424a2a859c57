package locktable

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/queue"
)

// lease returns the end of a request's lease: its own, if it waits or is apart, or else the one
// that all grants of its owner share.
func (r *Request) lease() *time.Time {
	if r.apart || r.fence == 0 {
		return &r.until
	}
	return &r.owner.until
}

// ending returns the end of a lease that begins now.
func (t *Table) ending(lease time.Duration) time.Time {
	return t.now.Add(min(lease, pathlock.Forever) + t.ClockError)
}

// extend makes a lease run until the given time at least. It never shortens one.
func (t *Table) extend(lease *time.Time, until time.Time) {
	if until.After(*lease) {
		t.set(lease, until)
	}
}

// set sets the end of a lease, even to an earlier time.
func (t *Table) set(lease *time.Time, until time.Time) {
	*lease = until
	t.watch(until)
}

// watch makes the table look for ended leases once the given time has come.
func (t *Table) watch(end time.Time) {
	if t.first.IsZero() || end.Before(t.first) {
		t.first = end
	}
}

// Ends returns when the request ends, unless its lease is prolonged. It is zero for a waiter that
// does not expire.
func (r *Request) Ends() time.Time {
	if end := *r.lease(); r.Queued() || end.Before(r.owner.until) {
		return end
	}
	return r.owner.until
}

// begin mints the fence of a request that has been granted, and starts its lease: with the grant,
// or with the last sign of life of a waiter that expires. A request that is to be apart shares its
// owner's lease if the owner has released everything meanwhile.
func (t *Table) begin(r *Request) {
	t.fence = t.mint(t.now)
	t.granted++
	r.fence, r.since = t.fence, t.now
	until := t.ending(r.Lease)
	if !r.until.IsZero() {
		until = r.until // of the waiter that it was
	}
	r.apart, r.until = r.Apart && !r.owner.until.IsZero(), time.Time{}
	t.extend(r.lease(), until)
}

// revive prolongs the lease of a waiter, if it has one.
func (t *Table) revive(r *Request, until time.Time) {
	if t.waitersExpire {
		t.extend(&r.until, until)
	}
}

// Renew extends leases, and returns the owners that have none.
func (t *Table) Renew(renewals []pathlock.Lease) (lost []pathlock.Owner) {
	for _, l := range renewals {
		if e := t.leaseOf(l); e != nil {
			t.extend(e, t.ending(l.For))
		} else {
			lost = append(lost, l.Owner)
		}
	}
	return lost
}

// leaseOf returns the lease to renew, nil if it has ended.
func (t *Table) leaseOf(l pathlock.Lease) *time.Time {
	o := t.owners[l.Owner]
	if o == nil || !o.Holds() {
		return nil
	}
	if l.Grant == "" {
		return &o.until
	}
	if r := t.Find(l.Owner, l.Grant); r != nil && r.entry.Granted() {
		return r.lease()
	}
	return nil
}

// ErrExpired is why a waiter whose process has given no sign of life has lost its place.
var ErrExpired = errors.New("its process gave no sign of life")

// reclaim takes everything away from owners whose lease has ended, and hands it over. Their waits
// end too, because they asked for more than what they have lost. An apart grant alone is released
// at the end of its own lease, and a waiter that expires leaves the queue at the end of its own.
func (t *Table) reclaim() {
	if t.first.IsZero() || t.now.Before(t.first) {
		return
	}
	var unwatched []*queue.Request
	for _, o := range slices.Collect(maps.Values(t.owners)) {
		if o.Holds() && !t.now.Before(o.until) {
			reason := fmt.Errorf("%w: the lease of owner %s in %s ended", pathlock.ErrLost, o.id.Short(), t.tree)
			unwatched = append(unwatched, t.evict(o, len(o.Grants)+len(o.Waits), reason)...)
			continue
		}
		for _, q := range slices.Concat(o.Grants, o.Waits) {
			r, waited := of(q), of(q).Queued()
			if r.until.IsZero() || t.now.Before(r.until) {
				continue
			}
			unwatched = append(unwatched, t.remove(r)...)
			if waited {
				t.end(r, fmt.Errorf("%w: the wait of owner %s in %s ended: %w", pathlock.ErrLost, r.Owner.Short(), t.tree, ErrExpired))
			}
		}
	}
	t.first = time.Time{}
	for r := range t.Requests {
		if end := r.Ends(); !end.IsZero() {
			t.watch(end)
		}
	}
	t.queue.Settle(unwatched)
}

// OwnerEnd returns the end of the lease that the grants of a request's owner share. It reports
// false if the owner holds nothing.
func (t *Table) OwnerEnd(r *Request) (time.Time, bool) {
	return r.owner.until, r.owner.Holds()
}

// Due returns when somebody has to enter the table for the sake of those who wait: no lease ends
// before then. It is zero if nobody waits, or no lease runs.
func (t *Table) Due() time.Time {
	if t.queue.Waiters() == 0 {
		return time.Time{}
	}
	return t.first
}

// owner is one owner's part in a table. It exists while the owner holds or waits there.
type owner struct {
	queue.Owner
	id pathlock.Owner
	// until is the end of the lease that the grants share, but for those that are apart; zero if
	// there is none.
	until time.Time
}

// ownerOf returns an owner, a new one if it takes no part in the tree.
func (t *Table) ownerOf(id pathlock.Owner) *owner {
	if o := t.owners[id]; o != nil {
		return o
	}
	o := t.spareOwner
	if t.spareOwner = nil; o == nil {
		o = new(owner)
	}
	o.id = id
	t.owners[id] = o
	return o
}

// shares reports whether the owner has a grant that is not apart.
func (o *owner) shares() bool {
	return slices.ContainsFunc(o.Grants, func(q *queue.Request) bool { return !of(q).apart })
}

// Transfer gives what one owner holds to another and sets the end of the lease. The error matches
// [pathlock.ErrInvalidRequest] if To is another owner and takes part in the tree already while From
// holds something.
func (t *Table) Transfer(tr pathlock.Transfer) (pathlock.Transferred, error) {
	from, to := t.owners[tr.From], t.owners[tr.To]
	switch {
	case from != nil && from.Holds():
	case to != nil && to.Holds():
		// The transfer was sent again. The first one did everything.
		return t.transferred(to), nil
	default:
		return pathlock.Transferred{}, fmt.Errorf("%w: owner %s holds nothing in %s any more", pathlock.ErrLost, tr.From.Short(), t.tree)
	}
	if tr.From != tr.To {
		if to != nil {
			return pathlock.Transferred{}, fmt.Errorf("%w: a transfer to owner %s, which already takes part in the tree", pathlock.ErrInvalidRequest, tr.To.Short())
		}
		to = t.succeed(from, tr.To)
		t.queue.Settle(nil)
	}
	if tr.Lease > 0 {
		t.set(&to.until, t.ending(tr.Lease))
	}
	return t.transferred(to), nil
}

// succeed makes an owner of what from holds. The waiting requests stay with from.
func (t *Table) succeed(from *owner, id pathlock.Owner) *owner {
	to := t.ownerOf(id)
	t.queue.Move(&from.Owner, &to.Owner)
	for _, q := range to.Grants {
		r := of(q)
		r.owner, r.Owner, r.apart, r.until = to, id, false, time.Time{}
	}
	to.until, from.until = from.until, time.Time{}
	if len(from.Waits) == 0 {
		delete(t.owners, from.id)
	}
	return to
}

// transferred describes what an owner holds.
func (t *Table) transferred(o *owner) pathlock.Transferred {
	answer := pathlock.Transferred{Left: o.until.Sub(t.now) - t.ClockError, Grants: make([]pathlock.TransferredGrant, 0, len(o.Grants))}
	for _, q := range o.Grants {
		r := of(q)
		answer.Grants = append(answer.Grants, pathlock.TransferredGrant{
			ID: r.Grant, Gate: r.Gate, Claims: slices.Clone(r.Claims), Note: r.Note, Fence: r.fence,
			Apart: r.apart,
		})
	}
	slices.SortFunc(answer.Grants, func(a, b pathlock.TransferredGrant) int { return cmp.Compare(a.Fence, b.Fence) })
	return answer
}
