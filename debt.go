package pathlock

import (
	"context"
	"errors"
	"sync"
	"time"
)

// everything as the id of a grant means all that an owner has.
const everything GrantID = ""

// debt is what is to be given back to the store: a grant, or everything that an owner has.
type debt struct {
	tree  Tree
	owner Owner
	id    GrantID
}

// Pauses between the tries to release what could not be released at once.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = time.Second
)

// retry is a release that failed and is tried again until nothing is left to release, or the store
// is closed. Between the tries there is a timer and no goroutine.
type retry struct {
	debt
	locker *Locker
	scope  *Scope
	lease  time.Duration
	ended  chan struct{} // closed when it is over

	mu    sync.Mutex
	until time.Time // when the lease has ended
	pause time.Duration
	timer *time.Timer
	tried chan struct{} // closed at the end of the next try, or of the one that is under way
}

// release has the store release something. A store that panics has failed.
func (l *Locker) release(ctx context.Context, d debt) (err error) {
	defer panicked(&err)
	if d.id == everything {
		return l.store.ForceRelease(ctx, d.tree, d.owner)
	}
	return l.store.Release(ctx, d.tree, d.owner, d.id)
}

// settle has the store release something that may not be there, now or in the background.
func (l *Locker) settle(ctx context.Context, d debt, scope *Scope, lease time.Duration) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer stop()
	if err := l.release(ctx, d); err != nil && !errors.Is(err, ErrNotHeld) {
		l.releases.retry(l, d, scope, lease, err)
	}
}

// retry tries again to release something that a scope was granted with that lease, unless the first
// try failed because the store is closed.
func (r *releases) retry(l *Locker, d debt, scope *Scope, lease time.Duration, why error) {
	if errors.Is(why, ErrClosed) {
		r.giveUp(why)
		return
	}
	t := &retry{
		debt: d, locker: l, scope: scope, lease: lease, pause: firstRetry, until: time.Now().Add(lease),
		tried: make(chan struct{}),
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(t.pause, t.try)
	t.ended = r.enter(d.tree, t)
}

// hurry begins the next try unless one is under way, and returns what is closed at its end.
func (t *retry) hurry() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer.Stop() {
		t.timer.Reset(0)
	}
	return t.tried
}

// try is one more try.
func (t *retry) try() {
	ctx, stop := context.WithTimeout(context.Background(), releaseTimeout)
	defer stop()
	err := t.locker.release(ctx, t.debt)
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.tried)
	closed := errors.Is(err, ErrClosed)
	if closed {
		t.locker.releases.giveUp(err)
	}
	if err == nil || closed || errors.Is(err, ErrNotHeld) || t.isOver() {
		t.locker.releases.end(t.tree, t.ended)
		return
	}
	t.tried = make(chan struct{})
	t.pause = min(2*t.pause, lastRetry)
	t.timer.Reset(t.pause)
}

// isOver reports whether the lease has ended, so that the store has nothing left to release. It
// lives on for as long as something else is renewed for the same owner.
func (t *retry) isOver() bool {
	if t.scope.owner == t.owner && t.scope.holding(t.tree) != nil {
		t.until = time.Now().Add(t.lease)
	}
	return !time.Now().Before(t.until)
}
