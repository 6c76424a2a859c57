package pathlock

import (
	"context"
	"errors"
	"sync"
	"time"
)

// everything, as the id of a grant, means all that an owner has in the tree.
const everything GrantID = ""

// debt is what a release owes to the store: a grant, or everything that an owner has.
type debt struct {
	tree  Tree
	owner Owner
	id    GrantID
}

// The pause before a retry doubles from the first to the last.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = time.Second
)

// retry tries a failed release again, until nothing is left to release or the store is closed.
// Between the tries there is a timer and no goroutine.
type retry struct {
	debt
	locker *Locker
	scope  *Scope
	lease  time.Duration
	done   chan struct{} // closed after the last try

	mu        sync.Mutex
	leaseEnds time.Time
	pause     time.Duration
	timer     *time.Timer
	tried     chan struct{} // closed at the end of the next try, or of the one under way
}

// release has the store release d. A store that panics has failed.
func (l *Locker) release(ctx context.Context, d debt) (err error) {
	defer panicked(&err)
	if d.id == everything {
		return l.store.ForceRelease(ctx, d.tree, d.owner)
	}
	return l.store.Release(ctx, d.tree, d.owner, d.id)
}

// debtOf is what an acquisition owes to the store if nobody awaits its outcome.
func debtOf(a Acquisition) debt { return debt{tree: a.Tree, owner: a.Owner, id: a.Grant} }

// settle has the store release d, which may not be there, even under a context that has ended.
func (l *Locker) settle(ctx context.Context, d debt, scope *Scope, lease time.Duration) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer stop()
	l.settleWithin(ctx, d, scope, lease)
}

// settleWithin is settle until ctx ends, and in the background from then on.
func (l *Locker) settleWithin(ctx context.Context, d debt, scope *Scope, lease time.Duration) {
	if err := l.release(ctx, d); err != nil && !errors.Is(err, ErrNotHeld) {
		l.releases.retry(l, d, scope, lease, err)
	}
}

// retry begins to retry the release of d, which a scope was granted with that lease. why is the
// error of the first try. If it is ErrClosed, the release has failed for good.
func (r *releases) retry(l *Locker, d debt, scope *Scope, lease time.Duration, why error) {
	if errors.Is(why, ErrClosed) {
		r.giveUp(why)
		return
	}
	t := &retry{
		debt: d, locker: l, scope: scope, lease: lease, pause: firstRetry, leaseEnds: time.Now().Add(lease),
		tried: make(chan struct{}),
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(t.pause, t.try)
	t.done = r.enter(d.tree, t)
}

// hurry begins the next try unless one is under way. It returns a channel that is closed at the end
// of that try.
func (t *retry) hurry() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer.Stop() {
		t.timer.Reset(0)
	}
	return t.tried
}

// try tries the release once more.
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
		t.locker.releases.end(t.tree, t.done)
		return
	}
	t.tried = make(chan struct{})
	t.pause = min(2*t.pause, lastRetry)
	t.timer.Reset(t.pause)
}

// isOver reports whether the lease has ended, so that the store has nothing left to release. The
// lease lives on while something else of the same owner is renewed.
func (t *retry) isOver() bool {
	if t.scope.owner == t.owner && t.scope.holding(t.tree) != nil {
		t.leaseEnds = time.Now().Add(t.lease)
	}
	return !time.Now().Before(t.leaseEnds)
}
