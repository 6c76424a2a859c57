package pathlock_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// slow is a store whose grants take their time to arrive, and which answers renewals as it is told.
type slow struct {
	*testlock.Watched
	takes time.Duration
	// asked is how long before its arrival a grant was asked for; negative is that the store cannot
	// tell.
	asked time.Duration
	renew atomic.Pointer[func([]pathlock.Lease) ([]pathlock.Owner, error)]
}

func (s *slow) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	time.Sleep(s.takes - max(s.asked, 0))
	asked := time.Now()
	g, err := s.Watched.Acquire(ctx, req)
	g.Asked = asked
	if s.asked < 0 {
		g.Asked = time.Time{}
	}
	time.Sleep(max(s.asked, 0))
	return g, err
}

func (s *slow) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	if renew := s.renew.Load(); renew != nil {
		return (*renew)(leases)
	}
	return s.Watched.Renew(ctx, tree, leases)
}

func newSlow() *slow { return &slow{Watched: &testlock.Watched{Store: memstore.New()}} }

func TestLease_countsFromWhenTheGrantWasAskedFor(t *testing.T) {
	const lease = 300 * time.Millisecond
	for _, tt := range []struct {
		what         string
		takes, asked time.Duration
		err          error
		looked       time.Duration // after the grant has arrived
		calls        string        // until just before then, and then
	}{
		{"a wait longer than the lease", time.Minute, 20 * time.Millisecond, nil, 80 * time.Millisecond, "[acquire IX /, X /a] [renew 1 in plan]"},
		{"asked for longer ago than a third of the lease", time.Minute, 200 * time.Millisecond, nil, 0, "[acquire IX /, X /a renew 1 in plan] []"},
		{"asked for a lease ago", time.Minute, lease, pathlock.ErrLost, 0, "[acquire IX /, X /a release] []"},
		{"a store that cannot tell, in time", 290 * time.Millisecond, -1, nil, 0, "[acquire IX /, X /a renew 1 in plan] []"},
		{"a store that cannot tell, too late", lease, -1, pathlock.ErrLost, 0, "[acquire IX /, X /a release] []"},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := newSlow()
			store.takes, store.asked = tt.takes, tt.asked
			lock, err := pathlock.New(store, quiet, pathlock.WithLease(lease)).Acquire(t.Context(), request(t, "X /a"))
			testerr.Is(t, tt.what, err, tt.err)
			time.Sleep(tt.looked - 1)
			synctest.Wait()
			before := store.Calls()
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			if calls := fmt.Sprint(before, store.Calls()); calls != tt.calls {
				t.Errorf("%s: %s, want %s", tt.what, calls, tt.calls)
			}
			if err == nil {
				time.Sleep(time.Minute)
				testerr.Is(t, tt.what, context.Cause(lock.Context()), nil)
				release(t, lock)
			}
		})
	}
}

// The answer to a renewal that was under way while the scope let go of everything and took
// something else must not be taken for the loss of the latter.
func TestLease_renewalThatCrossesAReleaseIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSlow()
		l := pathlock.New(store, quiet)
		ctx := l.Scope(t.Context()).Context(t.Context())
		first, second := acquire(ctx, t, l, "X /a"), acquire(ctx, t, l, "X /keep")
		asked, answer := make(chan struct{}), make(chan struct{})
		store.renew.Store(new(func(leases []pathlock.Lease) ([]pathlock.Owner, error) { //nolint:unparam // It is a store's.
			close(asked)
			<-answer
			return []pathlock.Owner{leases[0].Owner}, nil
		}))
		<-asked
		third := acquire(ctx, t, l, "X /b")
		release(t, first)
		release(t, second)
		close(answer)
		synctest.Wait()
		testerr.Is(t, "the new lock", context.Cause(third.Context()), nil)
		release(t, third)
	})
}

func TestLease_lossBesideAnErrorCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSlow()
		l := pathlock.New(store, quiet, pathlock.WithLease(30*time.Second))
		gone, stays := acquire(t.Context(), t, l, "X /gone"), acquire(t.Context(), t, l, "X /stays")
		store.renew.Store(new(func([]pathlock.Lease) ([]pathlock.Owner, error) {
			return []pathlock.Owner{l.Scope(gone.Context()).Owner()}, pathlock.ErrUnavailable
		}))
		time.Sleep(10*time.Second + time.Millisecond)
		testerr.Is(t, "the lost lock", context.Cause(gone.Context()), pathlock.ErrLost)
		testerr.Is(t, "the other lock", context.Cause(stays.Context()), nil)
		_ = gone.Release(t.Context())
		release(t, stays)
	})
}
