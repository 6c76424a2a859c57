package memstore

// passing is what a table knows of the waiting requests whose owners hold something: they alone may
// pass others, and whom they may pass can change while they wait.
type passing struct {
	conversions map[*request]struct{}
	passers     int  // how many of them may pass somebody
	stale       bool // whom they may pass has to be found out anew
	// suspects are those who may have lost somebody whom they passed.
	suspects []*request
	stamp    uint64
}

// mayPass reports whether r was found to need not wait for q, who came before it.
func (r *request) mayPass(q *request) bool {
	_, ok := r.passed[q]
	return ok
}

// judge finds out which of the earlier waiters r may pass: those that wait for its owner. Of two
// requests that may each pass somebody only if the other may not, the earlier one is judged first.
func (t *table) judge(r *request) {
	t.forgive(r)
	if t.waiters == 0 || !r.owner.holds() || !r.isLate() {
		return
	}
	if s := t.search(r.owner, r.ticket); !r.hasAllFound(s.stamp) {
		s.spread()
	}
	for q := range r.earlier {
		if q.request.found == t.stamp {
			if r.passed == nil {
				r.passed = make(map[*request]struct{})
			}
			r.passed[q.request] = struct{}{}
		}
	}
	if r.queued && len(r.passed) > 0 {
		t.passers++
	}
}

// hasAllFound reports whether a search has found all of those for whom r might have to wait in the
// queue.
func (r *request) hasAllFound(stamp uint64) bool {
	for q := range r.earlier {
		if q.request.found != stamp {
			return false
		}
	}
	return true
}

// forgive has r pass nobody.
func (t *table) forgive(r *request) {
	if r.queued && len(r.passed) > 0 {
		t.passers--
	}
	r.passed = nil
}

// beginConversions notes that the owner of waiting requests has begun to hold something.
func (t *table) beginConversions(o *owner) {
	for r := range o.waits.all {
		t.beginConversion(r)
	}
}

func (t *table) beginConversion(r *request) {
	if t.conversions == nil {
		t.conversions = make(map[*request]struct{})
	}
	t.conversions[r] = struct{}{}
	if len(r.passed) > 0 {
		t.passers++
	}
}

func (t *table) endConversion(r *request) {
	t.forgive(r)
	delete(t.conversions, r)
}

// endConversions notes that the owner of waiting requests holds nothing any more.
func (t *table) endConversions(o *owner) {
	for r := range o.waits.all {
		t.endConversion(r)
	}
}

// rejudge finds out anew, in order of arrival, who may pass whom, and returns those that were kept
// back by somebody whom they may pass. They watch nothing any more.
func (t *table) rejudge() (unwatched []*request) {
	suspects := t.suspects
	t.suspects = nil
	if !t.stale && !t.anyLoses(suspects) {
		return nil
	}
	t.stale = false
	all := make([]*request, 0, len(t.conversions))
	for r := range t.conversions {
		all = append(all, r)
	}
	sortByArrival(all)
	for _, r := range all {
		if t.judge(r); r.watching != nil && r.mayPass(r.watching) {
			r.unwatch()
			unwatched = append(unwatched, r)
		}
	}
	return unwatched
}

// earlier yields the places of other owners' waiting requests that came before r and conflict with
// it, the latest of one node and mode first.
func (r *request) earlier(yield func(*place) bool) {
	for i := range r.places {
		p := &r.places[i]
		for l := range p.node.waiting.against(p) {
			if l.first.request.ticket >= r.ticket {
				continue
			}
			for q := l.before(r.ticket); q != nil; q = q.prev {
				if q.request.owner != r.owner && !yield(q) {
					return
				}
			}
		}
	}
}

// isLate reports whether anybody with whom r conflicts waits and came before it.
func (r *request) isLate() bool {
	for range r.earlier {
		return true
	}
	return false
}
