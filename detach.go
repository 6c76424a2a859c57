package pathlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock/internal/lease"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// Detach ends the lock here and keeps what it holds in the store. The hold then belongs to no
// process, and nobody renews it. Its lease ends [Request.Lease] after the call. The token names the
// hold in any process: [Locker.Attach] makes it a lock again, [Locker.Refresh] sets its end, and
// [Locker.ReleaseToken] releases it. [Lock.Until] says when the hold ends.
//
// A lock that Attach has returned keeps its token, and the lease keeps its end. The same is true of
// a lock acquired under it in the same tree: everything that this lock took stays with the hold.
// Other locks may rely on either. Detach asks the store only if the lock's grant has a lease of its
// own: see [Locker.Attach].
//
// docs/beyond-requests.md says what happens to the hold when processes die.
//
// Detach does its work even under a context that has ended. It takes at most five seconds, and
// after [Locker.Shutdown] at most ten. Meanwhile, [Lock.Release] returns [ErrNotHeld], and
// [Lock.Abandon] does nothing. The error matches:
//   - [ErrInvalidRequest] when the scope of a lock that is not attached holds anything else in the
//     tree, or is about to. The lock stays as it is.
//   - [ErrUnavailable] when the store did not answer, or the lock is [Lock.Degraded]. The lock
//     still has to be released.
//   - [ErrNotHeld] when the lock has been released, and [ErrLost] when it has been lost
func (k *Lock) Detach(ctx context.Context) (Token, error) {
	h := k.holding
	if h.base != nil {
		return k.stay(ctx)
	}
	token := h.token
	if h.lease.Shared { // what the lock relies on stays with the attached hold
		h.checkClock()
	} else {
		if err := h.beginDetaching(k); err != nil {
			return "", err
		}
		var err error
		if token, err = k.handOut(ctx); err != nil {
			h.stopDetaching()
			if errors.Is(err, ErrLost) {
				h.lose(h.currentGrants(), errLeaseGone)
			}
			h.checkClock() // which was not heeded meanwhile
			return "", err
		}
	}
	if _, err := h.endDetaching(k); err != nil {
		return "", err
	}
	k.endContext(nil)
	k.reportReleased(ctx, nil)
	return token, nil
}

// stillHas returns why a lock of the holding has ended, nil if it has not. It expects the scope's
// mutex to be locked.
func (h *holding) stillHas(lock *Lock) error {
	switch {
	case lock.released || h.whole().spent:
		return lock.errReleased()
	case h.lost != nil:
		return h.lost
	}
	return nil
}

// handOut transfers everything that the lock's scope holds in the tree to a new owner, and returns
// that owner's token.
func (k *Lock) handOut(ctx context.Context) (Token, error) {
	h, owner := k.holding, newDetachedOwner()
	l := h.scope.locker
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer stop()
	// What the scope has released, but the store may still have, must not move to the new owner.
	if left := l.releases.Await(ctx, h.tree); left > 0 {
		return "", fmt.Errorf("%w: detach in %s: %s under way", ErrUnavailable, h.tree, shown.Count(left, "release is", "releases are"))
	}
	sent := time.Now()
	got, err := l.store.Transfer(ctx, Transfer{Tree: h.tree, From: h.scope.owner, To: owner, Lease: k.lease})
	switch {
	case err == nil:
		k.until.Store(new(sent.Add(got.Left)))
		h.giveBackStrays(ctx, owner, k.lease, got.Grants)
		return newToken(h.tree, owner), nil
	case !errors.Is(err, ErrLost):
		// The new owner may have the hold now, and nobody will ever have its token. The store has
		// just failed, so only the background tries to release it.
		l.retryRelease(unneeded{h.tree, owner, everything, h.scope, k.lease}, err)
	}
	return "", fmt.Errorf("pathlock: detach in %s: %w", h.tree, err)
}

// giveBackStrays releases grants that moved to an owner but never belonged to the scope: their
// requests failed without an answer, and the store has yet to take them back.
func (h *holding) giveBackStrays(ctx context.Context, to Owner, lease time.Duration, came []TransferredGrant) {
	known := h.currentGrants()
	for _, g := range came {
		if !slices.ContainsFunc(known, func(k *grant) bool { return k.id == g.ID }) {
			_ = h.scope.locker.releaseOrRetry(ctx, unneeded{h.tree, to, g.ID, h.scope, lease})
		}
	}
}

// beginDetaching reserves the holding while its only lock is being detached.
func (h *holding) beginDetaching(lock *Lock) error {
	h.checkClock()
	s := h.scope
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := h.stillHas(lock); err != nil {
		return err
	}
	if lock.degraded {
		return fmt.Errorf("%w: detach in %s: the lock was granted without it", ErrUnavailable, h.tree)
	}
	if slices.Contains(s.asking, h.tree) {
		return fmt.Errorf("pathlock: detach in %s: %w: the scope is acquiring something else in the tree", h.tree, ErrInvalidRequest)
	}
	if len(h.locks) > 1 || h.detaching {
		return fmt.Errorf("pathlock: detach in %s: %w: other locks of the scope rely on what it holds in the tree", h.tree, ErrInvalidRequest)
	}
	h.detaching = true
	return nil
}

// stopDetaching undoes beginDetaching.
func (h *holding) stopDetaching() {
	h.scope.mu.Lock()
	defer h.scope.mu.Unlock()
	h.detaching = false
}

// endDetaching takes a lock off the holding, and the holding out of its scope if it was the last.
// It returns the grants that no lock relies on any more. An error leaves the lock unchanged.
func (h *holding) endDetaching(lock *Lock) (unneeded []GrantID, err error) {
	h.scope.mu.Lock()
	defer h.scope.mu.Unlock()
	h.detaching = false
	if err := h.stillHas(lock); err != nil {
		return nil, err
	}
	lock.released = true
	return h.removeLock(lock), nil
}

// stay moves a lock whose grant has a lease of its own into the hold. It acquires the same claims
// again, as a grant that shares the hold's lease, and then releases the lock. It does not prolong
// the hold.
func (k *Lock) stay(ctx context.Context) (Token, error) {
	h := k.holding
	h.checkClock()
	h.scope.mu.Lock()
	err := h.stillHas(k)
	var g *grant
	if err == nil {
		g = h.grants[0]
	}
	h.scope.mu.Unlock()
	if err != nil {
		return "", err
	}
	l := h.scope.locker
	ends := h.base.until()
	left := time.Until(ends)
	if left <= 0 {
		return "", h.lostError(lease.ErrEnded)
	}
	shared := Acquisition{
		Tree: h.tree, Owner: h.scope.owner, Grant: h.scope.newGrantID(), Gate: g.gate, Held: true, Claims: slices.Clone(g.claims),
		Lease: min(k.lease, (left+1)/2), Note: k.Note(), Waiting: func() {},
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer stop()
	if _, err := l.store.Acquire(ctx, shared); err != nil {
		_ = l.releaseOrRetry(ctx, shared.unneeded(h.scope))
		if errors.Is(err, ErrLost) || errors.Is(err, ErrConflict) {
			err = h.lostError(err)
		}
		return "", fmt.Errorf("pathlock: detach in %s: %w", h.tree, err)
	}
	h.checkClock()
	grants, err := h.endDetaching(k)
	if err != nil {
		_ = l.releaseOrRetry(ctx, shared.unneeded(h.scope))
		return "", err
	}
	k.endContext(nil)
	k.until.Store(&ends)
	k.giveBackInBackground(ctx, grants, nil)
	return h.token, nil
}
