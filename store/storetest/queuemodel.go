package storetest

import (
	"math/rand/v2"
	"slices"

	"github.com/pathlock-go/pathlock"
)

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
	return len(q.conflicts(r)) == 0 && !slices.ContainsFunc(q.earlier(r), func(v *shadow) bool { return !q.mayPass(r, v) })
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

// deadlocks says whether r conflicts with a holder who waits for r's owner.
func (q *queue) deadlocks(r *shadow) bool {
	return slices.ContainsFunc(q.conflicts(r), func(h *shadow) bool {
		return slices.ContainsFunc(q.ofOwner(h.owner), func(u *shadow) bool {
			return q.waitsFor(u, r.owner, q.arrivals, nil)
		})
	})
}

// settle moves those who may be granted now from the waiters to the holders, the earliest first.
func (q *queue) settle() (granted []*shadow) {
	for {
		i := slices.IndexFunc(q.waits, q.admits)
		if i < 0 {
			return granted
		}
		granted = append(granted, q.waits[i])
		q.holds = append(q.holds, q.waits[i])
		q.waits = slices.Delete(q.waits, i, i+1)
	}
}

// shadowQueue lets a few owners acquire, ask for more, wait, give up and release at random, one
// thing after the other, and compares the store with the rule after each. An owner that waits asks
// for nothing else; it may release what it holds.
func (f *fixture) shadowQueue(seed uint64, steps int) {
	random := rand.New(rand.NewPCG(seed, 0))
	actors := []*actor{f.actor("one"), f.actor("two"), f.actor("three"), f.actor("four"), f.actor("five"), f.actor("six")}
	history := f.newHistory()
	var q queue
	for range steps {
		switch n := random.IntN(12); {
		case n < 4 && len(q.holds) > 0:
			i := random.IntN(len(q.holds))
			r := q.holds[i]
			history.add("release of %v", r)
			q.holds = slices.Delete(q.holds, i, i+1)
			r.held.release()
		case n < 5 && len(q.waits) > 0:
			i := random.IntN(len(q.waits))
			r := q.waits[i]
			history.add("cancel of %v", r)
			q.waits = slices.Delete(q.waits, i, i+1)
			r.pending.isCancelled()
		default:
			r := randomRequest(random, actors)
			if len(q.ofOwner(r.owner)) > 0 {
				continue
			}
			// A holder's request for the gate waits for all other holders at least. A store may
			// shut the tree to them at once, or take the gate when they have had their turn.
			r.gate = r.gate && !q.isHolder(r.owner)
			q.request(r, history)
		}
		for _, r := range q.settle() {
			history.add("hand-over to %v", r)
			r.held = r.pending.isGranted()
		}
		f.compare(&q)
	}
}

// request sends r and requires the answer that the rule gives.
func (q *queue) request(r *shadow, history *history) {
	q.arrivals++
	r.arrival = q.arrivals
	switch req := r.acquisition(); {
	case q.admits(r):
		history.add("grant of %v", r)
		r.held = r.take(req)
		q.holds = append(q.holds, r)
	case q.deadlocks(r):
		history.add("deadlock of %v", r)
		r.deadlock(req)
	default:
		// One who does not wait is kept back by the same.
		history.add("refusal, then wait of %v", r)
		r.refuse(r.acquisition())
		r.pending = r.queue(r.ctx, req)
		q.waits = append(q.waits, r)
	}
}

// compare requires that the store shows the holders and waiters of the shadow queue.
func (f *fixture) compare(q *queue) {
	f.Helper()
	snap := f.snapshot(f.tree)
	if len(snap.Holders) != len(q.holds) || len(snap.Waiters) != len(q.waits) {
		f.Fatalf("%d holders and %d waiters, want %d and %d", len(snap.Holders), len(snap.Waiters), len(q.holds), len(q.waits))
	}
	for i, w := range q.waits {
		if got := snap.Waiters[i]; got.Owner != w.owner {
			f.Fatalf("waiter %d is %q, want %v", i, got.Note, w)
		}
	}
}
