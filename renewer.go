package pathlock

import (
	"log/slog"
	"sync"
	"time"
)

// renewer keeps the leases of one process alive, and ends those that have ended by the clock. It
// renews each at a third of its length, and those of one tree together in one call.
//
// It consists of one timer. When the timer fires, each renewal that is due gets a goroutine, and
// the timer is set for what is due next. So a store that does not answer delays nobody else. The
// last release does not stop the timer: the next grant would have to set it again, and firing once
// in vain costs less.
//
// New holdings go to a list, which costs next to nothing: nearly all are released before they are
// due. The timer moves those that are left to the agendas.
type renewer struct {
	store Store
	log   *slog.Logger
	clock clock

	mu    sync.Mutex
	fresh fresh
	plan  plan
	calls uint64 // how many were sent
	timer *time.Timer
	fires time.Time // when the timer fires, zero while it is not armed
	// offset is the clock's at the latest comparison with all that is held.
	offset time.Duration
}

const (
	// longestSleep bounds the timer's sleep while anything is held, so that a host that was
	// suspended soon notices. Timers stand still meanwhile, as the monotonic clock does.
	longestSleep = time.Second
	// longestUnseen is how long a hold that others can release or shorten by its token goes without
	// a look.
	longestUnseen = time.Second
)

func (r *renewer) init(store Store, log *slog.Logger) {
	r.store, r.log = store, log
	r.clock = newClock()
	r.offset = r.clock.offset(time.Now())
}

// extend notes that h's lease is certain to last for at least lease from a moment on.
func (r *renewer) extend(h *holding, lease time.Duration, from time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &h.term
	known := t.lease > 0
	if !h.unrenewed {
		t.lease = max(t.lease, lease)
	}
	if t.believe(h.isShared(), from, lease) && !h.unrenewed {
		t.renew = from.Add(t.pause(h.isShared()))
	}
	if known {
		r.reschedule(h)
	} else {
		r.enter(h)
	}
}

// adopt enters an attached hold that has that long left from a moment on.
func (r *renewer) adopt(h *holding, lease, left time.Duration, from time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &h.term
	t.lease = lease
	t.believe(true, from, left)
	t.renew = from
	if h.unrenewed {
		t.renew = from.Add(t.pause(true))
	}
	r.enter(h)
}

// enter lists a new holding. It expects the mutex to be locked.
func (r *renewer) enter(h *holding) {
	r.publish(h)
	r.fresh.add(h)
	r.arm(h.next())
}

// remove ends the renewal of h.
func (r *renewer) remove(h *holding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(h)
}

// drop is remove for callers that have locked the mutex.
func (r *renewer) drop(h *holding) {
	h.term.over = true
	if !r.fresh.remove(h) {
		r.plan.remove(h)
	}
}

// until returns the end of h's lease, as far as it is known.
func (r *renewer) until(h *holding) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	until := h.term.storedUntil
	if h.base != nil && h.base.term.storedUntil.Before(until) {
		return h.base.term.storedUntil
	}
	return until
}

// expire notes that h's lease has ended by the clock, whatever the answer to a renewal that is
// under way, and returns the loss. The timer ends the locks.
func (r *renewer) expire(h *holding) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &h.term
	if !t.over {
		t.trustedUntil = time.Time{}
		r.publish(h)
		r.plan.fix(h)
		r.arm(time.Now())
	}
	return h.lostError(t.whyEnded())
}

// whyEnded returns the reason for the end of h's lease.
func (r *renewer) whyEnded(h *holding) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return h.term.whyEnded()
}

// publish lets ended compare h with the clock without the mutex.
func (r *renewer) publish(h *holding) { r.clock.set(&h.trustedUntil, h.term.trustedUntil) }

// ended reports whether h's lease has ended by the clock.
func (r *renewer) ended(h *holding) bool { return r.clock.passed(&h.trustedUntil, time.Now()) }

// reschedule publishes and plans h anew after its term has changed. It expects the mutex to be
// locked.
func (r *renewer) reschedule(h *holding) {
	r.publish(h)
	r.plan.fix(h)
	r.arm(h.next())
}

// arm makes the timer fire at the given time unless it fires earlier.
func (r *renewer) arm(at time.Time) {
	if !r.fires.IsZero() && !at.Before(r.fires) {
		return
	}
	now := time.Now()
	if latest := now.Add(longestSleep); at.After(latest) {
		at = latest
	}
	r.fires = at
	if r.timer == nil {
		r.timer = time.AfterFunc(at.Sub(now), r.tick)
		return
	}
	r.timer.Reset(at.Sub(now))
}

// tick sends the renewals that are due, ends the leases that have ended by the clock, and sets the
// timer for what is due next.
func (r *renewer) tick() {
	r.mu.Lock()
	now := time.Now()
	r.fires = time.Time{}
	for _, h := range r.fresh {
		r.plan.add(h)
	}
	r.fresh = nil
	var calls []*call
	ended := r.afterJump(now)
	for a := r.plan.due(now); a != nil; a = r.plan.due(now) {
		calls, ended = r.collect(a, now, calls, ended)
	}
	if len(r.plan.order) > 0 {
		r.arm(r.plan.order[0].next())
	}
	r.mu.Unlock()

	for _, c := range calls {
		go c.run(r)
	}
	var losses []loss
	for _, h := range ended {
		losses = append(losses, h.endByClock()...)
	}
	for _, l := range losses {
		l.report()
	}
}

// collect takes off an agenda what is due and what has ended. A renewal takes along those that will
// be due soon. A hold that is only looked at gets a call of its own. So does an apart grant: others
// of its owner's may be due as well, and an answer names owners.
func (r *renewer) collect(a *agenda, now time.Time, calls []*call, ended []*holding) ([]*call, []*holding) {
	r.calls++
	batch := &call{tree: a.tree, number: r.calls}
	for len(a.holdings) > 0 {
		h := a.holdings[0]
		t := &h.term
		if r.clock.passed(&h.trustedUntil, now) {
			r.drop(h)
			ended = append(ended, h)
			continue
		}
		soon := len(batch.holdings) > 0 && !h.unrenewed && !t.renew.After(now.Add(t.lease/6))
		if t.call == r.calls || t.renew.After(now) && !soon {
			break
		}
		c := batch
		if h.unrenewed || h.base != nil {
			c = &call{tree: a.tree, number: r.calls, look: h.unrenewed}
			calls = append(calls, c)
		}
		patience := t.patience(now)
		t.call, t.renew = r.calls, now.Add(patience)
		r.plan.fix(h)
		c.holdings = append(c.holdings, h)
		c.leases = append(c.leases, Lease{Owner: h.scope.owner, Grant: h.apart, For: t.lease})
		c.patience = max(c.patience, patience)
	}
	if len(batch.holdings) > 0 {
		calls = append(calls, batch)
	}
	return calls, ended
}

// afterJump takes off the plan what has ended by the wall clock, if that clock has jumped against
// the monotonic one since the latest comparison. It returns what it took.
func (r *renewer) afterJump(now time.Time) (ended []*holding) {
	const noticeable = 50 * time.Millisecond
	offset := r.clock.offset(now)
	if (offset - r.offset).Abs() < noticeable {
		return nil
	}
	r.offset = offset
	for _, a := range r.plan.order {
		for _, h := range a.holdings {
			if r.clock.passed(&h.trustedUntil, now) {
				ended = append(ended, h)
			}
		}
	}
	for _, h := range ended {
		r.drop(h)
	}
	return ended
}
