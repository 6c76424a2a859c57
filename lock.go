package pathlock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// releaseTimeout bounds how long a release waits for the store. What could not be
// given back by then ends with its lease.
const releaseTimeout = 5 * time.Second

// Lock is held from [Locker.Acquire] until [Lock.Release], while its lease is
// renewed in the background. It is safe for concurrent use.
type Lock struct {
	holding   *holding
	pins      []*grant
	request   Request
	reentrant bool
	since     time.Time
	fence     uint64
	ctx       context.Context
	cancel    context.CancelCauseFunc
	// released is guarded by the scope's mutex.
	released bool
}

// Context returns the context to work under while the lock is held. It carries the scope, so that an
// acquisition under it re-enters. It ends with the context that was given to
// Acquire and with the release, and it is cancelled with a cause that matches [ErrLost] as soon as the lease is
// known to be lost: by then somebody else may hold the nodes.
func (k *Lock) Context() context.Context { return k.ctx }

// Fence returns a number that grows strictly with every grant in the tree, so
// that what is written under the lock can be told from what an earlier holder writes late.
// A re-entrant lock has the fence of the grant that it relies on.
func (k *Lock) Fence() uint64 { return k.fence }

// Tree returns the tree that the lock is in.
func (k *Lock) Tree() Tree { return k.request.Tree }

// Release gives the lock back. What an enclosing or an inner lock of the same
// scope needs stays held until that one is released.
//
// It does its work even under a context that has ended, within five seconds. It returns an error
// that matches [ErrNotHeld] when called again, [ErrLost] if the lock
// was lost before, and [ErrUnavailable] if the store did not answer; then
// the hold ends with its lease, which is no longer renewed.
func (k *Lock) Release(ctx context.Context) error {
	h := k.holding
	l := h.scope.locker

	h.scope.mu.Lock()
	if k.released {
		h.scope.mu.Unlock()
		return fmt.Errorf("%w: this lock in %s has been released", ErrNotHeld, h.tree)
	}
	k.released = true
	unneeded := h.detach(k)
	err := h.lost
	h.scope.mu.Unlock()
	k.cancel(nil)

	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer stop()
	for _, g := range unneeded {
		failed := l.store.Release(ctx, h.tree, h.scope.owner, g.id)
		switch {
		case err != nil:
			// The loss is known and has been reported; the store was only asked in
			// case that it still has something.
		case errors.Is(failed, ErrNotHeld):
			err = fmt.Errorf("%w: %s: the store had it no more at the release", ErrLost, h.tree)
		case failed != nil:
			err = failed
		}
	}
	event := k.event()
	event.Elapsed, event.Err = time.Since(k.since), err
	l.observers.released(ctx, event)
	l.log.DebugContext(ctx, "pathlock: released", "tree", h.tree, "owner", h.scope.owner, "held", event.Elapsed, "error", err)
	return err
}

// event describes the lock to observers.
func (k *Lock) event() Event {
	return Event{
		Tree: k.request.Tree, Owner: k.holding.scope.owner, Gate: k.request.Gate, Claims: k.request.Claims,
		Note: k.request.Note, Reentrant: k.reentrant, Fence: k.fence,
	}
}
