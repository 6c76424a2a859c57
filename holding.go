package pathlock

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock/internal/lease"
)

// holding is what one scope holds in one tree: its grants, which share a lease, and the locks that
// rely on them. The scope's mutex guards it.
type holding struct {
	scope *Scope
	tree  Tree
	lease lease.Lease[*holding]

	// Each lock knows its index. oneGrant and oneLock are the arrays of lists that hardly ever have
	// a second element.
	grants   []*grant
	locks    []*Lock
	oneGrant [1]*grant
	oneLock  [1]*Lock
	// lost is why the lease ended early, nil while it lives.
	lost error
	// detaching says that the only lock is being detached.
	detaching bool

	// token names an attached hold, or the hold that this is a part of. Others may end that hold at
	// any time, or set another end.
	token Token
	// parts were acquired under an attached hold with leases of their own: see below.
	parts []*holding
	// base is the holding that this one is a part of, nil if it is none. relied are the grants of
	// base that the part pins.
	base   *holding
	relied []*grant
	// apart is the grant that a part consists of.
	apart GrantID
	// spent says that the lock which Attach returned has been released. The hold ends for everybody
	// when the last lock on it in this process ends.
	spent bool
}

// hasEnded reports whether the lease has ended by the clock.
func (h *holding) hasEnded() bool { return h.scope.locker.renewer.HasEnded(&h.lease) }

// until returns the end of the lease, as far as it is known.
func (h *holding) until() time.Time { return h.scope.locker.renewer.Until(&h.lease) }

// whyLost returns the error of a lost holding, nil while it lives.
func (h *holding) whyLost() error {
	h.scope.mu.Lock()
	defer h.scope.mu.Unlock()
	return h.lost
}

// currentGrants returns a copy of the grants.
func (h *holding) currentGrants() []*grant {
	h.scope.mu.Lock()
	defer h.scope.mu.Unlock()
	return slices.Clone(h.grants)
}

// lasts returns how long the store may keep a grant requested with the given lease. The grants of
// the holding share the longest.
func (h *holding) lasts(lease time.Duration) time.Duration {
	return max(lease, time.Until(h.until()))
}

// isDegraded reports whether no store knows of the grants of a holding: see [Degrade].
func isDegraded(grants []*grant) bool { return len(grants) > 0 && grants[0].degraded }

// covering appends to pins the grants that together give everything that a asks for, and returns
// them. It takes the oldest grant that covers each claim, and returns none if something is missing.
//
// A single grant has to cover a claim. S in one grant and IX in another make SIX, but only the
// store knows that: a request for SIX asks the store.
func (h *holding) covering(a *prepared, pins []*grant) []*grant {
	grants := h.grants
	if h.base != nil {
		grants = slices.Concat(h.base.grants, h.grants)
	}
	if a.Gate {
		i := slices.IndexFunc(grants, func(g *grant) bool { return g.gate })
		if i < 0 {
			return nil
		}
		pins = append(pins, grants[i])
	}
	for _, c := range a.folded {
		i := slices.IndexFunc(grants, func(g *grant) bool { return g.covers(c) })
		if i < 0 {
			return nil
		}
		if !slices.Contains(pins, grants[i]) {
			pins = append(pins, grants[i])
		}
	}
	return pins
}

// addLock adds to the holding a lock that relies on pins and whose context descends from ctx. It
// copies pins. It must not call anything that may panic or end the goroutine: no lock exists yet
// that could give the grant back.
func (h *holding) addLock(ctx context.Context, a *prepared, pins []*grant, reentrant bool) *Lock {
	lock := &Lock{
		holding: h, parent: ctx, note: a.Note, operation: a.Operation, lease: a.Lease,
		observed: a.observed, reentrant: reentrant, index: len(h.locks),
	}
	if o := a.observed; o != nil {
		// The caller may reuse its slice.
		o.gate, o.claims, o.since = a.Gate, slices.Clone(a.Claims), time.Now()
	}
	lock.pins = append(lock.one[:0], pins...)
	for _, g := range pins {
		g.pins++
		lock.fence = max(lock.fence, g.fence)
		lock.degraded = lock.degraded || g.degraded
	}
	if ends := a.ends(); !ends.IsZero() {
		lock.limit = &limit{ends, time.AfterFunc(time.Until(ends), lock.endOverdue)}
	}
	h.locks = append(h.locks, lock)
	return lock
}

// removeLock takes a lock off the holding. It returns the grants that no lock relies on any more,
// for the caller to give back to the store.
func (h *holding) removeLock(lock *Lock) (unneeded []GrantID) {
	last := len(h.locks) - 1
	h.locks[last].index = lock.index
	h.locks[lock.index] = h.locks[last]
	h.locks[last] = nil
	h.locks = h.locks[:last]
	for _, g := range lock.pins {
		if g.pins--; g.pins == 0 && !g.kept {
			unneeded = append(unneeded, g.id)
		}
	}
	h.tidy()
	if h.base != nil {
		h.base.tidy()
	}
	return unneeded
}

// tidy forgets the grants without pins, and ends the holding if nothing relies on it any more.
func (h *holding) tidy() {
	h.grants = slices.DeleteFunc(h.grants, func(g *grant) bool { return g.pins == 0 })
	if len(h.locks) == 0 && len(h.parts) == 0 {
		h.end()
	}
}

// end takes the holding out of its scope and out of renewal.
func (h *holding) end() {
	h.scope.locker.renewer.Remove(&h.lease)
	h.scope.forget(h)
	h.leaveBase()
}

// grant is what the store has granted to a scope in one answer.
type grant struct {
	id   GrantID
	gate bool
	// claims is normalised: every node, intentions included.
	claims []Claim
	fence  uint64
	// pins counts the locks and parts that rely on the grant. It is released with the last one.
	pins int
	// merged says that [Merge] has made it, for several locks.
	merged bool
	// kept says that the grant belongs to a detached hold, and stays with it.
	kept bool
	// degraded says that the grant was made without a store: see [Degrade]. It is set for all
	// grants of a holding, or for none.
	degraded bool
}

func newGrant(a Acquisition, granted Grant) *grant {
	return &grant{id: a.Grant, gate: a.Gate, claims: a.Claims, fence: granted.Fence, degraded: granted.degraded}
}

// covers reports whether g gives everything that the claim c asks for. It does not look at the
// intentions above c: a grant of c, or of a node above it in a mode that covers c, includes them.
func (g *grant) covers(c Claim) bool {
	if g.gate {
		return true
	}
	// The claims that the caller asked for are the deepest, and come last.
	for i := len(g.claims) - 1; i >= 0; i-- {
		own := g.claims[i]
		if own.Path.Contains(c.Path) && (own.Mode.CoversBelow(c.Mode) || own.Path == c.Path && own.Mode.Covers(c.Mode)) {
			return true
		}
	}
	return false
}

// An attached hold outlives the processes that use it, but a grant that one of them acquires under
// it must not. So such a grant has a lease of its own in the store. This process renews the lease
// like any other, and it ends with the hold at the latest. Here it is a part of the hold's holding,
// its base, which stays while it has parts.

// isAttachedIn reports whether the scope is that of an attached hold in the tree.
func (s *Scope) isAttachedIn(tree Tree) bool { return s.attached != nil && s.attached.tree == tree }

// baseIn returns the holding that an acquisition in a tree has to become a part of, nil if there is
// none. The error matches ErrLost if the scope's attached hold has ended here: its owner must not
// come to life again.
func (s *Scope) baseIn(tree Tree) (*holding, error) {
	if !s.isAttachedIn(tree) {
		return nil, nil
	}
	s.attached.checkClock()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attached, s.attached.alive()
}

// alive returns an error that matches ErrLost if an attached hold has ended here. It expects the
// scope's mutex to be locked.
func (h *holding) alive() error {
	switch {
	case h.lost != nil:
		return h.lost
	case !slices.Contains(h.scope.holdings, h):
		return h.lostError(errEndedHere)
	case h.hasEnded():
		return h.expire()
	}
	return nil
}

// partOf makes the holding, which is new, a part of base. It expects the scope's mutex to be
// locked.
func (h *holding) partOf(base *holding, id GrantID) {
	h.base, h.token, h.apart = base, base.token, id
	h.lease.Base = &base.lease
	h.relied = slices.Clone(base.grants)
	for _, g := range h.relied {
		g.pins++
	}
	base.parts = append(base.parts, h)
}

// leaveBase undoes partOf, if the holding is a part.
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

// whole returns the holding of the whole hold: h itself, or the holding that h is a part of.
func (h *holding) whole() *holding { return cmp.Or(h.base, h) }
