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
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// What the scope let go of itself, while the next request was on its way, is no loss.
func TestRelease_overtakingAnAcquireIsNoLoss(t *testing.T) {
	l, store := newLocker()
	first := acquire(t.Context(), t, l, "X /a")
	store.hook(hooks{acquire: func(context.Context) error {
		store.hook(hooks{})
		release(t, first)
		return nil
	}})
	second := acquire(l.Scope(first.Context()).Context(t.Context()), t, l, "X /b")
	free(t, l, "X /a", true)
	free(t, l, "X /b", false)
	release(t, second)
}

func TestRelease_isTriedUntilTheLeaseHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		other := pathlock.New(store.Store, quiet)
		lock := acquire(t.Context(), t, l, "X /a")
		store.hook(down(pathlock.ErrUnavailable))
		begun := time.Now()
		_ = lock.Release(t.Context())
		testerr.None(t, l.Shutdown(t.Context()))
		if took := time.Since(begun); took < 30*time.Second || took > 31*time.Second {
			t.Errorf("given up after %v, want the lease of 30s", took)
		}
		// 50 ms, then twice the last pause up to a second.
		if tries := len(store.called()); tries < 30 || tries > 40 {
			t.Errorf("%d tries", tries)
		}
		free(t, other, "X /a", true)
	})
}

// The owner's lease lives on for what else it holds: what could not be released is not to live with
// it.
func TestRelease_isTriedWhileTheOwnerIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		other := pathlock.New(store.Store, quiet)
		outer := acquire(t.Context(), t, l, "X /keep")
		inner := acquire(outer.Context(), t, l, "X /a")
		store.hook(hooks{release: down(pathlock.ErrUnavailable).release})
		_ = inner.Release(t.Context())
		time.Sleep(10 * time.Minute)
		free(t, other, "X /a", false)
		store.hook(hooks{})
		time.Sleep(time.Second)
		free(t, other, "X /a", true)
		free(t, other, "X /keep", false)
		release(t, outer)
	})
}

// A program that closes its store too early does not wait for what cannot be released any more, and
// hears of it.
func TestShutdownAfterTheStoreIsClosedEndsWithTheError(t *testing.T) {
	closed := down(fmt.Errorf("%w: %w", pathlock.ErrUnavailable, pathlock.ErrClosed))
	for takes, begin := range map[time.Duration]func(store *watched, lock *pathlock.Lock){
		0: func(store *watched, lock *pathlock.Lock) { // before the first try
			store.hook(closed)
			lock.ReleaseInBackground(context.Background())
		},
		time.Second: func(store *watched, lock *pathlock.Lock) { // between two tries
			store.hook(down(pathlock.ErrUnavailable))
			testerr.Is(t, "released", lock.Release(context.Background()), pathlock.ErrUnavailable)
			store.hook(closed)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, store := newLocker()
			begin(store, acquire(t.Context(), t, l, "X /a"))
			ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
			defer stop()
			begun := time.Now()
			for range 2 {
				if err := l.Shutdown(ctx); !errors.Is(err, pathlock.ErrClosed) || !strings.Contains(err.Error(), "1 releases") {
					t.Errorf("Shutdown: %v, want ErrClosed and the number of releases", err)
				}
			}
			if took := time.Since(begun); took > takes {
				t.Errorf("it took %v, want at most %v", took, takes)
			}
		})
	}
}

// distant is a locker whose releases take until they are let through, and a locker of another
// process on the same store.
type distant struct {
	*testing.T
	locker, other *pathlock.Locker
	store         *watched
	through       chan struct{}
}

func inBackground(t *testing.T, test func(t *testing.T, d *distant)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &distant{T: t, through: make(chan struct{})}
		d.locker, d.store = newLocker()
		d.other = pathlock.New(d.store.Store, quiet)
		d.store.hook(hooks{release: func(context.Context) error { <-d.through; return nil }})
		test(t, d)
	})
}

// letThrough ends all releases that are under way, and those to come at once.
func (d *distant) letThrough() {
	d.Helper()
	close(d.through)
	testerr.None(d, d.locker.Shutdown(d.Context()))
}

// begin acquires on a goroutine and returns when that has ended or waits for something.
func (d *distant) begin(ctx context.Context, text string) <-chan error {
	done := make(chan error, 1)
	go func() {
		lock, err := d.locker.Acquire(ctx, request(d, text))
		if err == nil {
			if !lock.Waited() {
				d.Error("the lock came after a release, and says that it did not wait")
			}
			err = lock.Release(ctx)
		}
		done <- err
	}()
	synctest.Wait()
	return done
}

func TestReleaseInBackground_returnsAtOnce(t *testing.T) {
	inBackground(t, func(t *testing.T, d *distant) {
		ctx, cancel := context.WithCancel(t.Context())
		lock := acquire(ctx, t, d.locker, "X /a")
		cancel() // the request that it belonged to is over
		lock.ReleaseInBackground(ctx)
		if err := lock.Context().Err(); err == nil {
			t.Error("the lock's context outlives it")
		}
		free(t, d.other, "X /a", false)
		testerr.Is(t, "released once more", lock.Release(t.Context()), pathlock.ErrNotHeld)
		lock.ReleaseInBackground(t.Context())
		d.letThrough()
		if got, want := d.store.called(), []string{"acquire IX /, X /a", "release"}; !slices.Equal(got, want) {
			t.Errorf("the store was asked %q, want %q", got, want)
		}
		free(t, d.other, "X /a", true)
	})
}

func TestReleaseInBackground_refusesNotItsOwnProcess(t *testing.T) {
	inBackground(t, func(t *testing.T, d *distant) {
		acquire(t.Context(), t, d.locker, "X /a").ReleaseInBackground(t.Context())
		next := d.begin(t.Context(), "X /a")
		select {
		case err := <-next:
			t.Fatalf("not waited for: %v", err)
		default:
		}
		d.letThrough()
		testerr.None(t, <-next)
	})
}

func TestReleaseInBackground_othersWaitInTheTreeOnly(t *testing.T) {
	inBackground(t, func(t *testing.T, d *distant) {
		elsewhere := request(t, "X /a")
		elsewhere.Tree = tree(t, "elsewhere")
		lock, err := d.locker.Acquire(t.Context(), elsewhere)
		testerr.Must(t, err)
		lock.ReleaseInBackground(t.Context())
		held := acquire(t.Context(), t, d.other, "X /b")
		free(t, d.locker, "X /b", false)

		acquire(t.Context(), t, d.locker, "X /a").ReleaseInBackground(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		next := d.begin(ctx, "X /b")
		cancel()
		if err := <-next; !errors.Is(err, pathlock.ErrConflict) {
			t.Errorf("error %v, want ErrConflict", err)
		}
		d.letThrough()
		release(t, held)
	})
}

func TestShutdownWaitsForReleasesAndLetsNoMoreBegin(t *testing.T) {
	inBackground(t, func(t *testing.T, d *distant) {
		late := acquire(t.Context(), t, d.locker, "X /late")
		acquire(t.Context(), t, d.locker, "X /a").ReleaseInBackground(t.Context())
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := d.locker.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 release") {
			t.Errorf("error %v, want the deadline and the number of releases", err)
		}
		d.letThrough()
		late.ReleaseInBackground(t.Context())
		free(t, d.other, "X /", true)
	})
}

func TestReleaseInBackground_failureIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		j := &journal{}
		l, store := newLocker(pathlock.WithObserver(j), pathlock.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		store.hook(hooks{release: func(ctx context.Context) error {
			<-ctx.Done()
			return errors.Join(pathlock.ErrUnavailable, ctx.Err())
		}})
		acquire(t.Context(), t, l, "X /a").ReleaseInBackground(t.Context())
		begun, ended := time.Now(), make(chan time.Duration, 1)
		go func() {
			testerr.None(t, l.Shutdown(t.Context()))
			ended <- time.Since(begun)
		}()
		time.Sleep(5*time.Second - 1)
		synctest.Wait()
		if n := j.count(); n != 2 {
			t.Errorf("%d events before the 5 s are over that the release may take", n)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if want := []string{"acquiring X /a", "granted X /a", "released X /a: error"}; !slices.Equal(j.events, want) {
			t.Errorf("seen %q, want %q", j.events, want)
		}
		// It is tried again until its lease has ended, which may have begun as late as that.
		if took := <-ended; took < 5*time.Second+pathlock.DefaultLease {
			t.Errorf("Shutdown returned after %v, while the release was tried again", took)
		}
		if s := log.String(); strings.Count(s, "level=WARN") != 1 || !strings.Contains(s, "release failed") {
			t.Errorf("logged: %s", s)
		}
	})
}

// calling is an observer that calls fail in one of its methods.
type calling struct {
	pathlock.NopObserver
	method string
	fail   func()
}

func (o calling) at(method string) {
	if o.method == method {
		o.fail()
	}
}

func (o calling) Acquiring(ctx context.Context, _ pathlock.Event) context.Context {
	o.at("Acquiring")
	return ctx
}
func (o calling) Waiting(context.Context, pathlock.Event)  { o.at("Waiting") }
func (o calling) Granted(context.Context, pathlock.Event)  { o.at("Granted") }
func (o calling) Refused(context.Context, pathlock.Event)  { o.at("Refused") }
func (o calling) Lost(context.Context, pathlock.Event)     { o.at("Lost") }
func (o calling) Released(context.Context, pathlock.Event) { o.at("Released") }
func (o calling) Step(ctx context.Context, _ pathlock.Step) (context.Context, func(error)) {
	o.at("Step")
	return ctx, func(error) { o.at("done") }
}

// Whichever method of an observer panics, the lock is granted and given back all the same.
func TestObserverThatPanicsKeepsNothingLocked(t *testing.T) {
	for _, method := range []string{"Acquiring", "Waiting", "Granted", "Refused", "Released", "Step", "done"} {
		l, store := newLocker(pathlock.WithObserver(calling{method: method, fail: func() { panic("in an observer") }}))
		outer := acquire(t.Context(), t, l, "X /a")
		release(t, acquire(outer.Context(), t, l, "X /a/b"))
		free(t, l, "X /a", false)
		outer.ReleaseInBackground(t.Context())
		testerr.None(t, l.Shutdown(t.Context()))
		free(t, pathlock.New(store.Store, quiet), "X /", true)
	}
}

// The reason that an abandoned lock's context ends with is for those who work under it.
func TestAbandon_endsTheLockWithItsReason(t *testing.T) {
	l, _ := newLocker()
	why := errors.New("enough")
	outer := acquire(t.Context(), t, l, "X /a")
	inner := acquire(outer.Context(), t, l, "X /a/b")
	outer.Abandon(t.Context(), why)
	for name, ctx := range map[string]context.Context{"the lock's": outer.Context(), "an inner lock's": inner.Context()} {
		if ctx.Err() == nil || !errors.Is(context.Cause(ctx), why) {
			t.Errorf("%s context ends with %v, %v", name, ctx.Err(), context.Cause(ctx))
		}
	}
	free(t, l, "X /a", false)
	release(t, inner)
	free(t, l, "X /a", true)
	testerr.Is(t, "released once more", outer.Release(t.Context()), pathlock.ErrNotHeld)
}

// A store tells of an ended context by its error; why it ended is for the caller to know, too.
func TestAcquire_interruptedTellsTheContextsCause(t *testing.T) {
	l, store := newLocker()
	why := errors.New("enough")
	ctx, end := context.WithCancelCause(t.Context())
	store.hook(hooks{acquire: func(ctx context.Context) error {
		end(why)
		return fmt.Errorf("bare: %w", ctx.Err())
	}})
	if _, err := l.Acquire(ctx, request(t, "X /a")); !errors.Is(err, why) || !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted with %v", err)
	}
}
