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

// releaseTimeout bounds how long a release waits for the store. Retries follow in the background.
const releaseTimeout = 5 * time.Second

// Lock is held from [Locker.Acquire] until [Lock.Release], while its lease is renewed in the
// background. It is safe for concurrent use.
type Lock struct {
	holding   *holding
	request   Request
	origin    *Origin // nil where no observer wants it
	reentrant bool
	waited    bool
	attached  bool      // Attach has returned it
	since     time.Time // zero where neither an observer nor the log wants it
	fence     uint64
	ctx       lateContext
	// until is the end of the detached hold, nil before Detach.
	until atomic.Pointer[time.Time]

	// pins are the grants that the lock relies on. Their array is one, since there is hardly ever a
	// second.
	pins []*grant
	one  [1]*grant

	// The scope's mutex guards index, the lock's in its holding, and released, which says that the
	// lock has left the holding.
	index    int
	released bool
}

// Context returns the context to work under while the lock is held. It carries the scope, so that
// an acquisition under it re-enters. It ends with the context given to Acquire, and with the
// release.
//
// It is cancelled with a cause that matches [ErrLost] as soon as the lease is known to be lost:
// somebody else may hold the nodes by then. At the latest it is cancelled when the lease ends by
// the clock, whether the store answers or not. After the host was suspended, its Err is right at
// once, and Done is closed within a second.
func (k *Lock) Context() context.Context { return &k.ctx }

// Fence returns a number that grows strictly with every grant in the tree. A late write of an
// earlier holder has a smaller one. A re-entrant lock has the fence of the grant that it relies on.
func (k *Lock) Fence() uint64 { return k.fence }

// Tree returns the tree that the lock is in.
func (k *Lock) Tree() Tree { return k.request.Tree }

// Note returns [Request.Note], or the hold's note for a lock that [Locker.Attach] has returned.
func (k *Lock) Note() string { return k.request.Note }

// Until returns the end of the lock's lease, as far as it is known here. It moves with every
// renewal. The store's lease ends no earlier, unless a bearer of the lock's token sets an earlier
// end by [Locker.Refresh]. After [Lock.Detach] it is the end of the detached hold.
func (k *Lock) Until() time.Time {
	if until := k.until.Load(); until != nil {
		return *until
	}
	return k.holding.renewer.until(k.holding)
}

// Claims returns everything that the lock relies on: each node, intentions included, in folded
// paths (see [Locker.Folded]). For a lock that [Locker.Attach] has returned, that is the whole
// hold. A re-entrant lock may rely on more than it asked for.
func (k *Lock) Claims() []Claim {
	k.holding.scope.mu.Lock()
	defer k.holding.scope.mu.Unlock()
	var all []Claim
	for _, g := range k.pins {
		all = append(all, g.claims...)
	}
	return Normalize(all...)
}

// Waited reports whether the acquisition had to wait. If so, earlier holders may have changed what
// the request was planned on. It is false for a re-entrant lock.
func (k *Lock) Waited() bool { return k.waited }

// Release gives the lock back. What an enclosing or an inner lock of the same scope needs stays
// held until that one is released.
//
// It does its work even under a context that has ended, within five seconds. The error matches
// [ErrNotHeld] if the lock has been released before, [ErrLost] if it was lost before, and
// [ErrUnavailable] if the store did not answer. In the last case the locker retries in the
// background, until the lease has ended and the store has nothing left to release. It renews the
// hold only if the scope holds something else in the tree. [Locker.Shutdown] waits for the retries.
//
// Releasing a lock that [Locker.Attach] has returned ends the hold for everybody who has attached
// its token, with everything acquired under their contexts. Where locks acquired under its own
// context are left, the hold ends with the last of them.
func (k *Lock) Release(ctx context.Context) error {
	grants, err := k.end(nil)
	if errors.Is(err, ErrNotHeld) {
		return err
	}
	return k.giveBack(ctx, grants, err)
}

// ReleaseInBackground releases the lock as [Lock.Release] does, but a goroutine of the [Locker]
// tells the store. The caller need not wait for the round trip: an HTTP response is sent without
// it. The context of the lock has ended when ReleaseInBackground returns. Errors go to the log, as
// warnings, and to the observers. Both get the values of ctx, whose end does not matter. A lock
// that has been released before stays released.
//
// An acquisition by the same Locker that does not wait is not refused because of a release that is
// under way: it waits for that release and asks again. One by another process may be refused.
//
// Everything is done on return where there is no round trip to wait for, because the store is a
// [LocalStore] or an enclosing or an inner lock still needs the hold, and after [Locker.Shutdown].
func (k *Lock) ReleaseInBackground(ctx context.Context) { k.Abandon(ctx, nil) }

// Abandon releases the lock as [Lock.ReleaseInBackground] does, and makes reason the cause with
// which the lock's context ends. ctx is as there. It is for code that watches over a lock and ends
// it early, as package middleware does for a request that holds its locks for too long.
//
// What was acquired under the lock's context keeps what it relies on until its own release. So a
// database transaction that the end of the context rolls back keeps it until the rollback is done.
func (k *Lock) Abandon(ctx context.Context, reason error) {
	grants, lost := k.end(reason)
	if !errors.Is(lost, ErrNotHeld) {
		k.giveBackInBackground(ctx, grants, lost)
	}
}

// giveBackInBackground is giveBack, on another goroutine if it has to wait for the store.
func (k *Lock) giveBackInBackground(ctx context.Context, grants []GrantID, lost error) {
	l := k.holding.scope.locker
	giveBack := func() {
		if err := k.giveBack(ctx, grants, lost); err != nil && !errors.Is(err, ErrLost) {
			report(ctx, l.log, slog.LevelWarn, "pathlock: release failed", "tree", k.holding.tree, "owner", k.holding.scope.owner, "error", err)
		}
	}
	if l.local || len(grants) == 0 {
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

// errReleased is the error of a lock that has ended, by itself or with its hold.
func errReleased(tree Tree) error {
	return fmt.Errorf("%w: this lock in %s has been released, or its hold has", ErrNotHeld, tree)
}

// end takes the lock out of its scope, and ends its context with reason as the cause, if it is not
// nil. It returns the grants to give back to the store, or everything. The error matches ErrLost if
// the lock was lost, and ErrNotHeld if it has ended before.
func (k *Lock) end(reason error) (grants []GrantID, err error) {
	h := k.holding
	h.checkClock()
	h.scope.mu.Lock()
	if k.released || h.detaching {
		h.scope.mu.Unlock()
		return nil, errReleased(h.tree)
	}
	k.released = true
	grants = h.removeLock(k)
	if k.attached {
		h.spent, grants = true, nil
	}
	if whole := h.whole(); whole.spent && len(whole.locks) == 0 && len(whole.parts) == 0 {
		grants = []GrantID{everything}
	}
	err = h.lost
	h.scope.mu.Unlock()
	k.ctx.cancel(reason)
	return grants, err
}

// giveBack gives grants back to the store and reports the end of the lock. lost is not nil if the
// lock was lost. It returns lost, or what the release shows.
func (k *Lock) giveBack(ctx context.Context, grants []GrantID, lost error) error {
	err := lost
	if len(grants) > 0 {
		err = k.observeRelease(ctx, grants, lost)
	}
	if lost == nil && errors.Is(err, ErrLost) {
		// Nobody else reports the loss: the lock has left the holding.
		loss{k.holding, []*Lock{k}, errNotThere, err}.report()
	}
	k.reportReleased(ctx, err)
	return err
}

// observeRelease is releaseGrants as a step that observers see. It releases the grants even if one
// of them ends the goroutine.
func (k *Lock) observeRelease(ctx context.Context, grants []GrantID, lost error) (err error) {
	begun := false
	defer func() {
		if !begun {
			err = k.releaseGrants(ctx, grants, lost)
		}
	}()
	work, done := k.holding.scope.locker.Step(ctx, Step{Kind: StepRelease})
	begun = true
	err = k.releaseGrants(work, grants, lost)
	done(err)
	return err
}

// reportReleased reports the end of the lock.
func (k *Lock) reportReleased(ctx context.Context, err error) {
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

// releaseGrants has the store release grants. It returns lost, or what the release shows.
func (k *Lock) releaseGrants(ctx context.Context, grants []GrantID, lost error) error {
	h := k.holding
	l := h.scope.locker
	ctx = context.WithoutCancel(ctx)
	if !l.local {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, releaseTimeout)
		defer stop()
	}
	err := lost
	for _, id := range grants {
		what := debt{tree: h.tree, owner: h.scope.owner, id: id}
		failed := l.release(ctx, what)
		gone := errors.Is(failed, ErrNotHeld)
		if failed != nil && !gone {
			l.releases.retry(l, what, h.scope, k.request.Lease, failed)
		}
		switch {
		case err != nil:
			// The loss is known and reported. The store was asked in case it still has something.
		case gone:
			err = h.lostError(errNotThere)
		case failed != nil:
			err = failed
		}
	}
	return err
}

// panicked, deferred, turns a store's panic into the error of the call, with the stack.
func panicked(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: the store panicked: %v\n%s", ErrUnavailable, r, debug.Stack())
	}
}

// elapsed returns how long the lock has been held, or 0 if that is not recorded.
func (k *Lock) elapsed() time.Duration {
	if k.since.IsZero() {
		return 0
	}
	return time.Since(k.since)
}

// event describes the lock to observers.
func (k *Lock) event() Event {
	e := Event{
		Tree: k.request.Tree, Owner: k.holding.scope.owner, Gate: k.request.Gate, Claims: k.request.Claims,
		Note: k.request.Note, Reentrant: k.reentrant, Fence: k.fence,
	}
	if k.origin != nil {
		e.Origin = *k.origin
	}
	return e
}
