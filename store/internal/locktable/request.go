package locktable

import (
	"time"

	"github.com/pathlock-go/pathlock"
)

// Request is one [pathlock.Acquisition] in a table. It is queued, unless nothing is in its way, and
// then granted. The acquisition's claims are in places.
type Request struct {
	pathlock.Acquisition
	// Data is the caller's. It is nil in a new request.
	Data any

	owner  *owner
	places []place // one per claim, that of the gate first
	// older is the next one in the owner's list of grants or waits.
	older *Request
	// ticket is the request's place in the order of arrival.
	ticket uint64
	// fence is set by the grant. queued is set while the request waits, and waited from then on.
	fence          uint64
	queued, waited bool
	// since is when the wait began, and then when the grant was made. until is when the wait ends.
	since, until time.Time

	// life is the lease of a mortal waiter, nil if the waiter's process is that of the table.
	life *lease
	// apartLease is the lease of an apart grant, nil if the grant shares its owner's.
	apartLease *lease

	// restored is what the request was restored from, nil for a new one.
	restored *Record

	// watching is a request in the way of this one, nil if it watches none.
	watching *Request
	// watched is the first of the requests that watch this one. beside and ahead are the neighbours
	// among those that watch the same request.
	watched, beside, ahead *Request
	// passed are the earlier waiters that the request may pass.
	passed map[*Request]struct{}
	// found is the stamp of the latest search that found the request.
	found uint64
	err   error
}

func (r *Request) granted() bool { return r.fence != 0 }

// Fence returns the fence of a granted request, 0 for any other.
func (r *Request) Fence() uint64 { return r.fence }

// Queued reports whether the request waits.
func (r *Request) Queued() bool { return r.queued }

// Since returns when the wait began, and then when the grant was made.
func (r *Request) Since() time.Time { return r.since }

// Err returns why a request whose wait is over was not granted.
func (r *Request) Err() error { return r.err }

// WaitUntil makes the wait end no earlier than the given time, as people are told.
func (r *Request) WaitUntil(end time.Time) {
	if end.After(r.until) {
		r.until = end
	}
}

// topmost returns the request's first claim, or the gate's if there is no other.
func (r *Request) topmost() pathlock.Claim {
	if len(r.places) > 1 {
		return r.places[1].Claim
	}
	return r.places[0].Claim
}
