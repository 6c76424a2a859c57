package pathlock

import (
	"context"
	"time"
)

// Observer sees what a [Locker] does: for metrics, traces and tests. Methods are called
// on the goroutine that does the work and must not block. Embed [NopObserver]
// and implement those that are of interest.
type Observer interface {
	// Acquiring is called before a request goes to the store. The context it
	// returns is used for the rest of the acquisition, so that a trace can be carried on.
	Acquiring(ctx context.Context, e Event) context.Context
	// Waiting is called when the request has taken its place in the queue, or begins to wait for a
	// release of its own process that is under way in the background.
	Waiting(ctx context.Context, e Event)
	// Granted is called when everything asked for is held. A re-entrant
	// acquisition, which asks no store, is seen by this method alone, with Reentrant set.
	Granted(ctx context.Context, e Event)
	// Refused is called when an acquisition failed that had been sent to the store; Event.Err says why.
	Refused(ctx context.Context, e Event)
	// Lost is called when a lease was lost while locks relied on it.
	Lost(ctx context.Context, e Event)
	// Released is called after a release, successful or not.
	Released(ctx context.Context, e Event)
}

// Event is what an [Observer] is told.
type Event struct {
	Tree  Tree
	Owner Owner
	// Gate and Claims are what was asked for, as the caller wrote it.
	Gate   bool
	Claims []Claim
	Note   string
	// Reentrant is set if the scope held everything already.
	Reentrant bool
	// Fence is the grant's, once there is one.
	Fence uint64
	// Elapsed is the time since the acquisition began for Waiting, Granted and Refused, and
	// the time that the lock was held for Lost and Released.
	Elapsed time.Duration
	// Err is why it failed; nil where it did not.
	Err error
}

// NopObserver implements [Observer] and does nothing.
type NopObserver struct{}

// Acquiring implements [Observer].
func (NopObserver) Acquiring(ctx context.Context, _ Event) context.Context { return ctx }

// Waiting implements [Observer].
func (NopObserver) Waiting(context.Context, Event) {}

// Granted implements [Observer].
func (NopObserver) Granted(context.Context, Event) {}

// Refused implements [Observer].
func (NopObserver) Refused(context.Context, Event) {}

// Lost implements [Observer].
func (NopObserver) Lost(context.Context, Event) {}

// Released implements [Observer].
func (NopObserver) Released(context.Context, Event) {}
