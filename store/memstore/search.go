package memstore

import "math"

// search finds the requests that wait for one owner, from that owner backwards: nearly always
// there are none, and it is done at once. It looks at each request and each owner once, and walks
// each list of waiters once, or nearly so.
type search struct {
	stamp  uint64
	target *owner
	// limit is the ticket after which a request whose owner holds something counts as behind
	// nobody.
	limit uint64
	next  []*request // marked, but not looked at yet
	// queued and held tell which part of a list, from its end, has been walked: on behalf of those
	// who wait before, and of those who hold.
	queued, held map[*list]*place
}

// noLimit is the limit of a search that leaves nothing out.
const noLimit = math.MaxUint64

// search marks, with the table's new stamp, the requests that want what an owner holds. Spread
// marks all that wait for them in turn.
func (t *table) search(target *owner, limit uint64) *search {
	t.stamp++
	s := &search{stamp: t.stamp, target: target, limit: limit}
	s.markBehindHolder(target)
	return s
}

// spread marks all requests that wait for those that have been marked.
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

// markBehindHolder marks those who want what an owner holds.
func (s *search) markBehindHolder(o *owner) {
	o.searched = s.stamp
	for r := range o.grants.all {
		for i := range r.places {
			p := &r.places[i]
			for l := range p.node.waiting.against(p) {
				s.walk(l, &s.held, 0, func(q *request) bool { return q.owner != o })
			}
		}
	}
}

// markBehindWaiter marks those who are behind a waiting request.
func (s *search) markBehindWaiter(r *request) {
	for i := range r.places {
		p := &r.places[i]
		for l := range p.node.waiting.against(p) {
			if l.last.request.ticket <= r.ticket {
				continue
			}
			s.walk(l, &s.queued, r.ticket, func(q *request) bool { return q.owner != r.owner && !q.mayPass(r) })
		}
	}
}

// walk marks those of a list's requests that are later than a ticket, and of which the one who asks
// says that they wait. Those that have been marked all are not walked again.
func (s *search) walk(l *list, walked *map[*list]*place, after uint64, waits func(*request) bool) {
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
			complete = false // it may wait for somebody else on the same node
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

func (s *search) mark(r *request) {
	if r.found != s.stamp {
		r.found = s.stamp
		s.next = append(s.next, r)
	}
}
