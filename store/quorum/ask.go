package quorum

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
)

// ask is one question of a request to one member. The request's mutex guards it.
type ask struct {
	request *request
	member  *member
	// held says whether the member is asked as one where the owner holds something.
	held   bool
	sent   time.Time
	cancel context.CancelCauseFunc
	done   chan struct{} // closed with the answer
	// before is the end of an earlier question of the same request that was left behind, and after
	// that of this one: then nothing is left of it at the member.
	before <-chan struct{}
	after  chan struct{}

	queued bool // the request has taken its place in the member's queue
	over   bool // the member has answered
	stray  bool // nobody waits for the answer
	grant  pathlock.Grant
	err    error
	came   time.Time
}

// ask has a member grant the request within a time. Where an earlier question of the same request
// has been left behind, it is waited for first.
func (r *request) ask(m *member, wait time.Duration) *ask {
	ctx, cancel := context.WithCancelCause(r.ctx)
	a := &ask{
		request: r, member: m, sent: time.Now(), cancel: cancel, done: make(chan struct{}),
		before: m.stray(r.key), after: make(chan struct{}),
		held: r.Held && !r.without[m.index],
	}
	acquisition := r.Acquisition
	acquisition.Held, acquisition.Apart = a.held, r.Apart && a.held
	acquisition.Wait, acquisition.Lease = wait, r.store.config.drifted(r.Lease)
	acquisition.Waiting = func() { r.note(func() { a.queued = true }) }
	if wait > 0 {
		m.queue(1)
	}
	r.store.running.Go(func() {
		defer cancel(nil)
		a.answer(ctx, acquisition)
		if wait > 0 {
			m.queue(-1)
		}
	})
	return a
}

// answer waits for the member's answer. If nobody wants it, the grant is given back.
func (a *ask) answer(ctx context.Context, acquisition pathlock.Acquisition) {
	m := a.member
	began := time.Now()
	grant, err := pathlock.Grant{}, a.awaitBefore(ctx)
	if err == nil {
		grant, err = guarded(func() (pathlock.Grant, error) { return m.store.Acquire(ctx, acquisition) })
	}
	if grant.Asked.IsZero() {
		grant.Asked = began
	}
	a.judge(ctx, time.Since(began), err)
	stray := false
	a.request.note(func() {
		a.grant, a.err, a.came, a.over = grant, err, time.Now(), true
		stray = a.stray
		close(a.done)
	})
	if stray {
		if err == nil {
			m.giveBackOrOwe(a.request.debt(), a.request.Lease)
		}
		m.endStray(a.request.key, a.after)
	}
}

// judge notes what the answer says of the member. Where there is none, the member may have granted
// the request all the same: it is told to give that back before the request asks it again.
func (a *ask) judge(ctx context.Context, took time.Duration, err error) {
	m, r := a.member, a.request
	r.mu.Lock()
	queued := a.queued
	r.mu.Unlock()
	switch cause := context.Cause(ctx); {
	case isAnswer(err):
		if !queued {
			m.answered(took, nil)
		}
	case cause == nil || errors.Is(cause, errTimeout):
		m.silence(err)
		m.owe(r.debt(), r.Lease)
	case r.isAlone():
		m.giveBackOrOwe(r.debt(), r.Lease)
	}
}

// leave has the question end by itself, within the time that a member has to answer unless its
// answer is a place in the queue. If it is granted all the same, that is given back. It reports
// whether the member had answered already.
func (a *ask) leave() (answered bool) {
	r := a.request
	r.mu.Lock()
	if a.over || a.stray {
		answered = a.over
		r.mu.Unlock()
		return answered
	}
	a.stray = true
	a.member.addStray(r.key, a.after)
	queued := a.queued
	r.mu.Unlock()
	left := r.store.config.timeout - time.Since(a.sent)
	if queued || left <= 0 {
		a.cancel(nil)
		return false
	}
	timer := time.AfterFunc(left, func() {
		a.member.silence(errTimeout)
		a.cancel(errTimeout)
	})
	r.store.running.Go(func() {
		defer timer.Stop()
		select {
		case <-a.done:
		case <-r.store.life.Done():
			a.cancel(nil)
		}
	})
	return false
}

// outcome returns whether the member has answered, and its error.
func (a *ask) outcome() (over bool, err error) {
	a.request.mu.Lock()
	defer a.request.mu.Unlock()
	return a.over, a.err
}

// place returns what a granted question has brought.
func (a *ask) place() place {
	return place{a.member, a.grant.Fence, a.grant.Asked, a.came}
}

// awaitBefore waits until nothing is left of an earlier question.
func (a *ask) awaitBefore(ctx context.Context) error {
	if a.before == nil {
		return nil
	}
	select {
	case <-a.before:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("an earlier question is under way: %w", ctx.Err())
	}
}

// letEnd waits until nothing is left of the question, for as long as the member may take to answer.
func (a *ask) letEnd() {
	s := a.request.store
	patience := time.NewTimer(s.config.timeout)
	defer patience.Stop()
	select {
	case <-a.after:
	case <-a.member.lost():
	case <-patience.C:
	case <-s.life.Done():
	}
}

// addStray notes that a question of a request has been left behind. It ends after those before it.
func (m *member) addStray(k key, after chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.strays[k] = after
}

// endStray notes that nothing is left of a question.
func (m *member) endStray(k key, after chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(after)
	if m.strays[k] == after {
		delete(m.strays, k)
	}
}

// stray returns what is closed when nothing is left of the questions that were left behind, nil if
// there are none.
func (m *member) stray(k key) <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if after := m.strays[k]; after != nil {
		return after
	}
	return nil
}
