package memstore

import (
	"time"

	"github.com/pathlock-go/pathlock"
)

// request is one [pathlock.Acquisition] in a table. It is queued, unless nothing is in its way, and
// then granted. The acquisition's claims are in places.
type request struct {
	pathlock.Acquisition
	owner  *owner
	places []place // one per claim, that of the gate first
	// older is the next one in the owner's list of grants or waits.
	older *request
	// ticket is the request's place in the order of arrival.
	ticket uint64
	// fence is set by the grant. queued is set while the request waits.
	fence  uint64
	queued bool
	// since is when the wait began, and then when the grant was made. until is when the wait ends.
	since, until time.Time

	// apartLease is the lease of an apart grant, nil if the grant shares its owner's.
	apartLease *lease

	// watching is a request in the way of this one, nil if it watches none.
	watching *request
	// watched is the first of the requests that watch this one. beside and ahead are the neighbours
	// among those that watch the same request.
	watched, beside, ahead *request
	// passed are the earlier waiters that the request may pass.
	passed map[*request]struct{}
	// found is the stamp of the latest search that found the request.
	found uint64

	// calls counts the calls of Acquire that wait for this request. It is more than one if a call
	// was repeated.
	calls int
	// done is closed when the wait is over: the request is granted, or err is set.
	done chan struct{}
	err  error
}

func (r *request) granted() bool { return r.fence != 0 }

// grant returns the answer to a granted request. The lease begins with the grant, because the
// process of the request is that of the store, and alive.
func (r *request) grant() pathlock.Grant { return pathlock.Grant{Fence: r.fence, Asked: r.since} }

// topmost returns the request's first claim, or the gate's if there is no other.
func (r *request) topmost() pathlock.Claim {
	if len(r.places) > 1 {
		return r.places[1].Claim
	}
	return r.places[0].Claim
}
