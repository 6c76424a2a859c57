package pathlock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
)

// Why a lock is lost.
var (
	errLeaseEnded = errors.New("the lease ended before it could be renewed")
	errLeaseGone  = errors.New("the store has it no more")
	errLate       = errors.New("the lease ended before the grant was known of")
	errNotThere   = errors.New("the store had it no more at the release")
	errEndedHere  = errors.New("the lock that this process attached has ended")
)

// lose ends every lock of the holding because its lease is gone, if the holding still relies on any
// of the grants that the store was asked about. What was released meanwhile is not lost. It reports
// whether the holding is lost, or is being detached, so that its end is somebody else's business.
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
	losses := h.markLost(why)
	h.scope.mu.Unlock()
	for _, l := range losses {
		l.cancel()
	}
	for _, l := range losses {
		l.report()
	}
	return true
}

// endByClock ends the contexts of the holding's locks because its lease has ended, and returns what
// there is to report. That is nothing where the loss is known, or nobody relies on the holding.
func (h *holding) endByClock() []loss {
	_ = h.renewer.expire(h)
	h.scope.mu.Lock()
	if h.lost != nil || len(h.locks) == 0 && len(h.parts) == 0 {
		h.scope.mu.Unlock()
		return nil
	}
	losses := h.markLost(h.renewer.whyEnded(h))
	h.scope.mu.Unlock()
	for _, l := range losses {
		l.cancel()
	}
	return losses
}

// checkClock ends the holding, before the renewer's timer does, if its own lease or that of its
// base has ended by the clock.
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

// markLost makes the holding and all of its parts lost. It expects the scope's mutex to be locked.
func (h *holding) markLost(why error) []loss {
	h.lost = h.lostError(why)
	losses := []loss{{h, slices.Clone(h.locks), why, h.lost}}
	for _, part := range slices.Clone(h.parts) {
		losses = append(losses, part.markLost(why)...)
	}
	h.end()
	return losses
}

// lostError returns the error of a lost holding. Where a token names the hold, the error blames the
// hold and not the store, by whichever clock it has ended.
func (h *holding) lostError(why error) error {
	if h.isOfToken() {
		return fmt.Errorf("%w: %w: %s: %w", errTokenLost, ErrLost, h.tree, why)
	}
	return fmt.Errorf("%w: %s: %w", ErrLost, h.tree, why)
}

// loss is the loss of a holding, with the locks that relied on it.
type loss struct {
	holding *holding
	locks   []*Lock
	why     error
	// err is why in the words of lostError.
	err error
}

// cancel ends the contexts of the locks.
func (l loss) cancel() {
	for _, lock := range l.locks {
		lock.ctx.cancel(l.err)
	}
}

// report writes the loss to the log and to the observers.
func (l loss) report() {
	h := l.holding
	report(context.Background(), h.observers.log, slog.LevelWarn, "pathlock: lock lost",
		"tree", h.tree, "owner", h.scope.owner, "locks", len(l.locks), "error", l.why)
	if h.observers.none() {
		return
	}
	for _, lock := range l.locks {
		event := lock.event()
		event.Elapsed, event.Err = lock.elapsed(), l.err
		h.observers.lost(&lock.ctx, event)
	}
}
