package memstore

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
)

// leases are the owners that hold something, as a heap (container/heap) with the one
// whose lease ends first on top.
type leases []*owner

func (l leases) Len() int           { return len(l) }
func (l leases) Less(i, j int) bool { return l[i].until.Before(l[j].until) }
func (l leases) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].expiry, l[j].expiry = i, j
}

// Push implements [heap.Interface].
func (l *leases) Push(x any) {
	o := x.(*owner)
	o.expiry = len(*l)
	o.leased = true
	*l = append(*l, o)
}

// Pop implements [heap.Interface].
func (l *leases) Pop() any {
	last := len(*l) - 1
	o := (*l)[last]
	(*l)[last] = nil
	*l = (*l)[:last]
	o.leased = false
	return o
}

// extend makes o's lease last until the given time at least: a lease that o
// has already is never shortened.
func (l *leases) extend(o *owner, until time.Time) {
	switch {
	case !o.leased:
		o.until = until
		heap.Push(l, o)
	case until.After(o.until):
		o.until = until
		heap.Fix(l, o.expiry)
	}
}

// set makes the lease that o has end at the given time, also earlier than it would have.
func (l *leases) set(o *owner, until time.Time) {
	o.until = until
	heap.Fix(l, o.expiry)
}

// remove ends o's lease.
func (l *leases) remove(o *owner) { heap.Remove(l, o.expiry) }

// reclaim takes everything away from owners whose lease has ended, and hands it over. Their waits end as
// well: what they asked for was meant to come on top of what they have lost.
func (t *table) reclaim(now time.Time) {
	var unwatched []*request
	for len(t.leases) > 0 && !now.Before(t.leases[0].until) {
		o := t.leases[0]
		reason := fmt.Errorf("%w: the lease of owner %s in %s ended", pathlock.ErrLost, o.id.Short(), t.tree)
		unwatched = append(unwatched, t.evict(o, reason)...)
	}
	t.handOver(now, unwatched)
}
