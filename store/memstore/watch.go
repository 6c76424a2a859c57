package memstore

import "github.com/pathlock-go/pathlock"

// watch makes r wait for q to go.
func (r *request) watch(q *request) {
	r.watching = q
	r.beside, r.ahead = q.watched, nil
	if q.watched != nil {
		q.watched.ahead = r
	}
	q.watched = r
}

// unwatch undoes watch.
func (r *request) unwatch() {
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

// watchers yields those that watch r. One that has been yielded may watch somebody else.
func (r *request) watchers(yield func(*request) bool) {
	for w := r.watched; w != nil; {
		beside := w.beside
		if !yield(w) {
			return
		}
		w = beside
	}
}

// leave has nobody watch r any more, which goes, and returns those that are to be looked at. Where
// r itself waited for somebody, those who have to wait for the same one watch that one from now
// on: r did not keep them back, and thousands of them may have been behind it.
func (r *request) leave(watching *request) (unwatched []*request) {
	for w := range r.watchers {
		if w.unwatch(); watching != nil && w.isKeptBackBy(watching) {
			w.watch(watching)
			continue
		}
		unwatched = append(unwatched, w)
	}
	return unwatched
}

// isKeptBackBy reports whether r, which is queued, cannot be granted before q has gone, who holds,
// or came before r. It may say no where the answer depends on whom r may pass.
func (r *request) isKeptBackBy(q *request) bool {
	if r.owner == q.owner || !q.granted() && r.owner.holds() {
		return false
	}
	// The deepest claims come last, and are what most conflicts are about.
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
