package memstore

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
)

// lease is what grants live by: one of an owner's, which all of its grants share, or one of a
// single grant that is apart.
type lease struct {
	// owner has the lease, unless grant does.
	owner *owner
	grant *request
	until time.Time
	// index is the lease's in the table's heap, which it is in while it runs.
	index int
	runs  bool
}

// leases are those that run in a table, as a heap (container/heap) with the one that ends first on
// top.
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

// extend makes a lease last until the given time at least: one that runs already is never
// shortened.
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

// set makes a lease that runs end at the given time, also earlier than it would have.
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

// lease returns the one by which a granted request lives.
func (r *request) lease() *lease {
	if r.own != nil {
		return r.own
	}
	return &r.owner.lease
}

// ends returns when a granted request does, unless its lease is renewed.
func (r *request) ends() time.Time {
	if r.own != nil && r.own.until.Before(r.owner.lease.until) {
		return r.own.until
	}
	return r.owner.lease.until
}

// begin has the lease of a request run that is being granted. One that is to be apart shares its
// owner's all the same where the owner has let go meanwhile of all that it held.
func (t *table) begin(r *request, now time.Time) {
	if r.Apart && r.owner.lease.runs {
		r.own = &lease{grant: r}
	}
	t.leases.extend(r.lease(), now.Add(r.Lease))
}

// share ends the lease that a request has apart, if any.
func (t *table) share(r *request) {
	if r.own != nil {
		t.leases.remove(r.own)
		r.own = nil
	}
}

// reclaim takes everything away from owners whose lease has ended, and hands it over. Their waits
// end as well: what they asked for was meant to come on top of what they have lost. A grant that is
// apart is released alone at the end of its own lease.
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
