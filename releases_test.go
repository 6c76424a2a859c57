package pathlock_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
)

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
		d.store.releaseBy(func() error { <-d.through; return nil })
		test(t, d)
	})
}

// letThrough ends all releases that are under way, and those to come at once.
func (d *distant) letThrough() {
	d.Helper()
	close(d.through)
	if err := d.locker.Shutdown(d.Context()); err != nil {
		d.Error(err)
	}
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

func TestABackgroundReleaseReturnsBeforeTheStoreAnswers(t *testing.T) {
	inBackground(t, func(t *testing.T, d *distant) {
		ctx, cancel := context.WithCancel(t.Context())
		lock := acquire(ctx, t, d.locker, "X /a")
		cancel() // the request that it belonged to is over
		lock.ReleaseInBackground(ctx)
		if err := lock.Context().Err(); err == nil {
			t.Error("the lock's context outlives it")
		}
		free(t, d.other, "X /a", false)
		if err := lock.Release(t.Context()); !errors.Is(err, pathlock.ErrNotHeld) {
			t.Errorf("released once more: %v, want ErrNotHeld", err)
		}
		lock.ReleaseInBackground(t.Context())
		d.letThrough()
		if got, want := d.store.called(), []string{"acquire IX /, X /a", "release"}; !slices.Equal(got, want) {
			t.Errorf("the store was asked %q, want %q", got, want)
		}
		free(t, d.other, "X /a", true)
	})
}

func TestAReleaseUnderWayDoesNotRefuseItsOwnProcess(t *testing.T) {
	inBackground(t, func(t *testing.T, d *distant) {
		acquire(t.Context(), t, d.locker, "X /a").ReleaseInBackground(t.Context())
		next := d.begin(t.Context(), "X /a")
		select {
		case err := <-next:
			t.Fatalf("not waited for: %v", err)
		default:
		}
		d.letThrough()
		if err := <-next; err != nil {
			t.Error(err)
		}
	})
}

func TestOthersStillRefuseWhileAReleaseIsUnderWay(t *testing.T) {
	inBackground(t, func(t *testing.T, d *distant) {
		acquire(t.Context(), t, d.locker, "X /a").ReleaseInBackground(t.Context())
		held := acquire(t.Context(), t, d.other, "X /b")
		acquire(t.Context(), t, d.locker, "X /c").ReleaseInBackground(t.Context()) // nobody is in the way
		next := d.begin(t.Context(), "X /b")
		d.store.called()
		d.letThrough()
		if err := <-next; !errors.Is(err, pathlock.ErrConflict) {
			t.Errorf("error %v, want ErrConflict", err)
		}
		if got, want := d.store.called(), []string{"acquire IX /, X /b"}; !slices.Equal(got, want) {
			t.Errorf("the store was asked %q, want %q: one more time and no more", got, want)
		}
		release(t, held)
	})
}

func TestARequestThatWaitsDoesNotWaitLongerForAReleaseUnderWay(t *testing.T) {
	inBackground(t, func(t *testing.T, d *distant) {
		acquire(t.Context(), t, d.locker, "X /a").ReleaseInBackground(t.Context())
		req := request(t, "X /a")
		req.Wait = time.Second
		begun := time.Now()
		if _, err := d.locker.Acquire(t.Context(), req); !errors.Is(err, pathlock.ErrConflict) || time.Since(begun) != time.Second {
			t.Errorf("after %v: %v, want ErrConflict after 1s", time.Since(begun), err)
		}
		d.letThrough()
	})
}

func TestOnlyReleasesOfTheTreeAreWaitedForAndNotBeyondTheContext(t *testing.T) {
	inBackground(t, func(t *testing.T, d *distant) {
		elsewhere := request(t, "X /a")
		elsewhere.Tree = tree(t, "elsewhere")
		lock, err := d.locker.Acquire(t.Context(), elsewhere)
		if err != nil {
			t.Fatal(err)
		}
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

// hanging is a store that does not answer releases.
type hanging struct{ pathlock.Store }

func (hanging) Release(ctx context.Context, _ pathlock.Tree, _ pathlock.Owner, _ pathlock.GrantID) error {
	<-ctx.Done()
	return errors.Join(pathlock.ErrUnavailable, ctx.Err())
}

func TestABackgroundReleaseThatFailsEndsInTimeAndIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, store := newLocker()
		var log strings.Builder
		j := &journal{}
		l := pathlock.New(hanging{store}, pathlock.WithObserver(j), pathlock.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		acquire(t.Context(), t, l, "X /a").ReleaseInBackground(t.Context())
		begun, ended := time.Now(), make(chan time.Duration, 1)
		go func() {
			if err := l.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
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

func TestWhatNeedsNoRoundTripIsReleasedAtOnce(t *testing.T) {
	inBackground(t, func(t *testing.T, d *distant) {
		j := &journal{}
		l := pathlock.New(d.store, quiet, pathlock.WithObserver(j))
		outer := acquire(t.Context(), t, l, "X /a")
		inner := acquire(outer.Context(), t, l, "X /a/b")
		inner.ReleaseInBackground(t.Context())
		inner.ReleaseInBackground(t.Context()) // nothing happens the second time
		if want := []string{"acquiring X /a", "granted X /a", "granted X /a/b (re-entrant)", "released X /a/b (re-entrant)"}; !slices.Equal(j.events, want) {
			t.Errorf("seen %q, want %q", j.events, want)
		}
		close(d.through)
		release(t, outer)
	})
	_, store := newLocker()
	l := pathlock.New(store.Store, quiet) // the memory store itself
	acquire(t.Context(), t, l, "X /a").ReleaseInBackground(t.Context())
	free(t, pathlock.New(store.Store, quiet), "X /a", true)
}

func TestALockSaysWhetherItWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLocker()
		first := acquire(t.Context(), t, l, "X /a")
		inner := acquire(first.Context(), t, l, "X /a/b")
		if first.Waited() || inner.Waited() {
			t.Errorf("nobody was in the way, and yet they waited: %v, %v", first.Waited(), inner.Waited())
		}
		release(t, inner)
		time.AfterFunc(time.Second, func() { release(t, first) })
		req := request(t, "X /a")
		req.Wait = time.Minute
		second, err := l.Acquire(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if !second.Waited() {
			t.Error("a lock that came after a second says that it did not wait")
		}
		release(t, second)
	})
}
