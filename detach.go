package pathlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock/internal/lease"
)

// Detach ends the lock here and keeps what it holds in the store. The hold then belongs to no
// process, and nobody renews it. Its lease ends [Request.Lease] after the call. The token names the
// hold in any process: [Locker.Attach] makes it a lock again, [Locker.Refresh] sets its end, and
// [Locker.ReleaseToken] releases it. [Lock.Until] says when the hold ends.
//
// A lock that Attach has returned keeps its token, and the lease keeps its end. The same is true of
// a lock acquired under it in the same tree: what that lock has taken stays with the hold. Other
// locks may rely on either. The store is asked only where what was taken has a lease of its own:
// see [Locker.Attach].
//
// docs/beyond-requests.md says what becomes of the hold when processes die.
//
// Detach does its work even under a context that has ended. It takes at most five seconds, and after
// [Locker.Shutdown] at most ten. The error matches:
//   - [ErrInvalidRequest] where the scope of a lock that is not attached holds anything else in
//     the tree. The lock stays as it is.
//   - [ErrUnavailable] when the store did not answer. The lock still has to be released.
//   - [ErrNotHeld] when the lock has been released, and [ErrLost] when it has been lost
func (k *Lock) Detach(ctx context.Context) (Token, error) {
	h := k.holding
	switch {
	case h.lease.Shared:
		return k.leave(ctx)
	case h.base != nil:
		return k.stay(ctx)
	}
	if err := h.beginDetaching(k); err != nil {
		return "", err
	}
	token, err := k.handOut(ctx)
	if err != nil {
		h.stopDetaching()
		if errors.Is(err, ErrLost) {
			h.lose(h.currentGrants(), errLeaseGone)
		}
		return "", err
	}
	if err := h.endDetaching(k); err != nil {
		return "", err
	}
	k.ctx.cancel(nil)
	k.reportReleased(ctx, nil)
	return token, nil
}

// leave ends a lock on an attached hold. What the lock relies on stays with the hold.
func (k *Lock) leave(ctx context.Context) (Token, error) {
	h := k.holding
	h.checkClock()
	h.scope.mu.Lock()
	err := h.mayLeave(k)
	if err == nil {
		k.released = true
		h.removeLock(k)
	}
	h.scope.mu.Unlock()
	if err != nil {
		return "", err
	}
	k.ctx.cancel(nil)
	k.reportReleased(ctx, nil)
	return h.token, nil
}

// mayLeave returns why a lock can leave nothing with the hold, nil if it can. It expects the
// scope's mutex to be locked.
func (h *holding) mayLeave(lock *Lock) error {
	switch {
	case lock.released || h.whole().spent:
		return lock.errReleased()
	case h.lost != nil:
		return h.lost
	}
	return nil
}

// handOut gives everything that the lock's scope holds in the tree to a new owner, whose token it
// returns.
func (k *Lock) handOut(ctx context.Context) (Token, error) {
	h, owner := k.holding, newDetachedOwner()
	l := h.scope.locker
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer stop()
	// What the scope has released, but the store may still have, must not go along.
	tries, _ := l.releases.UnderWay(h.tree)
	left := tries.Wait(ctx)
	if _, retried := l.releases.UnderWay(h.tree); left+retried > 0 {
		return "", fmt.Errorf("%w: detach in %s: %d releases are under way", ErrUnavailable, h.tree, left+retried)
	}
	sent := time.Now()
	got, err := l.store.Transfer(ctx, Transfer{Tree: h.tree, From: h.scope.owner, To: owner, Lease: k.request.Lease})
	switch {
	case err == nil:
		k.until.Store(new(sent.Add(got.Left)))
		return newToken(h.tree, owner), nil
	case !errors.Is(err, ErrLost):
		// The new owner may have got the hold, and nobody will ever have its token. The store has
		// just failed, so only the background tries to release it.
		l.retryRelease(unneeded{h.tree, owner, everything, h.scope, k.request.Lease}, err)
	}
	return "", fmt.Errorf("pathlock: detach in %s: %w", h.tree, err)
}

// beginDetaching reserves the holding while its only lock is being detached.
func (h *holding) beginDetaching(lock *Lock) error {
	h.checkClock()
	s := h.scope
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case lock.released:
		return lock.errReleased()
	case h.lost != nil:
		return h.lost
	case len(h.locks) > 1 || h.detaching:
		return fmt.Errorf("%w: detach in %s: other locks of the scope rely on what it holds there", ErrInvalidRequest, h.tree)
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

// endDetaching takes the holding's only lock off it, and the holding out of its scope.
func (h *holding) endDetaching(lock *Lock) error {
	h.scope.mu.Lock()
	defer h.scope.mu.Unlock()
	h.detaching = false
	switch {
	case h.lost != nil:
		return h.lost
	case lock.released:
		return lock.errReleased()
	}
	lock.released = true
	h.removeLock(lock)
	return nil
}

// stay leaves with the hold what the lock has taken apart from it. It acquires the same once more,
// as a grant that shares the hold's lease, and then releases the lock. It does not prolong the
// hold.
func (k *Lock) stay(ctx context.Context) (Token, error) {
	h := k.holding
	h.checkClock()
	h.scope.mu.Lock()
	err := h.mayLeave(k)
	var g *grant
	if err == nil {
		g = h.grants[0]
	}
	h.scope.mu.Unlock()
	if err != nil {
		return "", err
	}
	l := h.scope.locker
	ends := l.renewer.Until(&h.base.lease)
	left := time.Until(ends)
	if left <= 0 {
		return "", h.lostError(lease.ErrEnded)
	}
	shared := Acquisition{
		Tree: h.tree, Owner: h.scope.owner, Grant: h.scope.newGrantID(), Gate: g.gate, Held: true, Claims: slices.Clone(g.claims),
		Lease: min(k.request.Lease, (left+1)/2), Note: k.request.Note, Waiting: func() {},
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
	grants, err := k.end(nil)
	if err != nil {
		_ = l.releaseOrRetry(ctx, shared.unneeded(h.scope))
		return "", err
	}
	k.until.Store(&ends)
	k.giveBackInBackground(ctx, grants, nil)
	return h.token, nil
}
