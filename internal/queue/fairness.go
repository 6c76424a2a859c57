package queue

// Redis has the same rule in Lua: store/redisstore/scripts/lib/waits.lua.

import "iter"

// Obstacle returns what r waits for and is to watch, if anything: see Waiting in the package's
// documentation.
func (q *Queue) Obstacle(r *Request) Conflict {
	if r.isFree() {
		return Conflict{}
	}
	for c := range q.predecessors(r) {
		return c
	}
	for c := range r.Holders {
		return c
	}
	return Conflict{}
}

// predecessors yields the waiting requests that r is behind, one for each pair of claims.
func (q *Queue) predecessors(r *Request) iter.Seq[Conflict] {
	return func(yield func(Conflict) bool) {
		for c := range r.earlier {
			if !q.mayPass(r, c.By) && !yield(c) {
				return
			}
		}
	}
}

// earlier yields the waiting requests of other owners that came before r and conflict with it. For
// one node and mode, the latest comes first.
func (r *Request) earlier(yield func(Conflict) bool) {
	for i := range r.claims {
		c := &r.claims[i]
		for l := range c.node.waiting.against(c) {
			for by := l.before(r.Order); by != nil; by = by.prev {
				if by.request.Owner != r.Owner && !yield(conflict(c, by)) {
					return
				}
			}
		}
	}
}

// mayPass reports whether r need not wait for v, an earlier waiter that it conflicts with: r's
// owner holds something, and v waits for that owner. It reports false for a holder, and for nil.
func (q *Queue) mayPass(r, v *Request) bool {
	if !r.Owner.Holds() {
		return false
	}
	if r.judged != q.version+1 {
		r.judged, r.passes = q.version+1, q.waitFor(r.Owner, r.Order)
	}
	return r.passes[v]
}

// InTheWay returns all requests that r waits for, holders first: each once, with the topmost of r's
// claims that conflicts.
func (q *Queue) InTheWay(r *Request) []Conflict {
	var found []Conflict
	seen := make(map[*Request]bool)
	note := func(c Conflict) bool {
		if !seen[c.By] {
			seen[c.By] = true
			found = append(found, c)
		}
		return true
	}
	r.Holders(note)
	q.predecessors(r)(note)
	return found
}

// isFree reports whether nobody, not even r's owner, holds or waits for anything on r's nodes that
// is incompatible with r.
func (r *Request) isFree() bool {
	for i := range r.claims {
		c := &r.claims[i]
		if (c.node.granted.modes|c.node.waiting.modes)&incompatible[c.mode] != 0 {
			return false
		}
	}
	return true
}
