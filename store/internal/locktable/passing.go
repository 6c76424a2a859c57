package locktable

import (
	"maps"
	"slices"
)

// passing is what a table knows of conversions, the waiting requests of owners that hold something.
// Only they may pass others, and whom they may pass can change while they wait.
type passing struct {
	conversions map[*Request]struct{}
	passers     int  // how many of them may pass somebody
	stale       bool // all have to be judged anew
	// suspects are conversions that may have lost the right to pass somebody.
	suspects []*Request
	stamp    uint64
}

// mayPass reports whether r may pass q, which came earlier, as judged last.
func (r *Request) mayPass(q *Request) bool {
	_, ok := r.passed[q]
	return ok
}

// judge finds the earlier waiters that r may pass: those that wait for its owner. If each of two
// requests may pass somebody only if the other may not, the earlier one is judged first.
func (t *Table) judge(r *Request) {
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
				r.passed = make(map[*Request]struct{})
			}
			r.passed[q.request] = struct{}{}
		}
	}
	if r.queued && len(r.passed) > 0 {
		t.passers++
	}
}

// hasAllFound reports whether a search has found every earlier waiter that r conflicts with.
func (r *Request) hasAllFound(stamp uint64) bool {
	for q := range r.earlier {
		if q.request.found != stamp {
			return false
		}
	}
	return true
}

// forgive makes r pass nobody.
func (t *Table) forgive(r *Request) {
	if r.queued && len(r.passed) > 0 {
		t.passers--
	}
	r.passed = nil
}

// beginConversions notes that the owner of waiting requests has begun to hold something.
func (t *Table) beginConversions(o *owner) {
	for r := range o.waits.all {
		t.beginConversion(r)
	}
}

func (t *Table) beginConversion(r *Request) {
	if t.conversions == nil {
		t.conversions = make(map[*Request]struct{})
	}
	t.conversions[r] = struct{}{}
	if len(r.passed) > 0 {
		t.passers++
	}
}

func (t *Table) endConversion(r *Request) {
	t.forgive(r)
	delete(t.conversions, r)
}

// endConversions notes that the owner of waiting requests has released everything.
func (t *Table) endConversions(o *owner) {
	for r := range o.waits.all {
		t.endConversion(r)
	}
}

// rejudge judges all conversions anew, in order of arrival, if that is needed. It ends the watches
// of those that may pass what they watched, and returns them.
func (t *Table) rejudge() (unwatched []*Request) {
	suspects := t.suspects
	t.suspects = nil
	if !t.stale && !t.anyLoses(suspects) {
		return nil
	}
	t.stale = false
	for _, r := range slices.SortedFunc(maps.Keys(t.conversions), byArrival) {
		if t.judge(r); r.watching != nil && r.mayPass(r.watching) {
			r.unwatch()
			unwatched = append(unwatched, r)
		}
	}
	return unwatched
}

// earlier yields the places of other owners' waiting requests that came before r and conflict with
// it. For one node and mode, the latest comes first.
func (r *Request) earlier(yield func(*place) bool) {
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

// isLate reports whether r conflicts with any earlier waiter.
func (r *Request) isLate() bool {
	for range r.earlier {
		return true
	}
	return false
}
