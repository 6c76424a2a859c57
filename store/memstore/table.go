package memstore

import (
	"context"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/internal/locktable"
)

// table is the lock table of one tree, with what it takes to share it and to wait. Its methods
// expect mu to be unlocked, unless they say otherwise.
type table struct {
	*locktable.Table
	users int // calls that use the table, guarded by Store.mu

	mu    sync.Mutex
	alarm alarm
	now   time.Time // when the table was entered
}

func newTable(f *fences) *table {
	return &table{Table: locktable.New(pathlock.Tree{}, f.next, endWait)}
}

// enter locks the table, and clears it of leases that have ended. It comes before anything else
// that is done to a table. It returns the time.
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
	switch {
	case err != nil:
		return pathlock.Grant{}, nil, err
	case r.Fence() == 0:
		return pathlock.Grant{}, t.newAttempt(ctx, r, now, req.Wait), nil
	default:
		// The process of the request is that of the store, and alive.
		return pathlock.Grant{Fence: r.Fence(), Asked: now}, nil, nil
	}
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
	// Neither a renewal nor the last waiter's leaving moves the alarm. The tick comes early then,
	// finds nothing, and sets the next one, or reaches nobody. That costs less than resetting the
	// timer with every renewal.
	if !due.IsZero() && (a.at.IsZero() || due.Before(a.at) || !now.Before(a.at)) {
		a.at = due
		a.timer.Reset(time.Until(a.at))
	}
}
