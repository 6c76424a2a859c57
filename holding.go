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
	// detaching says that the only lock is being detached.
	detaching bool

	// token names a hold that has been attached; others may end it at any time, or set another end.
	token Token
	// unrenewed says that it keeps the end that it has.
	unrenewed bool
	// parts are what has been acquired under it with a lease of its own: see apart.go.
	parts []*holding
	// base is the holding that this one is a part of, nil for one that stands alone. relied are the
	// grants of base that the part keeps it alive by.
	base   *holding
	relied []*grant
	// apart is the grant that a part consists of.
	apart GrantID
	// spent says that the lock which Attach returned has been released, and with it the hold: it
	// ends for everybody when the last lock goes that this process has on it.
	spent bool

	// term and place are the renewer's, and guarded by its mutex.
	term  term
	place place
	// ends is the end of the term, for those who have not got the mutex.
	ends deadline
}

// isShared reports whether others may set another end of the hold's lease.
func (h *holding) isShared() bool { return h.token != "" && h.base == nil }

// isOfToken reports whether a token names the hold, or what it is a part of.
func (h *holding) isOfToken() bool { return h.token != "" }

// whyLost returns the error of those whose hold has been lost, nil while it lives.
func (h *holding) whyLost() error {
	h.scope.mu.Lock()
	defer h.scope.mu.Unlock()
	return h.lost
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
	grants := h.grants
	if h.base != nil {
		grants = slices.Concat(h.base.grants, h.grants)
	}
	if a.Gate {
		i := slices.IndexFunc(grants, func(g *grant) bool { return g.gate && !g.borrowed })
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

// attach makes lock, which relies on its pins, one of the holding's. watched says whether anybody
// wants to know how long it is held. Nothing of anybody else's is called here: the grant has no lock
// yet that could give it back.
func (h *holding) attach(ctx context.Context, req Request, lock *Lock, watched bool) {
	// The caller may use its slice again, and nobody but an observer asks a lock for its claims.
	if h.scope.locker.observers.none() {
		req.Claims = nil
	} else {
		req.Claims = slices.Clone(req.Claims)
	}
	lock.holding, lock.request = h, req
	if watched {
		lock.since = time.Now()
	}
	for _, g := range lock.pins {
		g.pins++
		lock.fence = max(lock.fence, g.fence)
	}
	lock.ctx.parent, lock.ctx.holding = ctx, h
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
	unpinned := false
	for _, g := range lock.pins {
		if g.pins--; g.pins > 0 {
			continue
		}
		if unpinned = true; !g.kept {
			unneeded = append(unneeded, g)
		}
	}
	if unpinned {
		h.tidy()
		if h.base != nil {
			h.base.tidy()
		}
	}
	return unneeded
}

// tidy forgets the grants that nobody relies on, and ends the holding where none are left.
func (h *holding) tidy() {
	h.grants = slices.DeleteFunc(h.grants, func(g *grant) bool { return g.pins == 0 })
	if len(h.grants) == 0 {
		h.end()
	}
}

// end takes the holding out of its scope and out of renewal.
func (h *holding) end() {
	h.scope.locker.renewer.forget(h)
	h.scope.forget(h)
	h.leaveBase()
}

// lose tells every lock of the holding that its lease is gone, if any of the grants that were relied
// upon when the store was asked is still relied upon: what was released meanwhile is not lost. It
// reports whether the holding is lost.
func (h *holding) lose(askedFor []*grant, why error) bool {
	h.scope.mu.Lock()
	if h.lost != nil || h.detaching {
		h.scope.mu.Unlock()
		return true
	}
	if !slices.ContainsFunc(askedFor, func(g *grant) bool { return slices.Contains(h.grants, g) }) {
		h.scope.mu.Unlock()
		return false
	}
	losses := h.fail(why)
	h.scope.mu.Unlock()
	for _, l := range losses {
		l.tell()
	}
	for _, l := range losses {
		l.report()
	}
	return true
}

// endByClock ends the contexts of the holding's locks because its lease has ended, and returns what
// there is to report of that: nothing where it is known already, or nobody relies on the holding.
func (h *holding) endByClock() []loss {
	_ = h.scope.locker.renewer.expire(h)
	h.scope.mu.Lock()
	if h.lost != nil || len(h.locks) == 0 && len(h.parts) == 0 {
		h.scope.mu.Unlock()
		return nil
	}
	losses := h.fail(h.scope.locker.renewer.whyEnded(h))
	h.scope.mu.Unlock()
	for _, l := range losses {
		l.tell()
	}
	return losses
}

// checkClock ends the holding if its lease, or that of the one which it is a part of, has ended by
// the clock, before the renewer's timer does.
func (h *holding) checkClock() {
	if h.base != nil {
		h.base.checkClock()
	}
	if !h.scope.locker.renewer.ended(h) {
		return
	}
	for _, l := range h.endByClock() {
		l.report()
	}
}

// fail makes the holding, and all of its parts, lost ones. It expects the scope's mutex to be locked.
func (h *holding) fail(why error) []loss {
	h.lost = h.loss(why)
	losses := []loss{{h, slices.Clone(h.locks), why}}
	for _, part := range slices.Clone(h.parts) {
		losses = append(losses, part.fail(why)...)
	}
	h.end()
	return losses
}

// loss is the error of those whose hold has been lost. Where a token names the hold, it is the
// caller's that has ended, by whichever clock, and the store is well.
func (h *holding) loss(why error) error {
	if h.isOfToken() {
		return fmt.Errorf("%w: %w: %s: %w", errTokenLost, ErrLost, h.tree, why)
	}
	return fmt.Errorf("%w: %s: %w", ErrLost, h.tree, why)
}

// loss is one to be reported.
type loss struct {
	holding *holding
	locks   []*Lock
	why     error
}

// tell ends the contexts of the locks.
func (l loss) tell() {
	for _, lock := range l.locks {
		lock.ctx.cancel(l.holding.lost)
	}
}

// report tells the log and the observers.
func (l loss) report() {
	h := l.holding
	locker := h.scope.locker
	report(context.Background(), locker.log, slog.LevelWarn, "pathlock: lock lost",
		"tree", h.tree, "owner", h.scope.owner, "locks", len(l.locks), "error", l.why)
	if locker.observers.none() {
		return
	}
	for _, lock := range l.locks {
		event := lock.event()
		event.Elapsed, event.Err = lock.elapsed(), h.lost
		locker.observers.lost(&lock.ctx, event)
	}
}
