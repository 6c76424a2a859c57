package locktable

import (
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/queue"
)

// Request is one [pathlock.Acquisition] in a table. It is queued, unless nothing is in its way, and
// then granted.
type Request struct {
	pathlock.Acquisition
	// Data is the caller's. It is nil in a new request.
	Data any

	entry queue.Request
	owner *owner
	// fence is set by the grant. waited is set when the request begins to wait.
	fence  uint64
	waited bool
	// since is when the wait began, and then when the grant was made. waitUntil is when the wait
	// ends.
	since, waitUntil time.Time
	// until is when the request's own lease ends: that of a waiter that expires, or of an apart
	// grant. It is zero for others.
	until time.Time
	// apart says that the grant does not share its owner's lease.
	apart bool
	// restored is what the request was restored from, nil for a new one.
	restored *Record
	err      error
}

// of returns the request of an entry in the queue.
func of(q *queue.Request) *Request { return q.Value.(*Request) }

// newRequest makes a request, which is not in the queue yet.
func (t *Table) newRequest(acq *pathlock.Acquisition, order uint64) *Request {
	r := t.spare
	if t.spare = nil; r == nil {
		r = new(Request)
	}
	claims := r.Claims[:0]
	claims = append(claims, acq.Claims...) // not the caller's
	*r = Request{Acquisition: *acq, entry: r.entry, owner: t.ownerOf(acq.Owner), since: t.now}
	r.Claims, r.Waiting, r.entry.Value = claims, nil, r
	t.asked = t.asked[:0]
	for _, c := range claims {
		t.asked = append(t.asked, queue.Claim{Node: c.Path.Column(), Mode: queue.Mode(c.Mode)})
	}
	t.queue.Prepare(&r.entry, &r.owner.Owner, order, acq.Gate, t.asked)
	return r
}

// Fence returns the fence of a granted request, 0 for any other.
func (r *Request) Fence() uint64 { return r.fence }

// Queued reports whether the request waits.
func (r *Request) Queued() bool { return r.entry.Waits() }

// Since returns when the wait began, and then when the grant was made.
func (r *Request) Since() time.Time { return r.since }

// Err returns why a request whose wait is over was not granted.
func (r *Request) Err() error { return r.err }

// WaitUntil makes the wait end no earlier than the given time, as people are told.
func (r *Request) WaitUntil(end time.Time) {
	if end.After(r.waitUntil) {
		r.waitUntil = end
	}
}

// Watched returns the request that a waiting request watches: it cannot be granted while that one
// is there. It is nil if the limit was used up before the request had its turn.
func (r *Request) Watched() *Request {
	if q := r.entry.Watching(); q != nil {
		return of(q)
	}
	return nil
}

// Concerned yields the waiting requests that the end of a granted one's lease concerns: those that
// watch it, and those of its own owner.
func (r *Request) Concerned(yield func(*Request) bool) {
	for _, list := range [][]*queue.Request{r.entry.Watchers(), r.owner.Waits} {
		for _, q := range list {
			if !yield(of(q)) {
				return
			}
		}
	}
}

// Conflict says what is in the way of a request. It prefers a holder, which tells people more than
// an earlier waiter. err may be nil.
func (t *Table) Conflict(r *Request, waited time.Duration, err error) error {
	var obstacle queue.Conflict
	for obstacle = range r.entry.Holders {
		break
	}
	if obstacle.By == nil {
		obstacle = t.queue.Obstacle(&r.entry)
	}
	asked, blocker := r.describe(obstacle)
	return &pathlock.ConflictError{
		Tree: t.tree, Path: asked.Path, Mode: asked.Mode, Gate: r.Gate, Blocker: blocker, Waited: waited, Err: err,
	}
}

// deadlock says that r's owner would wait for itself.
func (t *Table) deadlock(r *Request, c queue.Conflict) error {
	asked, blocker := r.describe(c)
	return &pathlock.DeadlockError{Tree: t.tree, Path: asked.Path, Mode: asked.Mode, Gate: r.Gate, Blocker: blocker}
}

// describe returns the claim that was not granted, and who is in the way. The gate has no path, so
// people are told of the topmost claim in place of the intention that every request has there.
func (r *Request) describe(c queue.Conflict) (asked pathlock.Claim, blocker pathlock.Blocker) {
	if c.By == nil { // only the limit of this use keeps r out
		return r.topmost(), pathlock.Blocker{}
	}
	by := of(c.By)
	mode := pathlock.Mode(c.Mode())
	if c.ByClaim == queue.GateClaim {
		mode = by.topmost().Mode
	}
	asked = r.topmost()
	if c.Claim != queue.GateClaim {
		asked = r.Claims[c.Claim]
	}
	b := pathlock.Blocker{
		Owner: by.Owner, Note: by.Note, Origin: by.Origin, Gate: by.Gate, Mode: mode, Waiting: by.Queued(),
		Since: by.since, Until: by.waitUntil,
	}
	if !by.Queued() {
		b.Until = by.Ends()
	}
	return asked, b
}

// topmost returns the request's topmost claim: the gate, or else its first.
func (r *Request) topmost() pathlock.Claim {
	if r.Gate || len(r.Claims) == 0 {
		return pathlock.X(pathlock.Root())
	}
	return r.Claims[0]
}
