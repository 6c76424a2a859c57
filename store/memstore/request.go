package memstore

import (
	"time"

	"github.com/pathlock-go/pathlock"
)

// request is one [pathlock.Acquisition] in a table: first queued, unless nothing
// is in its way, then granted. The acquisition's claims are in places.
type request struct {
	pathlock.Acquisition
	owner  *owner
	places []place // one per claim, that of the gate first
	// older is the next one in the owner's list that the request is in.
	older *request
	// ticket is the request's place in the order of arrival.
	ticket uint64
	// fence is set when the request is granted, and queued while it waits.
	fence  uint64
	queued bool
	// since is when the wait began, then when the grant was made; until is
	// when the wait ends.
	since, until time.Time

	// own is the lease of a grant that is apart, nil where it shares its owner's.
	own *lease

	// watching is one of those in the way of a waiting request.
	watching *request
	// watched is one of those that watch this one, and beside and ahead its neighbours in the list
	// of those that watch the same.
	watched, beside, ahead *request
	// passed are those of the earlier waiters that the request need not wait for.
	passed map[*request]struct{}
	// found is the stamp of the last search that found the request.
	found uint64

	// calls counts the calls of Acquire that wait for this request: more than one
	// if a call was repeated.
	calls int
	// done is closed when the wait is over: the request was granted, or err is set.
	done chan struct{}
	err  error
}

func (r *request) granted() bool { return r.fence != 0 }

// grant returns what a granted request is answered with. The store sees the whole process, which is
// alive when it makes the grant: the lease begins then.
func (r *request) grant() pathlock.Grant { return pathlock.Grant{Fence: r.fence, Asked: r.since} }

// topmost returns the request's first claim; one for the gate need not have any.
func (r *request) topmost() pathlock.Claim {
	if len(r.places) > 1 {
		return r.places[1].Claim
	}
	return r.places[0].Claim
}
