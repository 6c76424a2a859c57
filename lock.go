package pathlock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// releaseTimeout bounds how long a release waits for the store. What could not be given back by
// then ends with its lease.
const releaseTimeout = 5 * time.Second

// Lock is held from [Locker.Acquire] until [Lock.Release], while its lease is renewed in the
// background. It is safe for concurrent use.
type Lock struct {
	holding   *holding
	request   Request
	reentrant bool
	waited    bool
	attached  bool      // Attach has returned it
	since     time.Time // zero where nobody wants to know
	fence     uint64
	ctx       lateContext
	// until is the end of the hold that the lock has left behind by Detach.
	until atomic.Pointer[time.Time]

	// pins are the grants that the lock relies on, and one is where they are, since there is hardly
	// ever a second.
	pins []*grant
	one  [1]*grant

	// index is the lock's in its holding, and released says that it is there no more; both are
	// guarded by the scope's mutex.
	index    int
	released bool
}

// Context returns the context to work under while the lock is held. It carries the scope, so that
// an acquisition under it re-enters. It ends with the context that was given to Acquire and with
// the release, and it is cancelled with a cause that matches [ErrLost] as soon as the lease is
// known to be lost: by then somebody else may hold the nodes. That is at the latest when the lease
// ends by the clock, whether the store answers or not. After the host was suspended, whoever asks
// the context is told at once, and Done is closed within a second.
func (k *Lock) Context() context.Context { return &k.ctx }

// Fence returns a number that grows strictly with every grant in the tree, so that what is written
// under the lock can be told from what an earlier holder writes late. A re-entrant lock has the
// fence of the grant that it relies on.
func (k *Lock) Fence() uint64 { return k.fence }

// Tree returns the tree that the lock is in.
func (k *Lock) Tree() Tree { return k.request.Tree }

// Note returns what the lock is for: [Request.Note], and of a lock that [Locker.Attach] has
// returned that of the hold.
func (k *Lock) Note() string { return k.request.Note }

// Claims returns everything that the lock relies on: each node, intentions included, in folded paths
// (see [Locker.Folded]). For a lock that [Locker.Attach] has returned, that is the whole hold. A
// re-entrant lock may rely on more than it asked for.
func (k *Lock) Claims() []Claim {
	k.holding.scope.mu.Lock()
	defer k.holding.scope.mu.Unlock()
	var all []Claim
	for _, g := range k.pins {
		all = append(all, g.claims...)
	}
	return Normalize(all...)
}

// Waited reports whether the lock had to be waited for, in which case those that it was waited for
// may have changed what the request was planned on. It is false for a re-entrant lock.
func (k *Lock) Waited() bool { return k.waited }

// Release gives the lock back. What an enclosing or an inner lock of the same scope needs stays
// held until that one is released.
//
// It does its work even under a context that has ended, within five seconds. It returns an error
// that matches [ErrNotHeld] when called again, [ErrLost] if the lock was lost before, and
// [ErrUnavailable] if the store did not answer. Then the locker goes on trying in the background,
// until the lease has ended and the store has nothing left to release; [Locker.Shutdown] waits for
// that. The hold is renewed no more, unless the scope holds something else in the tree.
//
// The release of a lock that [Locker.Attach] has returned ends the hold for everybody who has
// attached its token, with all that was acquired under their contexts.
func (k *Lock) Release(ctx context.Context) error {
	returned, err := k.letGo(nil)
	if errors.Is(err, ErrNotHeld) {
		return err
	}
	return k.giveBack(ctx, returned, err)
}

// ReleaseInBackground lets the lock go as [Lock.Release] does, but leaves it to a goroutine of the
// [Locker] to tell the store, so that the caller need not wait for it: an HTTP response is sent
// without the round trip. The context of the lock has ended when it returns. Errors go to the log,
// as warnings, and to the observers, and nothing happens when the lock has been released before.
//
// An acquisition by the same Locker that does not wait is not refused because of a release that is
// under way: it waits for it and asks again. One by another process may be.
//
// All is done before it returns where there is no round trip to wait for, because the store is a
// [LocalStore] or an enclosing or an inner lock still needs the hold, and after [Locker.Shutdown].
func (k *Lock) ReleaseInBackground(ctx context.Context) { k.releaseBehind(ctx, nil) }

// Abandon lets the lock go as [Lock.ReleaseInBackground] does, for a reason: the lock's context
// ends with it as its cause. It is for those who watch over a lock, to tell who works under it why
// that has to end, as package middleware does with a request that holds its locks for too long.
//
// What was acquired under the lock's context keeps what it relies on until it is released itself: a
// database transaction that the end of the context rolls back, until that is done.
func (k *Lock) Abandon(ctx context.Context, reason error) { k.releaseBehind(ctx, reason) }

// releaseBehind is ReleaseInBackground, and ends the lock's context for a reason.
func (k *Lock) releaseBehind(ctx context.Context, reason error) {
	r, lost := k.letGo(reason)
	if errors.Is(lost, ErrNotHeld) {
		return
	}
	k.giveBackBehind(ctx, r, lost)
}

// giveBackBehind is giveBack in the background, where it has to wait for the store.
func (k *Lock) giveBackBehind(ctx context.Context, r returned, lost error) {
	l := k.holding.scope.locker
	giveBack := func() {
		if err := k.giveBack(ctx, r, lost); err != nil && lost == nil {
			report(ctx, l.log, slog.LevelWarn, "pathlock: release failed", "tree", k.holding.tree, "owner", k.holding.scope.owner, "error", err)
		}
	}
	if l.local || r.isNothing() {
		giveBack()
		return
	}
	ended := l.releases.begin(k.holding.tree)
	if ended == nil {
		giveBack()
		return
	}
	go func() {
		defer l.releases.end(k.holding.tree, ended)
		giveBack()
	}()
}

// abandon gives a lock back that its Acquire could not return.
func (k *Lock) abandon(ctx context.Context) { _ = k.Release(ctx) }

// returned is what the end of a lock leaves to be given back to the store.
type returned struct {
	grants []*grant
	// whole says that everything is that the owner holds.
	whole bool
}

func (r returned) isNothing() bool { return len(r.grants) == 0 && !r.whole }

// letGo takes the lock out of its scope and ends its context for a reason, nil if it is none but
// that. It returns what to give back to the store, and an error that matches ErrLost, or ErrNotHeld
// where there is nothing to let go.
func (k *Lock) letGo(reason error) (r returned, err error) {
	h := k.holding
	h.checkClock()
	h.scope.mu.Lock()
	if k.released || h.detaching {
		h.scope.mu.Unlock()
		return returned{}, fmt.Errorf("%w: this lock in %s has been released", ErrNotHeld, h.tree)
	}
	k.released = true
	r.grants = h.detach(k)
	if k.attached {
		h.spent, r.grants = true, nil
	}
	if whole := h.whole(); whole.spent && len(whole.locks) == 0 && len(whole.parts) == 0 {
		r = returned{whole: true}
	}
	err = h.lost
	h.scope.mu.Unlock()
	k.ctx.cancel(reason)
	return r, err
}

// giveBack gives back to the store what the lock has left, and reports the end of the lock, which
// was lost if err is not nil.
func (k *Lock) giveBack(ctx context.Context, r returned, err error) error {
	if !r.isNothing() {
		err = k.tellStore(ctx, r, err)
	}
	k.tellReleased(ctx, err)
	return err
}

// tellReleased reports the end of the lock.
func (k *Lock) tellReleased(ctx context.Context, err error) {
	h := k.holding
	l := h.scope.locker
	if !l.observers.none() {
		event := k.event()
		event.Elapsed, event.Err = k.elapsed(), err
		l.observers.released(context.WithoutCancel(ctx), event)
	}
	if l.debugs(ctx) {
		report(ctx, l.log, slog.LevelDebug, "pathlock: released", "tree", h.tree, "owner", h.scope.owner, "held", k.elapsed(), "error", err)
	}
}

// tellStore gives back to the store what the lock has left. It returns lost, the loss that is known
// already, or what the release shows.
func (k *Lock) tellStore(ctx context.Context, r returned, lost error) error {
	h := k.holding
	l := h.scope.locker
	ctx = context.WithoutCancel(ctx)
	if !l.local {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, releaseTimeout)
		defer stop()
	}
	ids := make([]GrantID, 0, 4)
	for _, g := range r.grants {
		ids = append(ids, g.id)
	}
	if r.whole {
		ids = append(ids, everything)
	}
	err := lost
	for _, id := range ids {
		what := debt{tree: h.tree, owner: h.scope.owner, id: id}
		failed := l.release(ctx, what)
		gone := errors.Is(failed, ErrNotHeld)
		if failed != nil && !gone {
			l.releases.retry(l, what, h.scope, k.request.Lease, failed)
		}
		switch {
		case err != nil:
			// The loss is known and has been reported; the store was only asked in case that it
			// still has something.
		case gone:
			err = h.loss(errNotThere)
		case failed != nil:
			err = failed
		}
	}
	return err
}

// panicked, deferred, makes a store's panic the error of the call, with where it came from.
func panicked(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: the store panicked: %v\n%s", ErrUnavailable, r, debug.Stack())
	}
}

// elapsed returns for how long the lock has been held, or 0 if nobody wanted to know when it was
// granted.
func (k *Lock) elapsed() time.Duration {
	if k.since.IsZero() {
		return 0
	}
	return time.Since(k.since)
}

// event describes the lock to observers.
func (k *Lock) event() Event {
	return Event{
		Tree: k.request.Tree, Owner: k.holding.scope.owner, Gate: k.request.Gate, Claims: k.request.Claims,
		Note: k.request.Note, Reentrant: k.reentrant, Fence: k.fence,
	}
}
