package locktable

import "github.com/pathlock-go/pathlock"

// watch makes r wait for q to go.
func (r *Request) watch(q *Request) {
	r.watching = q
	r.beside, r.ahead = q.watched, nil
	if q.watched != nil {
		q.watched.ahead = r
	}
	q.watched = r
}

// unwatch undoes watch.
func (r *Request) unwatch() {
	q := r.watching
	if q == nil {
		return
	}
	if r.ahead == nil {
		q.watched = r.beside
	} else {
		r.ahead.beside = r.beside
	}
	if r.beside != nil {
		r.beside.ahead = r.ahead
	}
	r.watching, r.beside, r.ahead = nil, nil, nil
}

// watchers yields the requests that watch r. The loop may make the one that it got watch another.
func (r *Request) watchers(yield func(*Request) bool) {
	for w := r.watched; w != nil; {
		beside := w.beside
		if !yield(w) {
			return
		}
		w = beside
	}
}

// Watchers yields the requests that watch r.
func (r *Request) Watchers(yield func(*Request) bool) { r.watchers(yield) }

// leave ends the watches of r, which goes. It returns the requests to decide anew. If r itself
// watched a request, the watchers that have to wait for that one too watch it instead: thousands of
// them may have been behind r.
func (r *Request) leave(watching *Request) (unwatched []*Request) {
	for w := range r.watchers {
		if w.unwatch(); watching != nil && w.isKeptBackBy(watching) {
			w.watch(watching)
			continue
		}
		unwatched = append(unwatched, w)
	}
	return unwatched
}

// isKeptBackBy reports whether r, which is queued, has to wait for q, which holds or came before r.
// It may report false where the answer depends on whom r may pass.
func (r *Request) isKeptBackBy(q *Request) bool {
	if r.owner == q.owner || !q.granted() && r.owner.holds() {
		return false
	}
	// The deepest claims come last, and cause most conflicts.
	for i := len(r.places) - 1; i >= 0; i-- {
		for j := len(q.places) - 1; j >= 0; j-- {
			p, by := &r.places[i], &q.places[j]
			if p.node == by.node && !pathlock.Compatible(p.Mode, by.Mode) {
				return true
			}
		}
	}
	return false
}
