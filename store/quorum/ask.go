package quorum

import (
	"context"
	"errors"
	"time"

	"github.com/pathlock-go/pathlock"
)

// ask is one question of a request to one member. The request's mutex guards what the answer sets.
type ask struct {
	request *request
	member  *member
	sent    time.Time
	cancel  context.CancelCauseFunc
	// ended is closed when nothing is left of the question that its request does not count on.
	ended chan struct{}

	queued bool // the request has taken its place in the member's queue
	over   bool // the member has answered
	left   bool // the request does not count on the answer
	grant  pathlock.Grant
	err    error
	came   time.Time
}

// add has a member grant the request within a time, and counts on the answer. A member that does
// not queue the request has the time-out to answer, and one that does has the wait more. held says
// whether it has to have something of the owner's.
func (r *request) add(m *member, wait time.Duration, held bool) *ask {
	ctx, cancel := context.WithCancelCause(r.ctx)
	a := &ask{request: r, member: m, sent: time.Now(), cancel: cancel, ended: make(chan struct{})}
	late := time.AfterFunc(r.store.config.timeout, func() {
		if over, _, _ := a.state(); !over {
			m.silence(errTimeout)
			cancel(errTimeout)
		}
	})
	acquisition := r.Acquisition
	acquisition.Held = held
	acquisition.Wait, acquisition.Lease = wait, drifted(r.Lease)
	acquisition.Waiting = func() {
		late.Reset(wait + r.store.config.timeout)
		r.note(func() { a.queued = true })
	}
	r.mu.Lock()
	r.asks = append(r.asks, a)
	r.mu.Unlock()
	if wait > 0 {
		m.queue(1)
	}
	// Where the caller goes, the member has the time-out to say so.
	gone := context.AfterFunc(r.ctx, func() { late.Reset(r.store.config.timeout) })
	r.store.running.Go(func() {
		defer cancel(nil)
		grant, err := m.store.Acquire(ctx, acquisition)
		gone()
		late.Stop()
		a.answered(ctx, grant, err)
		if wait > 0 {
			m.queue(-1)
		}
	})
	return a
}

// answered notes the answer. What nobody counts on is given back, and so is what may have been
// granted without an answer.
func (a *ask) answered(ctx context.Context, grant pathlock.Grant, err error) {
	r, m := a.request, a.member
	if grant.Asked.IsZero() {
		grant.Asked = a.sent
	}
	if cause := context.Cause(ctx); !isAnswer(err) && (cause == nil || errors.Is(cause, errTimeout)) {
		m.silence(err)
	}
	left := false
	r.note(func() {
		a.grant, a.err, a.came, a.over = grant, err, time.Now(), true
		left = a.left
	})
	if err == nil && left || !isAnswer(err) {
		m.giveBackOrLater(r.key)
	}
	if left || err != nil {
		close(a.ended)
	}
}

// leave has the request count on the question no longer. What it brings is given back.
func (a *ask) leave() {
	r := a.request
	r.mu.Lock()
	was, over := a.left, a.over
	a.left = true
	r.mu.Unlock()
	switch {
	case was:
	case !over:
		a.cancel(nil)
	case a.err == nil:
		r.store.running.Go(func() {
			a.member.giveBackOrLater(r.key)
			close(a.ended)
		})
	}
}

// state returns whether the member has answered, and whether the request is in its queue, and the
// member's error.
func (a *ask) state() (over, queued bool, err error) {
	a.request.mu.Lock()
	defer a.request.mu.Unlock()
	return a.over, a.queued, a.err
}
