package pathlock

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// holding is what one scope holds in one tree: its grants, which share a
// lease, and the locks that rely on them. Its scope's mutex guards it.
type holding struct {
	scope  *Scope
	tree   Tree
	grants []*grant
	locks  []*Lock // each knows its index
	// lost is why the lease ended early; nil while it lives.
	lost error

	// term is the renewer's, and guarded by its mutex.
	term term
}

// held returns the grants that there are at the moment.
func (h *holding) held() []*grant {
	h.scope.mu.Lock()
	defer h.scope.mu.Unlock()
	return slices.Clone(h.grants)
}

// covering appends grants to pins that together give everything that a asks for, the
// oldest that will do for each claim, and returns them; none if something is missing.
//
// Only single grants are looked at for a claim. An S of one grant and an IX of another make an SIX
// that the store knows of, and a request for it simply asks the store.
func (h *holding) covering(a asked, pins []*grant) []*grant {
	if a.Gate {
		i := slices.IndexFunc(h.grants, func(g *grant) bool { return g.gate })
		if i < 0 {
			return nil
		}
		pins = append(pins, h.grants[i])
	}
	for _, c := range a.folded {
		i := slices.IndexFunc(h.grants, func(g *grant) bool { return g.covers(c) })
		if i < 0 {
			return nil
		}
		if !slices.Contains(pins, h.grants[i]) {
			pins = append(pins, h.grants[i])
		}
	}
	return pins
}

// attach makes lock, which relies on its pins, one of the holding's. watched says whether anybody
// wants to know how long it is held. Nothing of anybody else's is called here: the grant has no lock
// yet that could give it back.
func (h *holding) attach(ctx context.Context, a asked, lock *Lock, watched bool) {
	lock.holding, lock.request = h, a.Request
	if watched {
		lock.since = time.Now()
	}
	for _, g := range lock.pins {
		g.pins++
		lock.fence = max(lock.fence, g.fence)
	}
	lock.ctx.parent, lock.ctx.scope = ctx, h.scope
	lock.index = len(h.locks)
	h.locks = append(h.locks, lock)
}

// detach takes a lock off the holding and returns the grants that nobody
// relies on any more, for the caller to give back to the store.
func (h *holding) detach(lock *Lock) (unneeded []*grant) {
	last := len(h.locks) - 1
	h.locks[last].index = lock.index
	h.locks[lock.index] = h.locks[last]
	h.locks[last] = nil
	h.locks = h.locks[:last]
	for _, g := range lock.pins {
		if g.pins--; g.pins == 0 {
			unneeded = append(unneeded, g)
		}
	}
	if len(unneeded) == 0 {
		return nil
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
	h.scope.forget(h)
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
	locks := slices.Clone(h.locks)
	h.scope.mu.Unlock()

	l := h.scope.locker
	for _, lock := range locks {
		lock.ctx.cancel(h.lost)
	}
	report(context.Background(), l.log, slog.LevelWarn, "pathlock: lock lost",
		"tree", h.tree, "owner", h.scope.owner, "locks", len(locks), "error", why)
	if l.observers.none() {
		return true
	}
	for _, lock := range locks {
		event := lock.event()
		event.Elapsed, event.Err = lock.elapsed(), h.lost
		l.observers.lost(&lock.ctx, event)
	}
	return true
}
