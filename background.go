package pathlock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
)

// releases are those of a locker that are under way in the background: see [Lock.ReleaseInBackground].
type releases struct {
	mu sync.Mutex
	// underWay has one channel per release, by tree, which is closed at its end.
	underWay map[Tree]map[chan struct{}]struct{}
	// closed says that none may begin any more.
	closed bool
}

// begin enters a release in a tree, for the caller to end, or returns nil if none may begin any more.
func (r *releases) begin(tree Tree) (ended chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	if r.underWay == nil {
		r.underWay = make(map[Tree]map[chan struct{}]struct{})
	}
	if r.underWay[tree] == nil {
		r.underWay[tree] = make(map[chan struct{}]struct{})
	}
	ended = make(chan struct{})
	r.underWay[tree][ended] = struct{}{}
	return ended
}

// end undoes begin.
func (r *releases) end(tree Tree, ended chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.underWay[tree], ended)
	if len(r.underWay[tree]) == 0 {
		delete(r.underWay, tree)
	}
	close(ended)
}

// in returns the releases that are under way in a tree.
func (r *releases) in(tree Tree) pending {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.appendTree(nil, tree)
}

// close lets no more begin, and returns all that are under way.
func (r *releases) close() (all pending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for tree := range r.underWay {
		all = r.appendTree(all, tree)
	}
	return all
}

func (r *releases) appendTree(p pending, tree Tree) pending {
	for ended := range r.underWay[tree] {
		p = append(p, ended)
	}
	return p
}

// pending are releases to wait for. Each ends within releaseTimeout.
type pending []<-chan struct{}

// wait waits until all have ended, or ctx has; then it returns how many are left.
func (p pending) wait(ctx context.Context) (left int) {
	for i, ended := range p {
		select {
		case <-ended:
		case <-ctx.Done():
			return len(p) - i
		}
	}
	return 0
}

// ReleaseInBackground lets the lock go as [Lock.Release] does, but leaves it to a goroutine of the
// [Locker] to tell the store, so that the caller need not wait for it: an HTTP response is sent without the
// round trip. The context of the lock has ended when it returns. Errors go to the log, as warnings, and to the
// observers, and nothing happens when the lock has been released before.
//
// An acquisition by the same Locker that does not wait is not refused because of a release that
// is under way: it waits for it and asks again. One by another process may be.
//
// All is done before it returns where there is no round trip to wait for, because the store is a [LocalStore] or an
// enclosing or an inner lock still needs the hold, and after [Locker.Shutdown].
func (k *Lock) ReleaseInBackground(ctx context.Context) { k.releaseBehind(ctx, nil) }

// Abandon lets the lock go as [Lock.ReleaseInBackground] does, for a reason: the lock's context ends
// with it as its cause. It is for those who watch over a lock, to tell who works under it why that
// has to end, as package middleware does with a request that holds its locks for too long.
//
// What was acquired under the lock's context keeps what it relies on until it is released itself: a
// database transaction that the end of the context rolls back, until that is done.
func (k *Lock) Abandon(ctx context.Context, reason error) { k.releaseBehind(ctx, reason) }

// releaseBehind is ReleaseInBackground, and ends the lock's context for a reason.
func (k *Lock) releaseBehind(ctx context.Context, reason error) {
	unneeded, lost := k.letGo(reason)
	if errors.Is(lost, ErrNotHeld) {
		return
	}
	l := k.holding.scope.locker
	giveBack := func() {
		if err := k.giveBack(ctx, unneeded, lost); err != nil && lost == nil {
			report(ctx, l.log, slog.LevelWarn, "pathlock: release failed", "tree", k.holding.tree, "owner", k.holding.scope.owner, "error", err)
		}
	}
	if l.local || len(unneeded) == 0 {
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

// Shutdown waits for the releases that are under way in the background, so that a program that ends leaves no locks
// behind: call it when the last request has been served and before the store is closed. If ctx ends first, the error
// matches the context's, and those locks end with their leases.
//
// From then on [Lock.ReleaseInBackground] does its work before it returns. Everything else goes on as before.
func (l *Locker) Shutdown(ctx context.Context) error {
	if left := l.releases.close().wait(ctx); left > 0 {
		return fmt.Errorf("pathlock: %d releases are still under way: %w", left, context.Cause(ctx))
	}
	return nil
}
