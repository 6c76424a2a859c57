package pathlock

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
)

// lose tells every lock of the holding that its lease is gone, if any of the grants that were
// relied upon when the store was asked is still relied upon: what was released meanwhile is not
// lost. It reports whether the holding is lost.
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
	_ = h.renewer.expire(h)
	h.scope.mu.Lock()
	if h.lost != nil || len(h.locks) == 0 && len(h.parts) == 0 {
		h.scope.mu.Unlock()
		return nil
	}
	losses := h.fail(h.renewer.whyEnded(h))
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
	if !h.renewer.ended(h) {
		return
	}
	for _, l := range h.endByClock() {
		l.report()
	}
}

// fail makes the holding, and all of its parts, lost ones. It expects the scope's mutex to be
// locked.
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
	report(context.Background(), h.observers.log, slog.LevelWarn, "pathlock: lock lost",
		"tree", h.tree, "owner", h.scope.owner, "locks", len(l.locks), "error", l.why)
	if h.observers.none() {
		return
	}
	for _, lock := range l.locks {
		event := lock.event()
		event.Elapsed, event.Err = lock.elapsed(), h.lost
		h.observers.lost(&lock.ctx, event)
	}
}
