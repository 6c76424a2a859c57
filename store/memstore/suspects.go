package memstore

import (
	"maps"
	"slices"
)

// An edge of the graph of waits that goes matters only to those who pass somebody: they may have to
// go behind whom they passed. Where nobody passes anybody, everybody is behind all whom they
// conflict with, and nothing follows from it but for those who wait for what has gone. And a passer
// loses nobody unless the one whom it passes waited through that edge for its owner. As long as
// none of those suspects loses anybody, nobody else is judged anew.

// suspectOf notes whom a waiting request concerns that goes.
func (t *table) suspectOf(r *request) {
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

// suspectOfRelease notes whom a grant concerns that an owner with waiting requests releases:
// whoever waited for it may wait neither for the owner any more, nor for those for whom the owner
// waits. One that holds nothing else may pass nobody any more, and all are judged anew.
func (t *table) suspectOfRelease(o *owner) {
	switch {
	case t.passers == 0 || o.waits.newest == nil:
	case o.grants.newest.older == nil:
		t.stale = true
	default:
		t.suspectPassers(o, nil)
	}
}

// suspectPassers makes suspects of those who pass somebody who waits for their owners through a
// request that goes or, where there is none, through all requests of an owner, which releases
// something. Where there are suspects already, all are judged anew.
func (t *table) suspectPassers(o *owner, gone *request) {
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
	t.suspects = slices.DeleteFunc(t.suspects, func(r *request) bool { return r.owner.searched != stamp })
}

// searchThrough marks those who wait through a request or, where there is none, for an owner.
func (t *table) searchThrough(o *owner, r *request) (stamp uint64) {
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

// anyLoses reports whether one of the suspects may pass fewer of those who still wait than before.
func (t *table) anyLoses(suspects []*request) bool {
	for _, r := range suspects {
		maps.DeleteFunc(r.passed, func(q *request, _ struct{}) bool { return !q.queued })
		before := r.passed
		if t.judge(r); !maps.Equal(before, r.passed) {
			return true
		}
	}
	return false
}

// aims is the search in the other direction: for the owners for whom requests wait. It looks at
// each request and each owner once, and walks each list once, or nearly so.
type aims struct {
	stamp uint64
	next  []*request // marked, but not looked at yet
	// queued tells which part of a list of waiters, from its beginning, has been walked. Of a list
	// of holders, all have been marked but the owner that held tells, if any.
	queued map[*list]*place
	held   map[*list]*owner
}

// aim marks the owners for whom a request waits or, where there is none, an owner and all for whom
// it waits.
func (t *table) aim(o *owner, r *request) (stamp uint64) {
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

// spread goes on to all for whom those wait who have been marked.
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

// markEarlier marks those of a list of waiters whom a request is behind.
func (a *aims) markEarlier(l *list, r *request) {
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

func (a *aims) mark(r *request) {
	if r.found != a.stamp {
		r.found = a.stamp
		a.next = append(a.next, r)
	}
}
