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

// deafened is a store whose renewals hang until their context ends.
type deafened struct{ pathlock.Store }

func (deafened) Renew(ctx context.Context, _ pathlock.Tree, _ []pathlock.Lease) ([]pathlock.Owner, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("%w: %w", pathlock.ErrUnavailable, ctx.Err())
}
