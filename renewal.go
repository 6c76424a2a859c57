package pathlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock/internal/lease"
)

// renewNow asks the store at once about what this locker holds for an owner in a tree, which is
// probably lost.
func (l *Locker) renewNow(tree Tree, owner Owner) {
	l.renewer.RenewNow(tree, func(h *holding) bool { return h.scope.owner == owner })
}

// renew renews leases of one tree, or asks how long one hold that is not renewed lasts. It notes
// the outcome for each.
func (l *Locker) renew(c *lease.Call[Tree, *holding]) {
	grants := make([][]*grant, len(c.Leases))
	for i, due := range c.Leases {
		grants[i] = due.Holder.currentGrants()
	}
	ctx, stop := context.WithTimeout(context.Background(), c.Patience)
	defer stop()
	c.Sent = time.Now()
	got, err := l.askToRenew(ctx, c, grants)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		// The call's own timeout would look like the end of the holder's context.
		err = fmt.Errorf("%w: no answer in time: %v", ErrUnavailable, err) //nolint:errorlint // see above
	}
	for i, due := range c.Leases {
		switch owner := due.Holder.scope.owner; {
		case isDegraded(grants[i]):
			l.renewer.Answered(c, due, c.Lengths[i])
		case got.lost[owner]:
			due.Holder.lose(grants[i], errLeaseGone)
		case err != nil:
			if l.renewer.Failed(c, due, err) {
				l.log.WarnContext(ctx, "pathlock: renewal failed", "tree", c.Key, "owner", owner, "error", err)
			}
		default:
			l.renewer.Answered(c, due, got.left[owner])
		}
	}
}

// renewed is the store's answer to a renewal. If there is an error too, only the losses count.
type renewed struct {
	lost map[Owner]bool          // the owners that hold nothing any more
	left map[Owner]time.Duration // how long the others' leases last, from when the call was sent
}

// askToRenew sends the renewal. It leaves out degraded grants, which no store knows.
func (l *Locker) askToRenew(ctx context.Context, c *lease.Call[Tree, *holding], grants [][]*grant) (got renewed, err error) {
	if c.Leases[0].Fixed {
		return l.askForEnd(ctx, c.Key, c.Leases[0].Holder.scope.owner)
	}
	got.left = make(map[Owner]time.Duration, len(c.Leases))
	leases := make([]Lease, 0, len(c.Leases))
	for i, due := range c.Leases {
		if isDegraded(grants[i]) {
			continue
		}
		owner := due.Holder.scope.owner
		leases = append(leases, Lease{Owner: owner, Grant: due.Holder.apart, For: c.Lengths[i]})
		got.left[owner] = max(got.left[owner], c.Lengths[i])
	}
	if len(leases) == 0 {
		return got, nil
	}
	lost, err := l.store.Renew(ctx, c.Key, leases)
	got.lost = make(map[Owner]bool, len(lost))
	for _, owner := range lost {
		got.lost[owner] = true
	}
	return got, err
}

// askForEnd asks how long an attached hold lasts, without prolonging it.
func (l *Locker) askForEnd(ctx context.Context, tree Tree, owner Owner) (renewed, error) {
	switch got, err := l.store.Transfer(ctx, Transfer{Tree: tree, From: owner, To: owner}); {
	case errors.Is(err, ErrLost):
		return renewed{lost: map[Owner]bool{owner: true}}, nil
	case err != nil:
		return renewed{}, err
	default:
		return renewed{left: map[Owner]time.Duration{owner: got.Left}}, nil
	}
}

// Why a lock is lost.
var (
	errLeaseGone = errors.New("the store no longer has it")
	errLate      = errors.New("the lease ended before the grant arrived")
	errNotThere  = errors.New("the store no longer had it at the release")
	errEndedHere = errors.New("the lock that this process attached has ended")
)

// lose ends every lock of the holding because its lease is gone, if the holding still relies on any
// of the grants that the store was asked about. What was released meanwhile is not lost. It reports
// whether the holding is lost, now or before, or is being detached: the caller then leaves its end
// to others.
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
	all := h.markLost(why)
	h.scope.mu.Unlock()
	all.cancel()
	all.report()
	return true
}

// endByClock ends the contexts of the holding's locks because its lease has ended. It returns the
// losses to report: none if the loss is known already, or if nobody relies on the holding. One that
// is being detached is not lost: what it holds may be the new owner's by now.
func (h *holding) endByClock() losses {
	why := h.scope.locker.renewer.Expire(&h.lease)
	h.scope.mu.Lock()
	if h.lost != nil || len(h.locks) == 0 && len(h.parts) == 0 {
		h.scope.mu.Unlock()
		return nil
	}
	if h.detaching {
		all := losses{{h, slices.Clone(h.locks), why, h.lostError(why)}}
		h.scope.mu.Unlock()
		all.cancel()
		return nil
	}
	all := h.markLost(why)
	h.scope.mu.Unlock()
	all.cancel()
	return all
}

// endAllByClock ends holdings whose leases have ended by the clock.
func endAllByClock(ended []*lease.Lease[*holding]) {
	var all losses
	for _, l := range ended {
		all = append(all, l.Holder.endByClock()...)
	}
	all.report()
}

// expire ends the lease by the clock, and returns the loss. The renewer's timer ends the locks.
func (h *holding) expire() error { return h.lostError(h.scope.locker.renewer.Expire(&h.lease)) }

// checkClock ends the holding if its own lease or its base's has ended by the clock, without
// waiting for the renewer's timer.
func (h *holding) checkClock() {
	if h.base != nil {
		h.base.checkClock()
	}
	if h.hasEnded() {
		h.endByClock().report()
	}
}

// markLost makes the holding and all of its parts lost. It expects the scope's mutex to be locked.
func (h *holding) markLost(why error) losses {
	h.lost = h.lostError(why)
	all := losses{{h, slices.Clone(h.locks), why, h.lost}}
	for _, part := range slices.Clone(h.parts) {
		all = append(all, part.markLost(why)...)
	}
	h.end()
	return all
}

// lostError returns the error of a lost holding. If a token names the hold, the error blames the
// hold and not the store, whichever clock ended it.
func (h *holding) lostError(why error) error {
	if h.token != "" {
		return fmt.Errorf("%w: %w: %s: %w", errTokenLost, ErrLost, h.tree, why)
	}
	return fmt.Errorf("%w: %s: %w", ErrLost, h.tree, why)
}

// loss is the loss of a holding, with the locks that relied on it.
type loss struct {
	holding *holding
	locks   []*Lock
	why     error
	// err is the error that lostError made of why.
	err error
}

type losses []loss

// cancel ends the contexts of the locks.
func (all losses) cancel() {
	for _, l := range all {
		for _, lock := range l.locks {
			lock.endContext(l.err)
		}
	}
}

// report writes the losses to the log and to the observers.
func (all losses) report() {
	for _, l := range all {
		h := l.holding
		h.scope.locker.log.WarnContext(context.Background(), "pathlock: lock lost",
			"tree", h.tree, "owner", h.scope.owner, "locks", len(l.locks), "error", l.why)
		for _, lock := range l.locks {
			lock.report(lock.Context(), "Lost", Observer.Lost, lock.elapsed(), l.err)
		}
	}
}
