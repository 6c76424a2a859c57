package memstore

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
)

// lease is the lease of an owner, which its grants share, or of a single apart grant.
type lease struct {
	owner *owner   // nil for that of a grant
	grant *request // nil for that of an owner
	until time.Time
	// index is the lease's in the table's heap, while it runs.
	index int
	runs  bool
}

// leases are the running leases of a table, as a heap with the one that ends first on top.
type leases []*lease

func (l leases) Len() int           { return len(l) }
func (l leases) Less(i, j int) bool { return l[i].until.Before(l[j].until) }
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

// remove ends a lease, if it runs.
func (l *leases) remove(e *lease) {
	if e.runs {
		heap.Remove(l, e.index)
	}
}

// lease returns the lease of a granted request.
func (r *request) lease() *lease {
	if r.apartLease != nil {
		return r.apartLease
	}
	return &r.owner.lease
}

// ends returns when a granted request ends, unless its lease is renewed.
func (r *request) ends() time.Time {
	if r.apartLease != nil && r.apartLease.until.Before(r.owner.lease.until) {
		return r.apartLease.until
	}
	return r.owner.lease.until
}

// begin starts the lease of a request that is being granted. A request that is to be apart shares
// its owner's lease if the owner has released everything meanwhile.
func (t *table) begin(r *request, now time.Time) {
	if r.Apart && r.owner.lease.runs {
		r.apartLease = &lease{grant: r}
	}
	t.leases.extend(r.lease(), now.Add(r.Lease))
}

// share ends the lease of an apart request.
func (t *table) share(r *request) {
	if r.apartLease != nil {
		t.leases.remove(r.apartLease)
		r.apartLease = nil
	}
}

// reclaim takes everything away from owners whose lease has ended, and hands it over. Their waits
// end too, because they asked for more than what they have lost. An apart grant alone is released
// at the end of its own lease.
func (t *table) reclaim(now time.Time) {
	var unwatched []*request
	for len(t.leases) > 0 && !now.Before(t.leases[0].until) {
		if r := t.leases[0].grant; r != nil {
			unwatched = append(unwatched, t.remove(r)...)
			continue
		}
		o := t.leases[0].owner
		reason := fmt.Errorf("%w: the lease of owner %s in %s ended", pathlock.ErrLost, o.id.Short(), t.tree)
		unwatched = append(unwatched, t.evict(o, reason)...)
	}
	t.handOver(now, unwatched)
}

// alarm ticks at the earliest lease end while somebody waits. All waiters listen to its one
// channel. The tick reaches one of them, which clears up for all.
type alarm struct {
	timer *time.Timer
	at    time.Time // zero while it is off
}

// ticks returns the channel to listen to.
func (a *alarm) ticks() <-chan time.Time {
	if a.timer == nil {
		a.timer = time.NewTimer(0)
		a.timer.Stop()
	}
	return a.timer.C
}

// set makes the alarm tick at the first of the lease ends, or not at all if nobody waits. now is
// when the table was entered: a tick until then has been dealt with.
func (a *alarm) set(somebodyWaits bool, l leases, now time.Time) {
	switch {
	case !somebodyWaits || len(l) == 0:
		if !a.at.IsZero() {
			a.timer.Stop()
			a.at = time.Time{}
		}
	case a.at.IsZero() || l[0].until.Before(a.at) || !now.Before(a.at):
		// A renewal does not move the alarm. The tick comes early then, finds nothing, and sets the
		// next one. That costs less than resetting the timer with every renewal.
		a.at = l[0].until
		a.timer.Reset(time.Until(a.at))
	}
}
