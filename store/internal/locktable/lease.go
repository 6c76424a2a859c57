package locktable

import (
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/queue"
)

// lease is the lease of an owner, which its grants share, or of a single request: an apart grant,
// or a mortal waiter.
type lease struct {
	owner   *owner   // nil for that of a request
	request *Request // nil for that of an owner
	until   time.Time
	// index is the lease's in the table's heap, while it runs.
	index int
	runs  bool
}

// leases are the running leases of a table, as a heap with the one that ends first on top.
type leases []*lease

func (l leases) Len() int { return len(l) }

// Less lets an owner's lease end before those of its requests that end at the same time, so that a
// table and its copy agree on what ends with what.
func (l leases) Less(i, j int) bool {
	if l[i].until.Equal(l[j].until) {
		return l[i].request == nil && l[j].request != nil
	}
	return l[i].until.Before(l[j].until)
}

// Swap implements [heap.Interface].
func (l leases) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].index, l[j].index = i, j
}

// Push implements [heap.Interface].
func (l *leases) Push(x any) {
	e := x.(*lease)
	e.index, e.runs = len(*l), true
	*l = append(*l, e)
}

// Pop implements [heap.Interface].
func (l *leases) Pop() any {
	last := len(*l) - 1
	e := (*l)[last]
	(*l)[last] = nil
	*l = (*l)[:last]
	e.runs = false
	return e
}

// extend makes a lease run until the given time at least. It never shortens one.
func (l *leases) extend(e *lease, until time.Time) {
	switch {
	case !e.runs:
		e.until = until
		heap.Push(l, e)
	case until.After(e.until):
		e.until = until
		heap.Fix(l, e.index)
	}
}

// set sets the end of a running lease, even to an earlier time.
func (l *leases) set(e *lease, until time.Time) {
	e.until = until
	heap.Fix(l, e.index)
}

// remove ends a lease, if there is one that runs.
func (l *leases) remove(e *lease) {
	if e != nil && e.runs {
		heap.Remove(l, e.index)
	}
}

// lease returns the lease of a granted request.
func (r *Request) lease() *lease {
	if r.apartLease != nil {
		return r.apartLease
	}
	return &r.owner.lease
}

// shares reports whether the owner has a grant that is not apart.
func (o *owner) shares() bool {
	return slices.ContainsFunc(o.Grants, func(q *queue.Request) bool { return of(q).apartLease == nil })
}

// ends returns when a granted request ends, unless its lease is renewed.
func (r *Request) ends() time.Time {
	if r.apartLease != nil && r.apartLease.until.Before(r.owner.lease.until) {
		return r.apartLease.until
	}
	return r.owner.lease.until
}

// Ends returns when the request ends, unless its lease is prolonged.
func (r *Request) Ends() time.Time {
	switch {
	case r.entry.Granted():
		return r.ends()
	case r.life != nil:
		return r.life.until
	default:
		return time.Time{}
	}
}

// begin mints the fence of a request that has been granted, and starts its lease: with the grant,
// or with the last sign of life of a mortal waiter. A request that is to be apart shares its
// owner's lease if the owner has released everything meanwhile.
func (t *Table) begin(r *Request) {
	t.fence = t.mint(t.now)
	t.granted++
	r.fence, r.since = t.fence, t.now
	if r.Apart && r.owner.lease.runs {
		r.apartLease = &lease{request: r}
	}
	until := t.now.Add(r.Lease)
	if r.life != nil {
		until = r.life.until
		t.leases.remove(r.life)
	}
	t.leases.extend(r.lease(), until)
}

// Alive prolongs the life of a mortal waiter: it lasts for the given time from now.
func (t *Table) Alive(r *Request, lease time.Duration) {
	if r.life != nil && r.Queued() {
		t.leases.extend(r.life, t.now.Add(lease))
	}
}

// Renew extends leases, and returns the owners that have none.
func (t *Table) Renew(renewals []pathlock.Lease) (lost []pathlock.Owner) {
	for _, l := range renewals {
		if e := t.leaseOf(l); e != nil {
			t.leases.extend(e, t.now.Add(l.For))
		} else {
			lost = append(lost, l.Owner)
		}
	}
	return lost
}

// leaseOf returns the lease to renew, nil if it has ended.
func (t *Table) leaseOf(l pathlock.Lease) *lease {
	o := t.owners[l.Owner]
	if o == nil || !o.Holds() {
		return nil
	}
	if l.Grant == "" {
		return &o.lease
	}
	if r := t.Find(l.Owner, l.Grant); r != nil && r.entry.Granted() {
		return r.lease()
	}
	return nil
}

// ErrExpired is why a waiter has lost its place whose process has given no sign of life.
var ErrExpired = errors.New("nobody asked any more")

// reclaim takes everything away from owners whose lease has ended, and hands it over. Their waits
// end too, because they asked for more than what they have lost. An apart grant alone is released
// at the end of its own lease, and a mortal waiter leaves the queue at the end of its life.
func (t *Table) reclaim() {
	var unwatched []*queue.Request
	for len(t.leases) > 0 && !t.now.Before(t.leases[0].until) {
		if r := t.leases[0].request; r != nil {
			waited := r.Queued()
			unwatched = append(unwatched, t.remove(r)...)
			if waited {
				t.end(r, fmt.Errorf("%w: %w for what owner %s waits for in %s", pathlock.ErrLost, ErrExpired, r.Owner.Short(), t.tree))
			}
			continue
		}
		o := t.leases[0].owner
		reason := fmt.Errorf("%w: the lease of owner %s in %s ended", pathlock.ErrLost, o.id.Short(), t.tree)
		unwatched = append(unwatched, t.evict(o, reason)...)
	}
	t.queue.Settle(unwatched)
}

// OwnerEnd returns when the lease ends that the grants of a request's owner share. It reports false
// if the owner holds nothing.
func (t *Table) OwnerEnd(r *Request) (time.Time, bool) {
	return r.owner.lease.until, r.owner.Holds()
}

// FirstEnd returns when the first of the leases ends. It reports false if none runs.
func (t *Table) FirstEnd() (time.Time, bool) {
	if len(t.leases) == 0 {
		return time.Time{}, false
	}
	return t.leases[0].until, true
}
