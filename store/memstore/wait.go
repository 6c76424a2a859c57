package memstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
)

// attempt is one call of Acquire that waits for a request.
type attempt struct {
	request *request
	ticks   <-chan time.Time // of the table's alarm
	began   time.Time
	wait    time.Duration
}

// newAttempt registers another call that waits for r. It expects mu to be locked.
func (t *table) newAttempt(ctx context.Context, r *request, now time.Time, wait time.Duration) *attempt {
	until := now.Add(wait)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(until) {
		until = deadline
	}
	if until.After(r.until) {
		r.until = until
	}
	r.calls++
	return &attempt{request: r, ticks: t.alarm.ticks(), began: now, wait: wait}
}

// announce calls a request's Waiting. If that panics, the request leaves the queue: nobody would
// await it, and no lease would end its stay. It expects mu to be unlocked.
func (t *table) announce(ctx context.Context, a *attempt, waiting func()) {
	returned := false
	defer func() {
		if !returned {
			_, _ = t.giveUp(ctx, a) // the panic says what happened
		}
	}()
	waiting()
	returned = true
}

// await returns when the request is granted, when the attempt's time is up, or when ctx ends. It
// expects mu to be unlocked.
func (t *table) await(ctx context.Context, a *attempt) (pathlock.Grant, error) {
	timer := time.NewTimer(time.Until(a.began.Add(a.wait)))
	defer timer.Stop()
	for {
		select {
		case <-a.request.done:
			return a.request.outcome()
		case <-timer.C:
			return t.giveUp(ctx, a)
		case <-ctx.Done():
			return t.giveUp(ctx, a)
		case <-a.ticks:
			t.enter()
			t.leave()
		}
	}
}

// giveUp takes the request out of the queue, unless its wait is over or another call waits for it
// too. It returns why the request was not granted. It expects mu to be unlocked.
func (t *table) giveUp(ctx context.Context, a *attempt) (pathlock.Grant, error) {
	now := t.enter()
	defer t.leave()
	r := a.request
	if !r.queued {
		return r.outcome()
	}
	var err error
	if cause := ctx.Err(); cause == nil || errors.Is(cause, context.DeadlineExceeded) {
		err = t.conflictError(r, now.Sub(a.began), cause)
	} else {
		err = fmt.Errorf("pathlock/memstore: waiting for a lock in %s: %w", t.tree, contextError(ctx))
	}
	r.calls--
	if r.calls == 0 {
		t.handOver(now, t.remove(r))
	}
	return pathlock.Grant{}, err
}

// outcome returns the result of a wait that is over.
func (r *request) outcome() (pathlock.Grant, error) {
	if r.err != nil {
		return pathlock.Grant{}, r.err
	}
	return r.grant(), nil
}

// contextError returns ctx's error with its cause.
func contextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
