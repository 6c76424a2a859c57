package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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

// newDegradable returns a locker that goes on without its store for a minute.
func newDegradable(opts ...pathlock.Option) (*pathlock.Locker, *watched) {
	store := &watched{Store: memstore.New()}
	degradable := pathlock.Degrade(store, pathlock.Degradation{Limit: time.Minute, Log: slog.New(slog.DiscardHandler)})
	return pathlock.New(degradable, append([]pathlock.Option{quiet}, opts...)...), store
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

// refusesUnavailable checks that requests are refused because the store is away.
func refusesUnavailable(t testing.TB, what string, err error) {
	t.Helper()
	if !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("%s: %v, want ErrUnavailable", what, err)
	}
}

// What is asserted goes on, several owners at once, and nothing else does.
func TestAssertedRequestsGoOnWithoutTheStore(t *testing.T) {
	l, store := newDegradable()
	real := acquire(t.Context(), t, l, "X /real")
	store.leave(errAway)
	first, second := goOn(t.Context(), t, l, "X /a"), goOn(t.Context(), t, l, "gate")

	_, err := l.Acquire(t.Context(), request(t, "X /a"))
	refusesUnavailable(t, "a request that is not asserted", err)
	_, err = l.Acquire(first.Context(), request(t, "X /a/b"))
	refusesUnavailable(t, "one under what was granted without the store", err)
	_, err = l.Acquire(first.Context(), request(t, "X /b"))
	refusesUnavailable(t, "one beside it", err)
	_, err = l.Acquire(real.Context(), asserted(t, "X /b"))
	refusesUnavailable(t, "an owner that holds something from the store", err)
	_, err = l.Mutex("m").TryLock(first.Context())
	refusesUnavailable(t, "a mutex", err)
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
		l, store := newDegradable()
		store.leave(errAway)
		before := time.Now()
		old := goOn(t.Context(), t, l, "X /a")
		for second := range 3 {
			if since := l.Degraded(); !since.Equal(before) {
				t.Errorf("degraded since %v, want %v", since, before)
			}
			for range 5 {
				release(t, goOn(t.Context(), t, l, "X /a"))
			}
			if calls := store.called(); len(calls) != 1 {
				t.Errorf("in second %d, the store was asked %v", second, calls)
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
	})
}

// A program that has gone on for so long is told.
func TestRequestsAreRefusedFromTheLimitOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newDegradable()
		store.leave(errAway)
		release(t, goOn(t.Context(), t, l, "X /a"))
		time.Sleep(time.Minute - time.Nanosecond)
		release(t, goOn(t.Context(), t, l, "X /a"))
		time.Sleep(time.Nanosecond)
		for range 2 {
			_, err := l.Acquire(t.Context(), asserted(t, "X /a"))
			refusesUnavailable(t, "after a minute", err)
		}
		if since := l.Degraded(); !since.IsZero() {
			t.Errorf("degraded since %v", since)
		}
		store.hook(hooks{})
		release(t, acquire(t.Context(), t, l, "X /a"))
		store.leave(errAway)
		release(t, goOn(t.Context(), t, l, "X /a")) // a failure of its own
	})
}

// Only a store that cannot serve is away, and only its answers say that it is back.
func TestWhichErrorsSayThatTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newDegradable()
		conflict := &pathlock.ConflictError{}
		for _, err := range []error{conflict, &pathlock.DeadlockError{}, pathlock.ErrLost, errors.Join(pathlock.ErrClosed, errAway), pathlock.ErrInvalidRequest} {
			store.leave(err)
			if _, got := l.Acquire(t.Context(), asserted(t, "X /a")); !errors.Is(got, err) {
				t.Errorf("%v: %v", err, got)
			}
		}
		store.leave(errAway)
		ending, end := context.WithCancel(t.Context())
		store.hook(hooks{acquire: func(context.Context) error { end(); return errAway }})
		if _, err := l.Acquire(ending, asserted(t, "X /a")); err == nil {
			t.Error("granted to nobody")
		}
		store.leave(errAway)
		release(t, goOn(t.Context(), t, l, "X /a"))
		for _, tt := range []struct {
			err  error
			back bool
		}{{pathlock.ErrInvalidRequest, false}, {errors.Join(pathlock.ErrClosed, errAway), false}, {conflict, true}} {
			time.Sleep(time.Second)
			store.leave(tt.err)
			if _, err := l.Acquire(t.Context(), asserted(t, "X /a")); !errors.Is(err, tt.err) {
				t.Errorf("%v: %v", tt.err, err)
			}
			if back := l.Degraded().IsZero(); back != tt.back {
				t.Errorf("%v says that the store is back: %v", tt.err, back)
			}
		}
	})
}

// degradations is an observer that notes grants.
type degradations struct {
	pathlock.NopObserver
	granted []bool
}

func (d *degradations) Granted(_ context.Context, e pathlock.Event) {
	d.granted = append(d.granted, e.Degraded && e.Fence == 0)
}

// Observers see each grant without the store, and the log has its beginning and its end.
func TestGoingOnIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		seen, store := new(degradations), &watched{Store: memstore.New()}
		degradable := pathlock.Degrade(store, pathlock.Degradation{Log: slog.New(slog.NewTextHandler(&log, nil))})
		l := pathlock.New(degradable, quiet, pathlock.WithObserver(seen))
		store.leave(errAway)
		lock := goOn(t.Context(), t, l, "X /a")
		release(t, goOn(lock.Context(), t, l, "X /a/b"))
		release(t, lock)
		time.Sleep(time.Second)
		store.hook(hooks{})
		release(t, acquire(t.Context(), t, l, "X /a"))
		if want := []bool{true, true, false}; !slices.Equal(seen.granted, want) {
			t.Errorf("granted without the store: %v, want %v", seen.granted, want)
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], "is away") || !strings.Contains(lines[1], "is back") {
			t.Errorf("the log: %s", log.String())
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
