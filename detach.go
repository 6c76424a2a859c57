package pathlock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Detach ends the lock here and keeps what it holds in the store. The hold then belongs to no
// process, and nobody renews it. Its lease ends [Request.Lease] after the call. The token names the
// hold in any process: [Locker.Attach] makes it a lock again, [Locker.Refresh] sets its end, and
// [Locker.ReleaseToken] releases it. [Lock.Until] says when the hold ends.
//
// A lock that Attach has returned keeps its token, and the lease keeps its end. The same is true of
// a lock acquired under it in the same tree: what that lock has taken stays with the hold. Other
// locks may rely on either. The store is asked only where what was taken has a lease of its own:
// see [WithoutRenewal].
//
// docs/beyond-requests.md says what becomes of the hold when processes die.
//
// Detach takes at most five seconds, and after [Locker.Shutdown] at most ten. The error matches:
//   - [ErrInvalidRequest] where the scope of a lock that is not attached holds or asks for anything
//     else in the tree. The lock stays as it is.
//   - [errors.ErrUnsupported] where the store is no [TransferStore]. The lock stays as it is.
//   - [ErrUnavailable] when the store did not answer. The lock still has to be released.
//   - [ErrNotHeld] when the lock has been released, and [ErrLost] when it has been lost
func (k *Lock) Detach() (Token, error) {
	h := k.holding
	switch {
	case h.isShared():
		return k.leave()
	case h.base != nil:
		return k.stay()
	}
	if err := h.beginDetaching(k); err != nil {
		return "", err
	}
	token, err := k.handOut()
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
	k.reportReleased(context.Background(), nil)
	return token, nil
}

// leave ends a lock on an attached hold. What the lock relies on stays with the hold.
func (k *Lock) leave() (Token, error) {
	h := k.holding
	h.checkClock()
	h.scope.mu.Lock()
	err := h.mayLeave(k)
	if err == nil {
		k.released = true
		for _, g := range k.pins {
			g.kept = true
		}
		h.removeLock(k)
	}
	h.scope.mu.Unlock()
	if err != nil {
		return "", err
	}
	k.ctx.cancel(nil)
	k.reportReleased(context.Background(), nil)
	return h.token, nil
}

// mayLeave returns why a lock can leave nothing with the hold, nil if it can. It expects the
// scope's mutex to be locked.
func (h *holding) mayLeave(lock *Lock) error {
	switch {
	case lock.released || h.whole().spent:
		return errReleased(h.tree)
	case h.lost != nil:
		return h.lost
	}
	return nil
}

// handOut gives everything that the lock's scope holds in the tree to a new owner, whose token it
// returns.
func (k *Lock) handOut() (Token, error) {
	h, owner := k.holding, newDetachedOwner()
	l := h.scope.locker
	store, ok := l.store.(TransferStore)
	if !ok {
		return "", fmt.Errorf("pathlock: detach in %s: the lock store keeps no hold without its process: %w", h.tree, errors.ErrUnsupported)
	}
	ctx, stop := context.WithTimeout(context.Background(), releaseTimeout)
	defer stop()
	// What the scope has released, but the store may still have, must not go along.
	if left := l.releases.inTree(h.tree).wait(ctx); left > 0 {
		return "", fmt.Errorf("%w: detach in %s: %d releases are under way", ErrUnavailable, h.tree, left)
	}
	sent := time.Now()
	got, err := transfer(ctx, store, Transfer{Tree: h.tree, From: h.scope.owner, To: owner, Lease: k.request.Lease})
	switch {
	case err == nil:
		k.until.Store(new(sent.Add(got.Left)))
		return newToken(h.tree, owner), nil
	case !errors.Is(err, ErrLost) && !errors.Is(err, errors.ErrUnsupported):
		// The new owner may have got the hold, and nobody will ever have its token. The store has
		// just failed, so only the background tries to release it.
		l.releases.retry(l, debt{tree: h.tree, owner: owner, id: everything}, h.scope, k.request.Lease, err)
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
		return errReleased(h.tree)
	case h.lost != nil:
		return h.lost
	case len(h.locks) > 1 || h.detaching:
		return fmt.Errorf("%w: detach in %s: other locks of the scope rely on what it holds there", ErrInvalidRequest, h.tree)
	case s.isAsking(h.tree):
		return fmt.Errorf("%w: detach in %s: the scope asks for something else there", ErrInvalidRequest, h.tree)
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
		return errReleased(h.tree)
	}
	lock.released = true
	h.removeLock(lock)
	return nil
}
