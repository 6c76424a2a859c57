package pathlock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// renewer keeps the leases of one process alive, and ends those that have ended by the clock. Each
// is renewed at a third of its length, those of one tree together in one call.
//
// It consists of one timer. When it fires, every renewal that is due gets a goroutine of its own,
// and the timer is set for what is due next: a store that does not answer keeps back nobody else.
// The timer is not stopped by the last release: it would have to be set again with the next grant,
// and costs less if it fires once in vain.
//
// What is held is in two places. A new holding is entered in a list, which costs next to nothing:
// nearly all are released before they are due. The timer moves what is still there to the agendas.
type renewer struct {
	store Store
	log   *slog.Logger
	clock clock

	mu    sync.Mutex
	fresh fresh
	plan  plan
	calls uint64 // how many were sent
	timer *time.Timer
	fires time.Time // when the timer fires; zero while it is not armed
	// offset is the clock's when everything that is held was last compared with it.
	offset time.Duration
}

const (
	// longestSleep is how long the timer sleeps at most while anything is held, so that a host
	// which was suspended soon notices: timers stand still meanwhile, as the monotonic clock does.
	longestSleep = time.Second
	// longestUnseen is after which time a hold that others can release or shorten by its token is
	// looked at again.
	longestUnseen = time.Second
)

// errLeaseEnded is why a lock is lost that could not be renewed in time.
var errLeaseEnded = errors.New("the lease ended before it could be renewed")

// errLeaseGone is why a lock is lost that the store knows nothing of any more.
var errLeaseGone = errors.New("the store has it no more")

// errLate is why a grant is of no use that arrived too late.
var errLate = errors.New("the lease ended before the grant was known of")

// errNotThere is why a lock is lost that the store knew nothing of when it was released.
var errNotThere = errors.New("the store had it no more at the release")

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
	r.publish(h)
	if !known {
		r.fresh.add(h)
		r.arm(t.next())
	}
}

// adopt enters a hold that somebody has attached, and which has that long left from a moment on.
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
	r.publish(h)
	r.fresh.add(h)
	r.arm(t.next())
}

// forget ends the renewal of h.
func (r *renewer) forget(h *holding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(h)
}

// drop is forget for those who have the mutex.
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
	until := h.term.until
	if h.base != nil && h.base.term.until.Before(until) {
		return h.base.term.until
	}
	return until
}

// expire notes that h's lease has ended by the clock, whatever a renewal that is under way brings,
// and returns the loss. The timer tells everybody.
func (r *renewer) expire(h *holding) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &h.term
	if !t.over {
		t.ends = time.Time{}
		r.publish(h)
		r.plan.fix(h)
		r.arm(time.Now())
	}
	return h.loss(t.whyEnded())
}

// whyEnded says why h's lease has come to its end.
func (r *renewer) whyEnded(h *holding) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return h.term.whyEnded()
}

// publish lets h be compared with the clock without the mutex.
func (r *renewer) publish(h *holding) { r.clock.set(&h.ends, h.term.ends) }

// ended reports whether h's lease has ended by the clock.
func (r *renewer) ended(h *holding) bool { return r.clock.passed(&h.ends, time.Now()) }

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

// tick sends the renewals that are due, ends what has ended by the clock, and sets the timer for
// what is due next.
func (r *renewer) tick() {
	r.mu.Lock()
	now := time.Now()
	r.fires = time.Time{}
	for h := r.fresh.first; h != nil; h = r.fresh.first {
		r.fresh.remove(h)
		r.plan.add(h)
	}
	var calls []*call
	ended := r.afterJump(now)
	for a := r.plan.due(now); a != nil; a = r.plan.due(now) {
		calls, ended = r.take(a, now, calls, ended)
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

// take takes off an agenda what is due, and what has ended. Where something is to be renewed, what
// will be soon is taken along. What is only looked at has a call of its own, and so has what is
// apart: others of its owner's may be due as well, and an answer names owners.
func (r *renewer) take(a *agenda, now time.Time, calls []*call, ended []*holding) ([]*call, []*holding) {
	r.calls++
	batch := &call{tree: a.tree, number: r.calls}
	for len(a.holdings) > 0 {
		h := a.holdings[0]
		t := &h.term
		if r.clock.passed(&h.ends, now) {
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

// afterJump returns what the wall clock says has ended, where it has moved against the monotonic
// one since everything was looked at last, and takes it off the plan.
func (r *renewer) afterJump(now time.Time) (ended []*holding) {
	const noticeable = 50 * time.Millisecond
	offset := r.clock.offset(now)
	if (offset - r.offset).Abs() < noticeable {
		return nil
	}
	r.offset = offset
	for _, a := range r.plan.order {
		for _, h := range a.holdings {
			if r.clock.passed(&h.ends, now) {
				ended = append(ended, h)
			}
		}
	}
	for _, h := range ended {
		r.drop(h)
	}
	return ended
}

// answered notes what came of a call, at the end of which h's lease lasts for left from when it was
// sent.
func (r *renewer) answered(c *call, h *holding, left time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &h.term
	if t.over || c.look && t.call != c.number {
		return
	}
	if c.look {
		t.learn(c.sent, left)
	} else {
		t.believe(h.isShared(), c.sent, left)
	}
	t.failed = nil
	if t.call == c.number {
		t.renew = c.sent.Add(t.pause(h.isShared()))
	}
	r.publish(h)
	r.plan.fix(h)
	r.arm(t.next())
}

// failed notes that a call failed, plans another try, and reports whether that is news.
func (r *renewer) failed(c *call, h *holding, err error) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &h.term
	if t.over || t.call != c.number {
		return false
	}
	news = t.failed == nil
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		// The end of the call's own time is nothing that the holder's context knows of.
		err = fmt.Errorf("%w: no answer in time", ErrUnavailable)
	}
	t.failed = err
	t.renew = time.Now().Add(t.lease / 10)
	r.plan.fix(h)
	r.arm(t.next())
	return news
}
