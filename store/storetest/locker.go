package storetest

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/pathlock-go/pathlock"
)

// locker is a locker of a process of its own, as it were.
type locker struct {
	*fixture
	*pathlock.Locker
}

// locker returns a locker on a store. Its locks have leases that end during the test unless they
// are renewed.
func (f *fixture) locker(store pathlock.Store) *locker {
	l := &locker{f, pathlock.New(store, pathlock.WithLease(f.term()), pathlock.WithWait(long), pathlock.WithLogger(slog.New(slog.DiscardHandler)))}
	f.Cleanup(func() {
		ctx, cancel := context.WithTimeout(f.ctx, patience)
		defer cancel()
		if err := l.Shutdown(ctx); err != nil {
			f.Errorf("Shutdown: %v", err)
		}
	})
	return l
}

// locks requires that claims are granted in the test's tree.
func (l *locker) locks(ctx context.Context, claims ...pathlock.Claim) *pathlock.Lock {
	l.Helper()
	k, err := l.Acquire(ctx, pathlock.Request{Tree: l.tree, Claims: claims, Note: "a locker's"})
	if err != nil {
		l.Fatalf("a locker asks for %v: %v", claims, err)
	}
	return k
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

// deafened is a store whose renewals hang until their context ends.
type deafened struct{ pathlock.Store }

func (deafened) Renew(ctx context.Context, _ pathlock.Tree, _ []pathlock.Lease) ([]pathlock.Owner, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("%w: %w", pathlock.ErrUnavailable, ctx.Err())
}
