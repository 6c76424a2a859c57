package pathlock_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// slow is a store whose grants take their time to arrive.
type slow struct {
	*testlock.Watched
	takes time.Duration
	// asked is how long before its arrival a grant was asked for; negative is that the store cannot
	// tell.
	asked time.Duration
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
			store := &slow{&testlock.Watched{Store: memstore.New()}, tt.takes, tt.asked}
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
