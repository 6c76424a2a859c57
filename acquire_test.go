package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var quiet = pathlock.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))

func newLocker(opts ...pathlock.Option) (*pathlock.Locker, *testlock.Watched) {
	store := &testlock.Watched{Store: memstore.New()}
	return pathlock.New(store, append([]pathlock.Option{quiet}, opts...)...), store
}

func tree(t testing.TB, id string) pathlock.Tree {
	t.Helper()
	tr, err := pathlock.NewTree("test", id)
	testerr.Must(t, err)
	return tr
}

// request returns a request for claims, or for the gate.
func request(t testing.TB, text string) pathlock.Request {
	t.Helper()
	req := pathlock.Request{Tree: tree(t, "plan"), Wait: pathlock.NoWait, Note: text, Gate: text == "gate"}
	if !req.Gate {
		req.Claims = claims(t, text)
	}
	return req
}

func acquire(ctx context.Context, t testing.TB, l *pathlock.Locker, text string) *pathlock.Lock {
	t.Helper()
	lock, err := l.Acquire(ctx, request(t, text))
	if err != nil {
		t.Fatalf("acquire %s: %v", text, err)
	}
	return lock
}

func release(t testing.TB, lock *pathlock.Lock) {
	t.Helper()
	testerr.MustBe(t, "release", lock.Release(t.Context()), nil)
}

// free fails the test unless somebody else could have the claims now.
func free(t testing.TB, l *pathlock.Locker, text string, want bool) {
	t.Helper()
	lock, err := l.Acquire(context.WithoutCancel(t.Context()), request(t, text))
	if (err == nil) != want {
		t.Fatalf("%s is free for others: %v, want %v (%v)", text, err == nil, want, err)
	}
	if err == nil {
		release(t, lock)
	} else if !errors.Is(err, pathlock.ErrConflict) {
		t.Fatalf("%s: %v, want ErrConflict", text, err)
	}
}

const (
	storeTimeout = 3 * time.Second // of a [distant] store
	releaseTime  = 2500 * time.Millisecond
)

// distant is a store that answers late, and whose time-out ends its calls.
type distant struct {
	*testlock.Watched
	acquires, releases time.Duration // how long its answers take
	// lost is how many acquisitions find that what their owner held is lost.
	lost int
	// refused, if it is set, runs before a refusal arrives.
	refused func()
}

func (s *distant) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if left := storeTimeout - req.Spent; s.acquires > left {
		time.Sleep(left)
		return pathlock.Grant{}, pathlock.ErrUnavailable
	}
	time.Sleep(s.acquires)
	if req.Held && s.lost > 0 {
		s.lost--
		time.Sleep(req.Wait) // it has waited until then
		return pathlock.Grant{}, pathlock.ErrLost
	}
	g, err := s.Watched.Acquire(ctx, req)
	if err != nil && s.refused != nil {
		s.refused()
	}
	g.Asked = time.Time{} // it cannot tell
	return g, err
}

func (s *distant) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	time.Sleep(s.releases)
	return s.Watched.Release(ctx, tree, owner, id)
}

// TestAcquire_EndsInTime: whatever is sent again, a call takes no longer than its wait and the
// store's time-out.
func TestAcquire_EndsInTime(t *testing.T) {
	const short, medium = time.Second, 2 * time.Second
	for name, tt := range map[string]struct {
		acquires, releases time.Duration
		lease, wait        time.Duration
		before             func(t *testing.T, l *pathlock.Locker, s *distant) context.Context
		want               error
		took               time.Duration
	}{
		"a release under way, and time to ask again": {
			acquires: short / 4, before: releasing, took: releaseTime + short/4,
		},
		"a release under way that leaves no time": {
			acquires: medium, before: releasing, want: pathlock.ErrConflict, took: storeTimeout,
		},
		"a release under way, and a caller that gives up once refused": {
			acquires: short / 4, before: leavingOnceRefused, want: pathlock.ErrConflict, took: short/4 + releaseTime,
		},
		"a grant later than its lease, and a release that takes long": {
			acquires: short, releases: medium, lease: short, want: pathlock.ErrLost, took: short,
		},
		"what is held is released meanwhile, and the wait over": {
			acquires: short, wait: medium, before: holdingUntilAsked, want: pathlock.ErrConflict, took: medium + 2*short,
		},
		"what is held is released meanwhile, and no time left": {
			acquires: medium, wait: short, before: holdingUntilAsked, want: pathlock.ErrUnavailable, took: short + storeTimeout,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &distant{Watched: &testlock.Watched{Store: memstore.New()}}
				lease := time.Minute
				if tt.lease > 0 {
					lease = tt.lease
				}
				l := pathlock.New(s, quiet, pathlock.WithLease(lease))
				ctx := t.Context()
				if tt.before != nil {
					ctx = tt.before(t, l, s)
					synctest.Wait()
				}
				s.acquires, s.releases = tt.acquires, max(s.releases, tt.releases)
				began := time.Now()
				req := request(t, "X /a")
				req.Wait = tt.wait
				if tt.wait == 0 {
					req.Wait = pathlock.NoWait
				}
				_, err := l.Acquire(ctx, req)
				testerr.Is(t, "the acquisition", err, tt.want)
				if took := time.Since(began); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				testerr.Must(t, l.Shutdown(t.Context()))
			})
		})
	}
}

// releasing begins a release of what will be asked for.
func releasing(t *testing.T, l *pathlock.Locker, s *distant) context.Context {
	s.releases = releaseTime
	acquire(t.Context(), t, l, "X /a").ReleaseInBackground(t.Context())
	return t.Context()
}

// leavingOnceRefused begins such a release, too. It returns a context that has ended when the store
// refuses a request.
func leavingOnceRefused(t *testing.T, l *pathlock.Locker, s *distant) context.Context {
	ctx, leave := context.WithCancel(releasing(t, l, s))
	s.refused = func() {
		time.Sleep(releaseTime)
		leave()
	}
	return ctx
}

// holdingUntilAsked returns the context of a scope whose only lock is released while it asks for
// more, which somebody else holds.
func holdingUntilAsked(t *testing.T, l *pathlock.Locker, s *distant) context.Context {
	other := pathlock.New(s.Store, quiet, pathlock.WithLease(time.Hour))
	acquire(t.Context(), t, other, "X /a")
	scope := l.Scope(t.Context())
	lock := acquire(scope.Context(t.Context()), t, l, "X /b")
	s.lost = 1
	time.AfterFunc(time.Millisecond, func() { lock.ReleaseInBackground(context.Background()) })
	return scope.Context(t.Context())
}

// slow is a store whose grants take their time to arrive.
type slow struct {
	*testlock.Watched
	takes time.Duration
	// asked is how long before its arrival a grant was asked for, negative if the store cannot
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
