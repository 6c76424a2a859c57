package pathlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A hold that is attached without renewal outlives the processes that use it. What one of them
// acquires under it must not. So it has a lease of its own in the store, which this process renews
// as that of any other lock, and ends with the hold at the latest. Here it is a part of the hold's
// holding, its base, which stays while it has parts.

// isAttachedIn reports whether the scope is that of an attached hold in the tree.
func (s *Scope) isAttachedIn(tree Tree) bool { return s.attached != nil && s.attached.tree == tree }

// baseIn returns the holding of which an acquisition in a tree is to be a part, nil if of none. The
// error matches ErrLost if the scope's attached hold has ended here: its owner must not come to
// life again.
func (s *Scope) baseIn(tree Tree) (*holding, error) {
	if !s.isAttachedIn(tree) {
		return nil, nil
	}
	s.attached.checkClock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.attached.alive(); err != nil || !s.attached.unrenewed {
		return nil, err
	}
	return s.attached, nil
}

// alive returns an error that matches ErrLost if an attached hold has ended here. It expects the
// scope's mutex to be locked.
func (h *holding) alive() error {
	switch r := h.renewer; {
	case h.lost != nil:
		return h.lost
	case !slices.Contains(h.scope.holdings, h):
		return h.lostError(errEndedHere)
	case r.ended(h):
		return r.expire(h)
	}
	return nil
}

// bound returns how long an acquisition under the hold may wait, so that it leaves some time of the
// hold.
func (h *holding) bound(wait time.Duration) (time.Duration, error) {
	left := time.Until(h.renewer.until(h))
	if left < 2*MinLease {
		return 0, h.lostError(errLeaseEnded)
	}
	return min(wait, left/2), nil
}

// partOf makes the holding, which is new, a part of base. It expects the scope's mutex to be
// locked.
func (h *holding) partOf(base *holding, id GrantID) {
	h.base, h.token, h.apart = base, base.token, id
	h.relied = slices.Clone(base.grants)
	for _, g := range h.relied {
		g.pins++
	}
	base.parts = append(base.parts, h)
}

// leaveBase undoes partOf, where the holding is a part.
func (h *holding) leaveBase() {
	if h.base == nil {
		return
	}
	i := slices.Index(h.base.parts, h)
	if i < 0 {
		return
	}
	h.base.parts = slices.Delete(h.base.parts, i, i+1)
	for _, g := range h.relied {
		g.pins--
	}
	h.base.tidy()
}

// whole returns the holding of the whole hold, of which h may be a part.
func (h *holding) whole() *holding {
	if h.base != nil {
		return h.base
	}
	return h
}

// stay leaves with the hold what the lock has taken apart from it. It acquires the same once more,
// as a grant that shares the hold's lease, and then releases the lock.
func (k *Lock) stay() (Token, error) {
	h := k.holding
	h.checkClock()
	shared, err := h.beginStaying(k)
	if err != nil {
		return "", err
	}
	l := h.scope.locker
	ctx, stop := context.WithTimeout(context.Background(), releaseTimeout)
	defer stop()
	if err = l.acquireShared(ctx, shared); err != nil {
		l.settleWithin(ctx, debtOf(shared), h.scope, shared.Lease)
		if errors.Is(err, ErrLost) || errors.Is(err, ErrConflict) {
			err = h.lostError(err)
		}
		return "", fmt.Errorf("pathlock: detach in %s: %w", h.tree, err)
	}
	end := l.renewer.until(h.base)
	grants, err := h.endStaying(k)
	if err != nil {
		l.settleWithin(ctx, debtOf(shared), h.scope, shared.Lease)
		return "", err
	}
	k.until.Store(&end)
	k.ctx.cancel(nil)
	k.giveBackInBackground(context.Background(), grants, nil)
	return h.token, nil
}

// acquireShared has the store grant a. A store that panics has failed.
func (l *Locker) acquireShared(ctx context.Context, a Acquisition) (err error) {
	defer panicked(&err)
	_, err = l.store.Acquire(ctx, a)
	return err
}

// beginStaying returns the acquisition of what a part has, as a grant that shares the hold's lease.
// It does not prolong the hold.
func (h *holding) beginStaying(lock *Lock) (Acquisition, error) {
	h.scope.mu.Lock()
	err := h.mayLeave(lock)
	if err != nil {
		h.scope.mu.Unlock()
		return Acquisition{}, err
	}
	g := h.grants[0]
	h.scope.mu.Unlock()
	left := time.Until(h.renewer.until(h.base))
	if left < 2*MinLease {
		return Acquisition{}, h.lostError(errLeaseEnded)
	}
	return Acquisition{
		Tree: h.tree, Owner: h.scope.owner, Grant: h.scope.newGrantID(), Gate: g.gate, Held: true, Claims: slices.Clone(g.claims),
		Lease: min(lock.request.Lease, left/2), Note: lock.request.Note, Waiting: func() {},
	}, nil
}

// endStaying takes a lock off the part, and returns the grants to give back.
func (h *holding) endStaying(lock *Lock) ([]GrantID, error) {
	h.scope.mu.Lock()
	defer h.scope.mu.Unlock()
	if err := h.mayLeave(lock); err != nil {
		return nil, err
	}
	lock.released = true
	return h.removeLock(lock), nil
}

// Vacate gives back what locks have left with an attached hold by [Lock.Detach], if all of it is at
// or below a path. It serves holds that follow the nodes that their holders move, as package
// middleware's do: without it, what was taken at each place on the way would pile up. What the hold
// had at first stays, and so does what the holder has at the path in other locks. On a lock that is
// not attached it does nothing.
//
// Vacate takes no longer than ctx and at most five seconds. What cannot be given back by then is
// released in the background: see [Lock.Release]. That includes everything where ctx has ended.
func (k *Lock) Vacate(ctx context.Context, p Path) {
	h := k.holding
	l := h.scope.locker
	from, err := foldPath(p, l.fold)
	if err != nil {
		return // nothing is held there
	}
	vacated := func(g *grant) bool { return g.borrowed && g.isWithin(from) }
	h.scope.mu.Lock()
	var left []*grant
	for _, g := range h.grants {
		if vacated(g) {
			left = append(left, g)
		}
	}
	h.grants, k.pins = slices.DeleteFunc(h.grants, vacated), slices.DeleteFunc(k.pins, vacated)
	h.scope.mu.Unlock()
	ctx, stop := context.WithTimeout(ctx, releaseTimeout)
	defer stop()
	for _, g := range left {
		l.settleWithin(ctx, debt{tree: h.tree, owner: h.scope.owner, id: g.id}, h.scope, l.lease)
	}
}

// isWithin reports whether everything that the grant is for, intentions aside, is at or below a
// path.
func (g *grant) isWithin(p Path) bool {
	return !g.gate && !slices.ContainsFunc(g.claims, func(c Claim) bool {
		return c.Mode != ModeIS && c.Mode != ModeIX && !p.Contains(c.Path)
	})
}
