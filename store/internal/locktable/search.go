package locktable

import "math"

// search finds the requests that wait for one owner, from that owner backwards. Nearly always there
// are none. It looks at each request and each owner once, and walks each list of waiters about
// once.
type search struct {
	stamp  uint64
	target *owner
	// limit is a ticket. A later request whose owner holds something counts as behind nobody.
	limit uint64
	next  []*Request // marked, but not looked at yet
	// queued and held have the place to which a list has been walked, from its end: for waiters,
	// and for holders.
	queued, held map[*list]*place
}

// noLimit is the limit of a search without one.
const noLimit = math.MaxUint64

// search marks, with a new stamp of the table, the requests that want what an owner holds. spread
// marks all that wait for these in turn.
func (t *Table) search(target *owner, limit uint64) *search {
	t.stamp++
	s := &search{stamp: t.stamp, target: target, limit: limit}
	s.markBehindHolder(target)
	return s
}

// spread marks all requests that wait for marked ones, directly or through others.
func (s *search) spread() {
	for len(s.next) > 0 {
		last := len(s.next) - 1
		r := s.next[last]
		s.next = s.next[:last]
		s.markBehindWaiter(r)
		if o := r.owner; o.holds() && o.searched != s.stamp {
			s.markBehindHolder(o)
		}
	}
}

// markBehindHolder marks the requests that want what an owner holds.
func (s *search) markBehindHolder(o *owner) {
	o.searched = s.stamp
	for r := range o.grants.all {
		for i := range r.places {
			p := &r.places[i]
			for l := range p.node.waiting.against(p) {
				s.walk(l, &s.held, 0, func(q *Request) bool { return q.owner != o })
			}
		}
	}
}

// markBehindWaiter marks the requests that are behind a waiting one.
func (s *search) markBehindWaiter(r *Request) {
	for i := range r.places {
		p := &r.places[i]
		for l := range p.node.waiting.against(p) {
			if l.last.request.ticket <= r.ticket {
				continue
			}
			s.walk(l, &s.queued, r.ticket, func(q *Request) bool { return q.owner != r.owner && !q.mayPass(r) })
		}
	}
}

// walk marks the requests of a list that are later than a ticket and for which waits is true. It
// does not walk again over the end of the list where all have been marked.
func (s *search) walk(l *list, walked *map[*list]*place, after uint64, waits func(*Request) bool) {
	from := l.last
	if done := (*walked)[l]; done != nil {
		from = done.prev
	}
	var done *place
	complete := true
	for p := from; p != nil && p.request.ticket > after; p = p.prev {
		q := p.request
		switch {
		case walked == &s.queued && q.ticket > s.limit && q.owner.holds():
		case q.owner == s.target:
		case waits(q):
			s.mark(q)
		default:
			complete = false // it may wait for another request on the same node
		}
		if complete {
			done = p
		}
	}
	if done != nil {
		if *walked == nil {
			*walked = make(map[*list]*place)
		}
		(*walked)[l] = done
	}
}

func (s *search) mark(r *Request) {
	if r.found != s.stamp {
		r.found = s.stamp
		s.next = append(s.next, r)
	}
}
