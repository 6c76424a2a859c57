package contention

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Outcome is how a wait ended.
type Outcome string

// The outcomes.
const (
	// Waits: the wait goes on.
	Waits Outcome = "waiting"
	// Granted: the request got its locks.
	Granted Outcome = "granted"
	// TimedOut: others held on for longer than the request could wait.
	TimedOut Outcome = "timed-out"
	// Cancelled: whoever asked gave up.
	Cancelled Outcome = "cancelled"
	// Deadlock: the wait would never have ended.
	Deadlock Outcome = "deadlock"
	// Failed: the wait ended otherwise, as when the store could not be reached.
	Failed Outcome = "failed"
)

// outcomeOf returns how a wait ended that led to err.
func outcomeOf(err error) Outcome {
	switch {
	case err == nil:
		return Granted
	case errors.Is(err, pathlock.ErrDeadlock):
		return Deadlock
	case errors.Is(err, pathlock.ErrConflict), errors.Is(err, context.DeadlineExceeded):
		return TimedOut
	case errors.Is(err, context.Canceled):
		return Cancelled
	default:
		return Failed
	}
}

// wait is one request that waits. The recorder's mutex guards the fields from over on.
type wait struct {
	tree   pathlock.Tree
	owner  pathlock.Owner
	gate   bool
	claims []pathlock.Claim
	note   string
	origin pathlock.Origin
	began  time.Time

	over bool
	// episode is the one that the wait belongs to, nil until it is known where it waits.
	episode *episode
	where   place
	mode    pathlock.Mode
	// blocker is who is charged with the time from charged on.
	blocker *blocker
	charged time.Time
}

func newWait(e pathlock.Event, now time.Time) *wait {
	return &wait{
		tree: e.Tree, owner: e.Owner, gate: e.Gate, claims: e.Claims, note: e.Note, origin: e.Origin,
		began: now, charged: now,
	}
}

// keep makes the wait independent of the memory of the caller, who may change it after the request.
func (w *wait) keep() { w.claims = slices.Clone(w.claims) }

// target returns where a wait of which nothing else is known takes place: at the strongest of its
// claims.
func (w *wait) target(fold func(string) string) (place, pathlock.Mode) {
	if w.gate || len(w.claims) == 0 {
		return place{tree: w.tree, gate: true}, 0
	}
	strongest := slices.MaxFunc(w.claims, func(a, b pathlock.Claim) int { return int(a.Mode) - int(b.Mode) })
	return place{tree: w.tree, path: folded(strongest.Path, fold)}, strongest.Mode
}

// folded returns the path under which the store knows p. A name that cannot be folded stays.
func folded(p pathlock.Path, fold func(string) string) pathlock.Path {
	key := pathlock.Root()
	for name := range p.Names() {
		child, err := key.Child(fold(name))
		if err != nil {
			return p
		}
		key = child
	}
	return key
}

// route returns what the sums by route call an origin: the route, or else the operation.
func route(o pathlock.Origin) string {
	if o.Route != "" {
		return o.Route
	}
	return o.Operation
}
