package pathlock

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// holding is what one scope holds in one tree: its grants, which share a
// lease, and the locks that rely on them. Its scope's mutex guards it.
type holding struct {
	scope  *Scope
	tree   Tree
	grants []*grant
	locks  map[*Lock]struct{}
	// lost is why the lease ended early; nil while it lives.
	lost error

	// term is the renewer's, and guarded by its mutex.
	term term
}

// grant is one that the store has made.
type grant struct {
	id    GrantID
	gate  bool
	modes map[Path]Mode // normalised: every node, intentions included
	fence uint64
	// pins counts the locks that rely on this grant; the last one to go releases it.
	pins int
}

// covers reports whether g gives everything that the claim c asks for. The
// intentions above c need no look: whoever holds c, or a node above it
// in a mode that covers c, has them.
func (g *grant) covers(c Claim) bool {
	if g.gate || g.modes[c.Path].Covers(c.Mode) {
		return true
	}
	for p := c.Path; !p.IsRoot(); {
		p = p.Parent()
		if g.modes[p].CoversBelow(c.Mode) {
			return true
		}
	}
	return false
}

// held returns the grants that there are at the moment.
func (h *holding) held() []*grant {
	h.scope.mu.Lock()
	defer h.scope.mu.Unlock()
	return slices.Clone(h.grants)
}

// covering returns grants that together give everything that a asks for, the
// oldest that will do for each claim; nil if there are none.
//
// Only single grants are looked at for a claim. An S of one grant and an IX of another make an SIX
// that the store knows of, and a request for it simply asks the store.
func (h *holding) covering(a asked) []*grant {
	var pins []*grant
	pin := func(suits func(*grant) bool) bool {
		i := slices.IndexFunc(h.grants, suits)
		if i < 0 {
			return false
		}
		if !slices.Contains(pins, h.grants[i]) {
			pins = append(pins, h.grants[i])
		}
		return true
	}
	if a.Gate && !pin(func(g *grant) bool { return g.gate }) {
		return nil
	}
	for _, c := range a.folded {
		if !pin(func(g *grant) bool { return g.covers(c) }) {
			return nil
		}
	}
	return pins
}

// attach makes a lock that relies on pins.
func (h *holding) attach(ctx context.Context, a asked, pins []*grant, reentrant bool) *Lock {
	lock := &Lock{holding: h, pins: pins, request: a.Request, reentrant: reentrant, since: time.Now()}
	for _, g := range pins {
		g.pins++
		lock.fence = max(lock.fence, g.fence)
	}
	lock.ctx, lock.cancel = context.WithCancelCause(h.scope.Context(ctx))
	h.locks[lock] = struct{}{}
	return lock
}

// detach takes a lock off the holding and returns the grants that nobody
// relies on any more, for the caller to give back to the store.
func (h *holding) detach(lock *Lock) (unneeded []*grant) {
	delete(h.locks, lock)
	for _, g := range lock.pins {
		if g.pins--; g.pins == 0 {
			unneeded = append(unneeded, g)
		}
	}
	h.grants = slices.DeleteFunc(h.grants, func(g *grant) bool { return g.pins == 0 })
	if len(h.grants) == 0 {
		h.end()
	}
	return unneeded
}

// end takes the holding out of its scope and out of renewal.
func (h *holding) end() {
	h.scope.locker.renewer.forget(h)
	if h.scope.held[h.tree] == h {
		delete(h.scope.held, h.tree)
	}
}

// lose tells every lock of the holding that its lease is gone, if any of the grants that were relied
// upon when the store was asked is still relied upon: what was released meanwhile is not lost. It
// reports whether the holding is lost.
func (h *holding) lose(askedFor []*grant, why error) bool {
	h.scope.mu.Lock()
	if h.lost != nil {
		h.scope.mu.Unlock()
		return true
	}
	if !slices.ContainsFunc(askedFor, func(g *grant) bool { return slices.Contains(h.grants, g) }) {
		h.scope.mu.Unlock()
		return false
	}
	h.lost = fmt.Errorf("%w: %s: %w", ErrLost, h.tree, why)
	h.end()
	locks := make([]*Lock, 0, len(h.locks))
	for lock := range h.locks {
		locks = append(locks, lock)
	}
	h.scope.mu.Unlock()

	l := h.scope.locker
	l.log.Warn("pathlock: lock lost", "tree", h.tree, "owner", h.scope.owner, "locks", len(locks), "error", why)
	for _, lock := range locks {
		lock.cancel(h.lost)
		event := lock.event()
		event.Elapsed, event.Err = time.Since(lock.since), h.lost
		l.observers.lost(lock.ctx, event)
	}
	return true
}
