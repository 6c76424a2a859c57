package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// errAway is what a store says that is away.
var errAway = fmt.Errorf("%w: no answer", pathlock.ErrUnavailable)

// leave has a store be away, until hook is called again.
func (w *watched) leave(err error) {
	away := down(err)
	away.acquire = func(context.Context) error { return err }
	w.hook(away)
}

// newDegradable returns a locker that goes on without its store for a minute, and the log of that.
func newDegradable(opts ...pathlock.Option) (*pathlock.Locker, *watched, *strings.Builder) {
	store, log := &watched{Store: memstore.New()}, new(strings.Builder)
	degradable := pathlock.Degrade(store, pathlock.Degradation{Limit: time.Minute, Log: slog.New(slog.NewTextHandler(log, nil))})
	return pathlock.New(degradable, append(opts, quiet)...), store, log
}

// degradations counts the grants that observers see without a store.
type degradations struct {
	pathlock.NopObserver
	n int
}

func (d *degradations) Granted(_ context.Context, e pathlock.Event) {
	if e.Degraded {
		d.n++
	}
}

// asserted is a request whose work is asserted.
func asserted(t testing.TB, text string) pathlock.Request {
	t.Helper()
	req := request(t, text)
	req.Asserted = true
	return req
}

// goOn acquires a lock that no store has granted.
func goOn(ctx context.Context, t testing.TB, l *pathlock.Locker, text string) *pathlock.Lock {
	t.Helper()
	lock, err := l.Acquire(ctx, asserted(t, text))
	if err != nil || !lock.Degraded() || lock.Fence() != 0 {
		t.Fatalf("%s: %+v, %v; want a lock without a store", text, lock, err)
	}
	return lock
}

// What is asserted goes on, several owners at once, and nothing else does.
func TestAssertedRequestsGoOnWithoutTheStore(t *testing.T) {
	l, store, _ := newDegradable()
	known := acquire(t.Context(), t, l, "X /real")
	store.leave(errAway)
	first, second := goOn(t.Context(), t, l, "X /a"), goOn(t.Context(), t, l, "gate")

	for _, tt := range []struct {
		what string
		ctx  context.Context
		req  pathlock.Request
	}{
		{"a request that is not asserted", t.Context(), request(t, "X /a")},
		{"one under what was granted without the store", first.Context(), request(t, "X /a/b")},
		{"one beside it", first.Context(), request(t, "X /b")},
		{"an owner that holds something from the store", known.Context(), asserted(t, "X /b")},
	} {
		if _, err := l.Acquire(tt.ctx, tt.req); !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnavailable", tt.what, err)
		}
	}
	if _, err := l.Mutex("m").TryLock(first.Context()); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("a mutex: %v, want ErrUnavailable", err)
	}
	if _, err := first.Detach(t.Context()); err == nil {
		t.Error("it was detached")
	}

	store.called()
	inner, beside := goOn(first.Context(), t, l, "X /a/b"), goOn(first.Context(), t, l, "X /b")
	for _, lock := range []*pathlock.Lock{inner, beside, first, second} {
		release(t, lock)
	}
	if calls := store.called(); len(calls) > 0 {
		t.Errorf("the store was asked: %v", calls)
	}
}

// One request in each second asks the store, and from its answer on all do. Owners without the
// store stay so, whatever they ask for, and their locks do not end.
func TestTheStoreIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := new(degradations)
		l, store, log := newDegradable(pathlock.WithObserver(seen))
		store.leave(errAway)
		before := time.Now()
		old := goOn(t.Context(), t, l, "X /a")
		for second := range 3 {
			for range 5 {
				release(t, goOn(t.Context(), t, l, "X /a"))
			}
			if calls := store.called(); len(calls) != 1 || !l.Degraded().Equal(before) {
				t.Errorf("in second %d, the store was asked %v, away since %v", second, calls, l.Degraded())
			}
			time.Sleep(time.Second)
		}
		store.hook(hooks{})
		lock, err := l.Acquire(t.Context(), asserted(t, "X /a"))
		if err != nil || lock.Degraded() || lock.Fence() == 0 || !l.Degraded().IsZero() {
			t.Fatalf("the store is back: %+v, %v", lock, err)
		}
		free(t, l, "X /a", false)

		time.Sleep(3 * pathlock.DefaultLease)
		if err := context.Cause(old.Context()); err != nil {
			t.Errorf("the lock without the store has ended: %v", err)
		}
		more := goOn(old.Context(), t, l, "X /b")
		free(t, l, "X /b", true)
		release(t, more)
		release(t, old)
		release(t, lock)
		free(t, l, "X /a", true)
		if lines := strings.Split(log.String(), "\n"); seen.n != 17 || len(lines) != 3 || !strings.Contains(lines[0], "is away") || !strings.Contains(lines[1], "is back") {
			t.Errorf("%d grants without the store, and the log: %q", seen.n, lines)
		}
	})
}

// A program that has gone on for so long is told.
func TestRequestsAreRefusedFromTheLimitOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store, _ := newDegradable()
		for range 2 { // each failure has a limit of its own
			store.leave(errAway)
			for _, wait := range []time.Duration{0, time.Minute - time.Nanosecond} {
				time.Sleep(wait)
				release(t, goOn(t.Context(), t, l, "X /a"))
			}
			time.Sleep(time.Nanosecond)
			for range 2 {
				if _, err := l.Acquire(t.Context(), asserted(t, "X /a")); !errors.Is(err, pathlock.ErrUnavailable) || !l.Degraded().IsZero() {
					t.Errorf("after a minute: %v, degraded since %v", err, l.Degraded())
				}
			}
			store.hook(hooks{})
			release(t, acquire(t.Context(), t, l, "X /a"))
		}
	})
}

// Only a store that cannot serve is away, and only its answers say that it is back.
func TestWhichErrorsSayThatTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store, _ := newDegradable()
		conflict, closed := &pathlock.ConflictError{}, errors.Join(pathlock.ErrClosed, errAway)
		fails := func(want error) {
			t.Helper()
			store.leave(want)
			if _, err := l.Acquire(t.Context(), asserted(t, "X /a")); !errors.Is(err, want) {
				t.Errorf("%v: %v", want, err)
			}
		}
		for _, err := range []error{conflict, &pathlock.DeadlockError{}, pathlock.ErrLost, closed, pathlock.ErrInvalidRequest} {
			fails(err)
		}
		store.leave(errAway)
		release(t, goOn(t.Context(), t, l, "X /a"))
		for _, err := range []error{pathlock.ErrInvalidRequest, closed, conflict} {
			time.Sleep(time.Second)
			fails(err)
			if back := l.Degraded().IsZero(); back != (err == conflict) { //nolint:errorlint // It is this very one.
				t.Errorf("%v says that the store is back: %v", err, back)
			}
		}
	})
}

// cutOff is a store that nobody can reach.
type cutOff struct{ pathlock.Store }

func (cutOff) Acquire(context.Context, pathlock.Acquisition) (pathlock.Grant, error) {
	return pathlock.Grant{}, pathlock.ErrUnavailable
}

// The lock store is away. Work whose writes are asserted in their transaction goes on without it,
// and a mutex, behind which there is no assertion, is refused.
func ExampleDegrade() {
	ctx := context.Background()
	store := pathlock.Degrade(cutOff{memstore.New()}, pathlock.Degradation{
		Limit: 10 * time.Minute,
		Log:   slog.New(slog.DiscardHandler),
	})
	locker := pathlock.New(store)
	plan, err := pathlock.NewTree("testplan", "plan-001")
	if err != nil {
		fmt.Println(err)
		return
	}
	lock, err := locker.Acquire(ctx, pathlock.Request{
		Tree:     plan,
		Claims:   []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))},
		Asserted: true,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = lock.Release(ctx) }()
	fmt.Println("without the store:", lock.Degraded(), "fence:", lock.Fence())

	_, err = locker.Mutex("nightly").Lock(ctx)
	fmt.Println("the mutex:", err)
	// Output:
	// without the store: true fence: 0
	// the mutex: pathlock: lock store unavailable
}
