package memstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/internal/locktable"
)

// table is the lock table of one tree, with what it takes to share it and to wait. Its methods
// expect mu to be unlocked, unless they say otherwise.
type table struct {
	*locktable.Table
	users int // calls that use the table, guarded by store.mu

	mu    sync.Mutex
	alarm alarm
	now   time.Time // when the table was entered
}

// enter locks the table, clears it of leases that have ended, and returns the time. Every use of a
// table begins with enter.
func (t *table) enter() time.Time {
	t.mu.Lock()
	t.now = time.Now()
	t.Enter(t.now)
	return t.now
}

// leave sets the alarm for the waiters and unlocks the table.
func (t *table) leave() {
	t.alarm.set(t.Due(), t.now)
	t.mu.Unlock()
}

// acquire grants req, refuses it, or queues it and returns the attempt to await.
func (t *table) acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, *attempt, error) {
	now := t.enter()
	defer t.leave()
	r, err := t.Acquire(req)
	if err != nil {
		return pathlock.Grant{}, nil, err
	}
	if fence := r.Fence(); fence != 0 {
		// The process of the request is that of the store, and alive.
		return pathlock.Grant{Fence: fence, Asked: now}, nil, nil
	}
	return pathlock.Grant{}, t.newAttempt(ctx, r, now, req.Wait), nil
}

// alarm ticks at the earliest lease end while somebody waits. All waiters listen to its one
// channel. The tick reaches one of them, which clears up for all.
type alarm struct {
	timer *time.Timer
	at    time.Time // zero before the first one
}

// ticks returns the channel to listen to.
func (a *alarm) ticks() <-chan time.Time {
	if a.timer == nil {
		a.timer = time.NewTimer(0)
		a.timer.Stop()
	}
	return a.timer.C
}

// set makes the alarm tick when the table is due, if it ever is. now is when the table was entered:
// a tick until then has been dealt with.
func (a *alarm) set(due, now time.Time) {
	// Neither a renewal nor the departure of the last waiter moves the alarm. Then the tick comes
	// early, finds nothing and sets the next one, or reaches nobody. That costs less than resetting
	// the timer with every renewal.
	if !due.IsZero() && (a.at.IsZero() || due.Before(a.at) || !now.Before(a.at)) {
		a.at = due
		a.timer.Reset(time.Until(a.at))
	}
}

// wait is what the calls that wait for one request share.
type wait struct {
	calls int           // more than one if a call was repeated
	done  chan struct{} // closed when the wait is over
}

// endWait tells those who wait for a request that its wait is over.
func endWait(r *locktable.Request) { close(r.Data.(*wait).done) }

// attempt is one call of Acquire that waits for a request.
type attempt struct {
	request *locktable.Request
	*wait
	ticks   <-chan time.Time // of the table's alarm
	began   time.Time
	longest time.Duration
}

// newAttempt registers another call that waits for r. It expects mu to be locked.
func (t *table) newAttempt(ctx context.Context, r *locktable.Request, now time.Time, longest time.Duration) *attempt {
	until := now.Add(longest)
	if deadline, ok := ctx.Deadline(); ok && deadline.Before(until) {
		until = deadline
	}
	r.WaitUntil(until)
	if r.Data == nil {
		r.Data = &wait{done: make(chan struct{})}
	}
	a := &attempt{request: r, wait: r.Data.(*wait), ticks: t.alarm.ticks(), began: now, longest: longest}
	a.calls++
	return a
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

// await returns when the request is granted, when the attempt's time is up, when ctx ends, or when
// the store is closed. It expects mu to be unlocked.
func (t *table) await(ctx context.Context, a *attempt, closing <-chan struct{}) (pathlock.Grant, error) {
	timer := time.NewTimer(time.Until(a.began.Add(a.longest)))
	defer timer.Stop()
	for {
		select {
		case <-a.done:
			return outcome(a.request)
		case <-timer.C:
			return t.giveUp(ctx, a)
		case <-ctx.Done():
			return t.giveUp(ctx, a)
		case <-closing:
			grant, err := t.giveUp(ctx, a)
			if err != nil {
				err = errClosed
			}
			return grant, err
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
	if !r.Queued() {
		return outcome(r)
	}
	var err error
	if cause := ctx.Err(); cause == nil || errors.Is(cause, context.DeadlineExceeded) {
		err = t.Conflict(r, now.Sub(a.began), cause)
	} else {
		err = fmt.Errorf("pathlock/memstore: waiting for a lock in %s: %w", t.Tree(), cause)
	}
	a.calls--
	if a.calls == 0 {
		t.GiveUp(r)
	}
	return pathlock.Grant{}, err
}

// outcome returns the result of a wait that is over.
func outcome(r *locktable.Request) (pathlock.Grant, error) {
	if err := r.Err(); err != nil {
		return pathlock.Grant{}, err
	}
	return pathlock.Grant{Fence: r.Fence(), Asked: r.Since()}, nil
}
