package storetest

import (
	"math/rand/v2"
	"slices"

	"github.com/pathlock-go/pathlock"
)

// queue is the rule by which requests wait, in the plainest form: two lists.
type queue struct {
	holds []*shadow
	waits []*shadow // in order of arrival
}

// isHolder reports whether an owner has something.
func (q *queue) isHolder(owner pathlock.Owner) bool {
	return slices.ContainsFunc(q.holds, func(h *shadow) bool { return h.owner == owner })
}

// admits says whether r may be granted, where earlier are the waiters before it.
func (q *queue) admits(r *shadow, earlier []*shadow) bool {
	if slices.ContainsFunc(q.holds, r.excludes) {
		return false
	}
	return q.isHolder(r.owner) || !slices.ContainsFunc(earlier, r.excludes)
}

// deadlocks says whether r, if it waited, would wait for its own owner.
func (q *queue) deadlocks(r *shadow) bool {
	if !q.isHolder(r.owner) {
		return false
	}
	reached := make(map[pathlock.Owner]bool)
	next := []*shadow{r}
	for len(next) > 0 {
		from := next[0]
		next = next[1:]
		for _, h := range q.holds {
			if !from.excludes(h) || reached[h.owner] {
				continue
			}
			reached[h.owner] = true
			for _, w := range q.waits {
				if w.owner == h.owner {
					next = append(next, w)
				}
			}
		}
	}
	return reached[r.owner]
}

// settle moves those who may be granted now from the waiters to the holders.
func (q *queue) settle() (granted []*shadow) {
	for i := 0; i < len(q.waits); {
		r := q.waits[i]
		if !q.admits(r, q.waits[:i]) {
			i++
			continue
		}
		q.waits = slices.Delete(q.waits, i, i+1)
		q.holds = append(q.holds, r)
		granted = append(granted, r)
	}
	return granted
}

// shadowQueue lets a few owners acquire, upgrade, wait, give up and release at random, one
// thing after the other, and compares the store with the rule after each. An
// owner that waits does nothing else.
func (f *fixture) shadowQueue(seed uint64, steps int) {
	random := rand.New(rand.NewPCG(seed, 0))
	actors := []*actor{f.actor("one"), f.actor("two"), f.actor("three"), f.actor("four"), f.actor("five")}
	history := f.newHistory()
	var q queue
	for range steps {
		switch n := random.IntN(10); {
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
			if slices.ContainsFunc(q.waits, func(w *shadow) bool { return w.owner == r.owner }) {
				continue
			}
			// A holder is not kept back by waiters: where it asks for the gate, a store may shut the tree
			// to all of them at once, or take the gate when they have had their turn.
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
	switch req := r.acquisition(); {
	case q.admits(r, q.waits):
		history.add("grant of %v", r)
		r.held = r.take(req)
		q.holds = append(q.holds, r)
	case q.deadlocks(r):
		history.add("deadlock of %v", r)
		r.deadlock(req)
	default:
		history.add("wait of %v", r)
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
