package storetest

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/pathlock-go/pathlock"
)

// locker is a locker of a process of its own, as it were.
type locker struct {
	*fixture
	*pathlock.Locker
	waiting chan struct{} // one for each request that begins to wait
}

// locker returns a locker on a store. Its locks have leases that end during the test unless they
// are renewed.
func (f *fixture) locker(store pathlock.Store) *locker {
	l := &locker{fixture: f, waiting: make(chan struct{}, 1000)}
	l.Locker = pathlock.New(store, pathlock.WithLease(f.term()), pathlock.WithWait(long),
		pathlock.WithObserver(onWaiting{waiting: l.waiting}), pathlock.WithLogger(slog.New(slog.DiscardHandler)))
	f.Cleanup(func() {
		ctx, cancel := context.WithTimeout(f.ctx, patience)
		defer cancel()
		if err := l.Shutdown(ctx); err != nil {
			f.Errorf("Shutdown: %v", err)
		}
	})
	return l
}

// onWaiting tells that a request of a locker begins to wait.
type onWaiting struct {
	pathlock.NopObserver
	waiting chan<- struct{}
}

func (o onWaiting) Waiting(context.Context, pathlock.Event) { o.waiting <- struct{}{} }

// locks requires that claims are granted in the test's tree.
func (l *locker) locks(ctx context.Context, claims ...pathlock.Claim) *pathlock.Lock {
	l.Helper()
	return l.locksIn(ctx, l.tree, claims...)
}

func (l *locker) locksIn(ctx context.Context, tree pathlock.Tree, claims ...pathlock.Claim) *pathlock.Lock {
	l.Helper()
	k, err := l.Acquire(ctx, pathlock.Request{Tree: tree, Claims: claims, Note: "a locker's"})
	if err != nil {
		l.Fatalf("a locker asks for %v: %v", claims, err)
	}
	return k
}

// waitsFor requires that claims have to be waited for, and returns what returns the lock in the
// end.
func (l *locker) waitsFor(claims ...pathlock.Claim) func() *pathlock.Lock {
	l.Helper()
	type answer struct {
		lock *pathlock.Lock
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		k, err := l.Acquire(l.ctx, pathlock.Request{Tree: l.tree, Claims: claims, Note: "a locker's"})
		answers <- answer{k, err}
	}()
	select {
	case <-l.waiting:
	case <-time.After(patience):
		l.Fatalf("a locker asks for %v: it is not queued", claims)
	}
	return func() *pathlock.Lock {
		l.Helper()
		select {
		case a := <-answers:
			if a.err != nil {
				l.Fatalf("a locker waited for %v: %v", claims, a.err)
			}
			return a.lock
		case <-time.After(patience):
			l.Fatalf("a locker still waits for %v", claims)
			return nil
		}
	}
}

// attaches requires that a token can be attached. It may be called by any goroutine.
func (l *locker) attaches(token pathlock.Token, opts ...pathlock.AttachOption) *pathlock.Lock {
	l.Helper()
	k, err := l.Attach(l.ctx, token, opts...)
	if err != nil {
		l.Errorf("Attach: %v", err)
		return nil
	}
	l.Cleanup(func() { _ = k.Release(l.ctx) })
	return k
}

// releases requires that a lock can be released.
func (l *locker) releases(k *pathlock.Lock) {
	l.Helper()
	if err := k.Release(l.ctx); err != nil {
		l.Errorf("a locker releases: %v", err)
	}
}

// requireAlive checks that a lock has not been lost.
func (l *locker) requireAlive(k *pathlock.Lock) {
	l.Helper()
	if err := context.Cause(k.Context()); err != nil {
		l.Errorf("a lock was lost: %v", err)
	}
}

// faulty is a store that fails where it is told to.
type faulty struct {
	pathlock.Store
	releases atomic.Int32 // so many releases to come fail
	hangs    atomic.Bool  // renewals hang until their context ends
}

func (s *faulty) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	if s.releases.Add(-1) >= 0 {
		return fmt.Errorf("%w: so the test says", pathlock.ErrUnavailable)
	}
	return s.Store.Release(ctx, tree, owner, id)
}

func (s *faulty) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	if s.hangs.Load() {
		<-ctx.Done()
		return nil, fmt.Errorf("%w: %w", pathlock.ErrUnavailable, ctx.Err())
	}
	return s.Store.Renew(ctx, tree, leases)
}
