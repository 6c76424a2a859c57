package pathlock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// releaseTimeout bounds how long a release waits for the store. Retries follow in the background.
const releaseTimeout = 5 * time.Second

// Release gives the lock back. Nodes that an enclosing or an inner lock of the same scope needs
// stay held until that lock is released.
//
// It works even under a context that has ended, and takes at most five seconds. The error matches
// [ErrNotHeld] if the lock was already released, and also [ErrHeldTooLong] if [Request.MaxHold]
// released it. It matches [ErrLost] if the lock was lost before, and [ErrUnavailable] if the store
// did not answer. In the last case the locker retries in the background until the lease has ended:
// by then the store has nothing left to release. It renews the hold only if the scope holds
// something else in the tree. [Locker.Shutdown] waits for the retries.
//
// Releasing a lock that [Locker.Attach] returned ends the hold for everybody who has attached its
// token, and ends everything acquired under their contexts. If locks acquired under this lock's
// context remain, the hold ends with the last of them.
func (k *Lock) Release(ctx context.Context) error {
	grants, err := k.end(nil)
	if errors.Is(err, ErrNotHeld) {
		return err
	}
	if l := k.holding.scope.locker; len(grants) > 0 && !l.local {
		if end := l.releases.Begin(k.holding.tree); end != nil { // for Detach
			defer end()
		}
	}
	return k.giveBack(ctx, grants, err)
}

// ReleaseInBackground releases the lock as [Lock.Release] does, but a goroutine of the [Locker]
// tells the store. So an HTTP response need not wait for the round trip. The context of the lock
// has ended when ReleaseInBackground returns. Errors go to the log, as warnings, and to the
// observers. Both get the values of ctx, whose end does not matter. A lock that was already
// released stays released.
//
// An acquisition by the same Locker that does not wait is not refused because of a release that is
// under way: it waits for that release and asks again. One by another process may be refused.
//
// Everything is done on return if there is no round trip to wait for, because the store is local
// ([Store.Local]) or an enclosing or an inner lock still needs the hold, and after
// [Locker.Shutdown]. For a lock on a token's hold, ReleaseInBackground waits for the store: the
// bearer may end the hold at once, and what is released after that would be reported as lost.
func (k *Lock) ReleaseInBackground(ctx context.Context) { k.Abandon(ctx, nil) }

// Abandon is [Lock.ReleaseInBackground] for code that watches over somebody else's lock: the lock's
// context ends with reason as the cause. Locks acquired under that context keep the nodes that they
// rely on until their own release, such as those of a transaction until it is rolled back.
func (k *Lock) Abandon(ctx context.Context, reason error) {
	grants, lost := k.end(reason)
	if !errors.Is(lost, ErrNotHeld) {
		k.giveBackInBackground(ctx, grants, lost)
	}
}

// giveBackInBackground is giveBack, on another goroutine if it has to wait for the store. Its error
// goes to the log.
func (k *Lock) giveBackInBackground(ctx context.Context, grants []GrantID, lost error) {
	h, l := k.holding, k.holding.scope.locker
	work := func() {
		if err := k.giveBack(ctx, grants, lost); err != nil && !errors.Is(err, ErrLost) {
			l.log.WarnContext(ctx, "pathlock: release failed", "tree", h.tree, "owner", h.scope.owner, "error", err)
		}
	}
	if len(grants) > 0 && h.token == "" {
		l.inBackground(h.tree, work)
	} else {
		work()
	}
}

// inBackground runs a first try to release something, on another goroutine if it has to wait for
// the store and Shutdown has not been called.
func (l *Locker) inBackground(tree Tree, release func()) {
	var end func()
	if !l.local {
		end = l.releases.Begin(tree)
	}
	if end == nil {
		release()
		return
	}
	go func() {
		defer end()
		release()
	}()
}

// errReleased is the error of a lock that has ended, by itself or with its hold. It expects the
// scope's mutex to be locked.
func (k *Lock) errReleased() error {
	if k.why != nil {
		return fmt.Errorf("%w: %w", ErrNotHeld, k.why)
	}
	return fmt.Errorf("%w: this lock in %s has been released, or its hold has", ErrNotHeld, k.holding.tree)
}

// end takes the lock out of its scope, and ends its context with reason as the cause, if it is not
// nil. It returns the grants to give back to the store, or everything. The error matches ErrLost if
// the lock was lost, and ErrNotHeld if it has ended before.
func (k *Lock) end(reason error) (grants []GrantID, err error) {
	h := k.holding
	h.checkClock()
	h.scope.mu.Lock()
	if k.released || h.detaching {
		err = k.errReleased()
		h.scope.mu.Unlock()
		return nil, err
	}
	k.released, k.why = true, cmp.Or(h.lost, reason)
	grants = h.removeLock(k)
	if k.attached {
		h.spent, grants = true, nil
	}
	if whole := h.whole(); whole.spent && len(whole.locks) == 0 && len(whole.parts) == 0 {
		grants = []GrantID{everything}
	}
	err = h.lost
	h.scope.mu.Unlock()
	k.endContext(reason)
	return grants, err
}

// endOverdue releases a lock that has been held for too long, and ends it as lost.
func (k *Lock) endOverdue() {
	h, why := k.holding, fmt.Errorf("%w: %w", ErrHeldTooLong, context.DeadlineExceeded)
	err := fmt.Errorf("%w: %s: %w", ErrLost, h.tree, why)
	grants, ended := k.end(err)
	if errors.Is(ended, ErrNotHeld) {
		h.scope.mu.Lock()
		defer h.scope.mu.Unlock()
		if !k.released { // it is being detached, which may fail
			k.limit.timer.Reset(releaseTimeout)
		}
		return
	}
	if ended == nil {
		losses{{h, []*Lock{k}, why, err}}.report()
	}
	k.giveBackInBackground(k.Context(), grants, ended)
}

// giveBack gives grants back to the store and reports the end of the lock. lost is not nil if the
// lock was lost. It returns lost, or the release's error.
func (k *Lock) giveBack(ctx context.Context, grants []GrantID, lost error) error {
	err := lost
	if len(grants) > 0 {
		work, done := k.holding.scope.locker.Step(ctx, Step{Kind: StepRelease})
		err = k.releaseGrants(work, grants, lost)
		done(err)
	}
	if lost == nil && errors.Is(err, ErrLost) && !errors.Is(k.why, ErrLost) {
		// Nobody else reports the loss: the lock has left the holding, and not by endOverdue.
		losses{{k.holding, []*Lock{k}, errNotThere, err}}.report()
	}
	k.reportReleased(ctx, err)
	return err
}

// reportReleased reports the end of the lock.
func (k *Lock) reportReleased(ctx context.Context, err error) {
	if k.observed != nil {
		k.report(context.WithoutCancel(ctx), "Released", Observer.Released, k.elapsed(), err)
	}
}

// releaseGrants asks the store to release grants. It returns lost, or the release's error.
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
		failed := l.releaseOrRetry(ctx, unneeded{h.tree, h.scope.owner, id, h.scope, h.whole().lasts(k.lease)})
		switch {
		case err != nil:
			// The loss is known and reported. The store was asked in case it still has something.
		case errors.Is(failed, ErrNotHeld):
			// The owner's other grants share the lease, and are probably lost, too: the store
			// knows.
			l.renewNow(h.tree, h.scope.owner)
			err = h.lostError(errNotThere)
		case failed != nil:
			err = failed
		}
	}
	return err
}

// everything, as the id of a grant, means all that an owner has in the tree.
const everything GrantID = ""

// unneeded is something for the store to release: a grant, or everything that an owner has. The
// scope asked for it. Unless it is renewed, the store keeps it for no longer than the lease from
// now on.
type unneeded struct {
	tree  Tree
	owner Owner
	id    GrantID
	scope *Scope
	lease time.Duration
}

// unneeded returns what the store may have granted to an acquisition whose outcome nobody awaits.
func (a Acquisition) unneeded(scope *Scope) unneeded {
	return unneeded{a.Tree, a.Owner, a.Grant, scope, a.Lease}
}

// release asks the store to release u.
func (l *Locker) release(ctx context.Context, u unneeded) error {
	if u.id == everything {
		return l.store.ForceRelease(ctx, u.tree, u.owner)
	}
	return l.store.Release(ctx, u.tree, u.owner, u.id)
}

// releaseOrRetry asks the store to release u before ctx ends. If that fails, it retries in the
// background.
func (l *Locker) releaseOrRetry(ctx context.Context, u unneeded) error {
	err := l.release(ctx, u)
	if err != nil {
		l.retryRelease(u, err)
	}
	return err
}

// takeBack asks the store to release u, even if ctx has ended. It does not wait for the answer: the
// call that asked for u may have no time left.
func (l *Locker) takeBack(ctx context.Context, u unneeded) {
	l.inBackground(u.tree, func() {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
		defer stop()
		_ = l.releaseOrRetry(ctx, u)
	})
}

// retryRelease retries the release of u in the background until its lease has ended, unless the
// error of the first try says that there is nothing to release. With ErrClosed, a release has
// failed for good.
func (l *Locker) retryRelease(u unneeded, first error) {
	ends := time.Now().Add(u.lease)
	isOver := func(err error) bool {
		if errors.Is(err, ErrClosed) {
			l.releases.GiveUp(err)
			return true
		}
		return err == nil || errors.Is(err, ErrNotHeld) || !time.Now().Before(ends)
	}
	if isOver(first) {
		return
	}
	l.releases.Retry(u.tree, func() (over bool) {
		ctx, stop := context.WithTimeout(context.Background(), releaseTimeout)
		defer stop()
		err := l.release(ctx, u)
		if h := u.scope.holding(u.tree); h != nil && u.scope.owner == u.owner {
			// The lease lives on while anything else of the owner's is renewed.
			ends = time.Now().Add(h.lasts(u.lease))
		}
		return isOver(err)
	})
}
