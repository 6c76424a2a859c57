package locktable

import (
	"slices"
)

// obstacle is why a request cannot be granted: one of its places, and a place of another request
// that conflicts with it. The zero obstacle is none.
type obstacle struct {
	asked, by *place
}

// holder returns a granted request that conflicts with r.
func (r *Request) holder() obstacle {
	for i := range r.places {
		for by := range r.places[i].holders {
			return obstacle{&r.places[i], by}
		}
	}
	return obstacle{}
}

// predecessor returns a waiting request that r is behind.
func (r *Request) predecessor() obstacle {
	for by := range r.earlier {
		if !r.mayPass(by.request) {
			return obstacle{r.placeAt(by.node), by}
		}
	}
	return obstacle{}
}

// placeAt returns r's place at a node that it claims.
func (r *Request) placeAt(n *node) *place {
	for i := range r.places {
		if r.places[i].node == n {
			return &r.places[i]
		}
	}
	return nil
}

// obstacle returns one of the requests that r has to wait for. It prefers the waiter just before r.
// So the waiters for one thing watch each other in a chain, and only the first is looked at when
// the thing is free.
func (t *Table) obstacle(r *Request) obstacle {
	if t.waiters > 0 {
		if o := r.predecessor(); o.by != nil {
			return o
		}
	}
	return r.holder()
}

// isFree reports whether nothing held or waited for on r's nodes conflicts with r. Then there is
// neither an obstacle nor anybody to pass.
func (r *Request) isFree() bool {
	for i := range r.places {
		if !r.places[i].isFree() {
			return false
		}
	}
	return true
}

// cycle returns a holder in r's way that waits, directly or through others, for r's owner. Nobody
// can wait for an owner that holds nothing.
func (t *Table) cycle(r *Request) obstacle {
	if t.waiters == 0 || !r.owner.holds() {
		return obstacle{}
	}
	t.search(r.owner, noLimit).spread()
	for i := range r.places {
		for by := range r.places[i].holders {
			for w := range by.request.owner.waits.all {
				if w.found == t.stamp {
					return obstacle{&r.places[i], by}
				}
			}
		}
	}
	return obstacle{}
}

// advance ends the watches of the waiting requests of an owner that has been granted something, and
// returns them: what they watched may wait for the owner by now. A request with a holder in its way
// that waits for the owner ends with a deadlock.
func (t *Table) advance(o *owner) (unwatched []*Request) {
	if o.waits.newest == nil {
		return nil
	}
	for _, r := range slices.SortedFunc(o.waits.all, byArrival) {
		if cycle := t.cycle(r); cycle.by != nil {
			err := t.deadlockError(r, cycle)
			unwatched = append(unwatched, t.remove(r)...)
			t.end(r, err)
			continue
		}
		r.unwatch()
		unwatched = append(unwatched, r)
	}
	t.stale = true
	return unwatched
}
