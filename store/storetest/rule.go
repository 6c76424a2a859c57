package storetest

import (
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// shadow is a request as the rule knows it, in the words of the definition: claims as they were
// written, without intentions.
type shadow struct {
	*actor
	req pathlock.Acquisition // as the store was sent it
	set claims
	// arrival is the request's place in the order of those that the queue was sent.
	arrival int
	fence   uint64   // when it is granted
	pending *pending // while it waits
}

// excludes says from the definition whether two requests cannot be held at once.
func (r *shadow) excludes(other *shadow) bool {
	if r.owner == other.owner {
		return false
	}
	if r.req.Gate || other.req.Gate {
		return true
	}
	return slices.ContainsFunc(r.set, func(a pathlock.Claim) bool {
		return slices.ContainsFunc(other.set, func(b pathlock.Claim) bool { return collide(a, b) })
	})
}

// collide says whether two claims of different owners exclude each other: on one node by the
// matrix, else if the lower one's intention on the upper one's node does.
func collide(a, b pathlock.Claim) bool {
	pa, pb := a.Path.String(), b.Path.String()
	switch {
	case pa == pb:
		return !mayMeet(a.Mode, b.Mode)
	case pa == "/" || strings.HasPrefix(pb, pa+"/"):
		return !mayMeet(a.Mode, intention(b.Mode))
	case pb == "/" || strings.HasPrefix(pa, pb+"/"):
		return !mayMeet(intention(a.Mode), b.Mode)
	default:
		return false
	}
}

// queue is the rule by which requests wait, in the plainest form: two lists, and the words of the
// definition. See doc.go for the definition.
type queue struct {
	holds    []*shadow
	waits    []*shadow // in order of arrival
	arrivals int
}

// isHolder reports whether an owner has something.
func (q *queue) isHolder(owner pathlock.Owner) bool {
	return slices.ContainsFunc(q.holds, func(h *shadow) bool { return h.owner == owner })
}

// conflicts returns the holds of others that r conflicts with.
func (q *queue) conflicts(r *shadow) []*shadow {
	return slices.DeleteFunc(slices.Clone(q.holds), func(h *shadow) bool { return !r.excludes(h) })
}

// earlier returns the waiting requests of others that r conflicts with and that came before it.
func (q *queue) earlier(r *shadow) []*shadow {
	return slices.DeleteFunc(slices.Clone(q.waits), func(v *shadow) bool { return v.arrival >= r.arrival || !r.excludes(v) })
}

// ofOwner returns the waiting requests of an owner.
func (q *queue) ofOwner(owner pathlock.Owner) []*shadow {
	return slices.DeleteFunc(slices.Clone(q.waits), func(w *shadow) bool { return w.owner != owner })
}

// admits says whether r may be granted: it conflicts with no holder, and is behind nobody.
func (q *queue) admits(r *shadow) bool {
	holds, waits := q.inTheWay(r)
	return len(holds)+len(waits) == 0
}

// mayPass says whether w is not behind v, an earlier waiter that it conflicts with: w's owner holds
// something, and v waits for that owner.
//
// Of two holders' requests that may each pass somebody only if the other may not, the earlier one
// is judged first: for its sake, those later than it are taken to be behind nobody.
func (q *queue) mayPass(w, v *shadow) bool {
	return q.isHolder(w.owner) && q.waitsFor(v, w.owner, w.arrival, nil)
}

// waitsFor says whether w waits for an owner. Holders' requests that came after the given one are
// taken to be behind nobody. The path is that from the first question to this one.
func (q *queue) waitsFor(w *shadow, owner pathlock.Owner, until int, path []*shadow) bool {
	if w.owner == owner || slices.Contains(path, w) {
		return false
	}
	path = append(slices.Clone(path), w)
	for _, h := range q.conflicts(w) {
		if h.owner == owner {
			return true
		}
		for _, u := range q.ofOwner(h.owner) {
			if q.waitsFor(u, owner, until, path) {
				return true
			}
		}
	}
	if w.arrival > until && q.isHolder(w.owner) {
		return false
	}
	for _, v := range q.earlier(w) {
		if !q.mayPass(w, v) && q.waitsFor(v, owner, until, path) {
			return true
		}
	}
	return false
}

// cycle returns the holds in r's way whose owners wait for r's owner.
func (q *queue) cycle(r *shadow) []*shadow {
	return slices.DeleteFunc(q.conflicts(r), func(h *shadow) bool {
		return !slices.ContainsFunc(q.ofOwner(h.owner), func(u *shadow) bool {
			return q.waitsFor(u, r.owner, q.arrivals, nil)
		})
	})
}

// inTheWay returns the holds, and the waiting requests, that r waits for.
func (q *queue) inTheWay(r *shadow) (holds, waits []*shadow) {
	return q.conflicts(r), slices.DeleteFunc(q.earlier(r), func(v *shadow) bool { return q.mayPass(r, v) })
}
