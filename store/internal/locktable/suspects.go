package locktable

import (
	"maps"
	"slices"
)

// The end of an edge in the graph of waits matters only to passers: they may have to go behind
// somebody whom they passed. Without passers, every request is behind all those that it conflicts
// with, and only those that watch what has gone are decided anew.
//
// A passer loses a request that it passes only if that one waited for the passer's owner through
// the edge. Such passers are the suspects. Unless one of them loses somebody, nobody else is judged
// anew.

// suspectOf finds the suspects when a waiting request goes.
func (t *Table) suspectOf(r *Request) {
	if t.passers == 0 {
		return
	}
	for passer := range t.conversions {
		if passer.mayPass(r) {
			if delete(passer.passed, r); len(passer.passed) == 0 {
				t.passers--
			}
		}
	}
	t.suspectPassers(r.owner, r)
}

// suspectOfRelease finds the suspects when an owner with waiting requests releases a grant. A
// request that waited for the grant may not wait for the owner then, nor for those for whom the
// owner waits. An owner that holds nothing else may pass nobody then, and all are judged anew.
func (t *Table) suspectOfRelease(o *owner) {
	switch {
	case t.passers == 0 || o.waits.newest == nil:
	case o.grants.newest.older == nil:
		t.stale = true
	default:
		t.suspectPassers(o, nil)
	}
}

// suspectPassers finds the passers of requests that wait for the passers' owners through gone, a
// request that goes. If gone is nil, it is through any request of o, which releases something. If
// there are suspects already, all are judged anew.
func (t *Table) suspectPassers(o *owner, gone *Request) {
	if t.stale = t.stale || len(t.suspects) > 0; t.stale {
		return
	}
	stamp := t.searchThrough(o, gone)
	for r := range t.conversions {
		for q := range r.passed {
			if q.found == stamp && q.queued {
				t.suspects = append(t.suspects, r)
				break
			}
		}
	}
	if len(t.suspects) == 0 {
		return
	}
	stamp = t.aim(o, gone)
	t.suspects = slices.DeleteFunc(t.suspects, func(r *Request) bool { return r.owner.searched != stamp })
}

// searchThrough marks the requests that wait behind r, if it is not nil, and those that wait for o.
func (t *Table) searchThrough(o *owner, r *Request) (stamp uint64) {
	t.stamp++
	s := &search{stamp: t.stamp, limit: noLimit}
	if r != nil {
		s.markBehindWaiter(r)
	}
	if o.holds() {
		s.markBehindHolder(o)
	}
	s.spread()
	return s.stamp
}

// anyLoses reports whether one of the suspects may pass fewer of the present waiters than before.
func (t *Table) anyLoses(suspects []*Request) bool {
	for _, r := range suspects {
		maps.DeleteFunc(r.passed, func(q *Request, _ struct{}) bool { return !q.queued })
		before := r.passed
		if t.judge(r); !maps.Equal(before, r.passed) {
			return true
		}
	}
	return false
}

// aims is the search in the other direction, for the owners for whom requests wait. It looks at
// each request and each owner once, and walks each list about once.
type aims struct {
	stamp uint64
	next  []*Request // marked, but not looked at yet
	// queued has the place to which a list of waiters has been walked, from its beginning. held has
	// the only owner of a list of holders that has not been marked, nil if all have.
	queued map[*list]*place
	held   map[*list]*owner
}

// aim marks the owners for whom r waits. If r is nil, it marks o and the owners for whom o waits.
func (t *Table) aim(o *owner, r *Request) (stamp uint64) {
	t.stamp++
	a := &aims{stamp: t.stamp, queued: make(map[*list]*place), held: make(map[*list]*owner)}
	if r != nil {
		a.mark(r)
	} else {
		a.markOwner(o)
	}
	a.spread()
	return a.stamp
}

// spread marks all for whom marked requests wait, directly or through others.
func (a *aims) spread() {
	for len(a.next) > 0 {
		last := len(a.next) - 1
		r := a.next[last]
		a.next = a.next[:last]
		for i := range r.places {
			p := &r.places[i]
			for l := range p.node.granted.against(p) {
				a.markHolders(l, r.owner)
			}
			for l := range p.node.waiting.against(p) {
				a.markEarlier(l, r)
			}
		}
	}
}

// markHolders marks the owners of a list of grants, except one.
func (a *aims) markHolders(l *list, except *owner) {
	left, walked := a.held[l]
	if walked {
		if left != nil && left != except {
			a.markOwner(left)
			a.held[l] = nil
		}
		return
	}
	for p := l.first; p != nil; p = p.next {
		if o := p.request.owner; o == except {
			left = o
		} else {
			a.markOwner(o)
		}
	}
	a.held[l] = left
}

// markEarlier marks the requests of a list of waiters that r is behind.
func (a *aims) markEarlier(l *list, r *Request) {
	from, done, complete := l.first, a.queued[l], true
	if done != nil {
		from = done.next
	}
	for p := from; p != nil && p.request.ticket < r.ticket; p = p.next {
		if q := p.request; q.owner == r.owner || r.mayPass(q) {
			complete = false // others may be behind it
		} else {
			a.mark(q)
		}
		if complete {
			done = p
		}
	}
	if done != nil {
		a.queued[l] = done
	}
}

func (a *aims) markOwner(o *owner) {
	if o.searched == a.stamp {
		return
	}
	o.searched = a.stamp
	for r := range o.waits.all {
		a.mark(r)
	}
}

func (a *aims) mark(r *Request) {
	if r.found != a.stamp {
		r.found = a.stamp
		a.next = append(a.next, r)
	}
}
