package memstore

import (
	"time"

	"github.com/pathlock-go/pathlock"
)

// request is one [pathlock.Acquisition] in a table: first queued, unless nothing
// is in its way, then granted.
type request struct {
	pathlock.Acquisition
	owner  *owner
	places []place // one per claim, that of the gate first
	// ticket is the request's place in the order of arrival.
	ticket uint64
	// fence is set when the request is granted.
	fence uint64
	// since is when the wait began, then when the grant was made; until is
	// when the wait ends.
	since, until time.Time

	// watching is one of those in the way of a waiting request.
	watching *request
	// watchers are those that watch this one.
	watchers map[*request]struct{}

	// calls counts the calls of Acquire that wait for this request: more than one
	// if a call was repeated.
	calls int
	// done is closed when the wait is over: the request was granted, or err is set.
	done chan struct{}
	err  error
}

func (r *request) granted() bool { return r.fence != 0 }

func (r *request) queued() bool { return r.owner.waits[r.Grant] == r }

// watch makes r wait for q to go.
func (r *request) watch(q *request) {
	if q.watchers == nil {
		q.watchers = make(map[*request]struct{})
	}
	q.watchers[r] = struct{}{}
	r.watching = q
}

// unwatch undoes watch.
func (r *request) unwatch() {
	if r.watching != nil {
		delete(r.watching.watchers, r)
		r.watching = nil
	}
}

// owner is one owner's part in a table. It exists while the owner holds or waits there.
type owner struct {
	id     pathlock.Owner
	grants map[pathlock.GrantID]*request
	waits  map[pathlock.GrantID]*request
	// until is the end of the lease that all grants share, and expiry the owner's index in
	// the table's heap of lease ends, which it is in while leased is set.
	until  time.Time
	expiry int
	leased bool
}

// holds reports whether the owner holds anything in the tree.
func (o *owner) holds() bool { return len(o.grants) > 0 }

// advance returns the owner's waiting requests, which watch nothing any more: now
// that the owner has been granted something, other waiters don't keep them back any longer, and
// somebody who waits for the owner may be in their way.
func (o *owner) advance() []*request {
	var waits []*request
	for _, r := range o.waits {
		r.unwatch()
		waits = append(waits, r)
	}
	return waits
}
