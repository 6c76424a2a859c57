package queue

import "math"

// Deadlock returns a holder in r's way that waits, directly or through others, for r's owner. It
// returns none if the owner holds nothing.
func (q *Queue) Deadlock(r *Request) Conflict {
	found := q.waitFor(r.Owner, math.MaxUint64)
	for c := range r.Holders {
		for _, w := range c.By.Owner.Waits {
			if found[w] {
				return c
			}
		}
	}
	return Conflict{}
}

// waitFor returns the requests that wait for an owner. Nearly always there are none, because nobody
// waits for an owner that holds nothing. Requests later than limit whose owners hold something
// count as behind nobody.
func (q *Queue) waitFor(o *Owner, limit uint64) map[*Request]bool {
	s := search{queue: q, target: o, limit: limit}
	s.behindHolder(o)
	for len(s.next) > 0 {
		last := len(s.next) - 1
		r := s.next[last]
		s.next = s.next[:last]
		s.behindWaiter(r)
		if !s.holders[r.Owner] {
			s.behindHolder(r.Owner)
		}
	}
	return s.found
}

// search finds the requests that wait for one owner, from that owner backwards. It looks at each
// request and each owner once, and hardly any list of waiters twice.
type search struct {
	queue   *Queue
	target  *Owner
	limit   uint64
	found   map[*Request]bool
	next    []*Request // found, but not looked at yet
	holders map[*Owner]bool
	// walked has, for each list, the claim from which on all requests are found.
	walked map[*list]*claim
}

// behindHolder finds the requests that want what an owner holds.
func (s *search) behindHolder(o *Owner) {
	if s.holders != nil {
		s.holders[o] = true
	}
	for _, r := range o.Grants {
		for i := range r.claims {
			c := &r.claims[i]
			for l := range c.node.waiting.against(c) {
				s.walk(l, 0, func(w *Request) bool { return w.Owner != o })
			}
		}
	}
}

// behindWaiter finds the requests that are behind a waiting one.
func (s *search) behindWaiter(r *Request) {
	for i := range r.claims {
		c := &r.claims[i]
		for l := range c.node.waiting.against(c) {
			s.walk(l, r.Order, func(w *Request) bool {
				late := w.Order > s.limit && w.Owner.Holds()
				return w.Owner != r.Owner && !late && !s.queue.mayPass(w, r)
			})
		}
	}
}

// walk finds the requests of a list that came after a place in the order and for which waits is
// true.
func (s *search) walk(l *list, after uint64, waits func(*Request) bool) {
	from := l.last
	if walked := s.walked[l]; walked != nil {
		from = walked.prev
	}
	all := true
	for c := from; c != nil && c.request.Order > after; c = c.prev {
		w := c.request
		if w.Owner != s.target && !s.found[w] {
			if waits(w) {
				s.find(w)
			} else {
				all = false // it may wait for another request
			}
		}
		if all && s.found != nil {
			s.walked[l] = c
		}
	}
}

func (s *search) find(r *Request) {
	if s.found == nil {
		s.found, s.holders, s.walked = make(map[*Request]bool), map[*Owner]bool{s.target: true}, make(map[*list]*claim)
	}
	s.found[r] = true
	s.next = append(s.next, r)
}
