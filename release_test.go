package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestReleaseWorksUnderAContextThatHasEnded(t *testing.T) {
	l, _ := newLocker()
	ctx, cancel := context.WithCancel(t.Context())
	lock := acquire(ctx, t, l, "X /a")
	cancel()
	if err := lock.Release(ctx); err != nil {
		t.Fatal(err)
	}
	free(t, l, "X /a", true)
}

func TestASecondReleaseIsAnErrorAndChangesNothing(t *testing.T) {
	l, store := newLocker()
	lock := acquire(t.Context(), t, l, "X /a")
	release(t, lock)
	again := acquire(t.Context(), t, l, "X /a")
	store.called()
	if err := lock.Release(t.Context()); !errors.Is(err, pathlock.ErrNotHeld) {
		t.Errorf("second release: %v, want ErrNotHeld", err)
	}
	if calls := store.called(); len(calls) != 0 {
		t.Errorf("the second release asked the store: %v", calls)
	}
	free(t, l, "X /a", false)
	release(t, again)
}

// What the scope let go of itself, while the next request was on its way, is no loss.
func TestAReleaseThatOvertakesAnAcquireIsNoLoss(t *testing.T) {
	store := &overtaken{Store: memstore.New()}
	l := pathlock.New(store, quiet)
	first := acquire(t.Context(), t, l, "X /a")
	store.before = func() {
		store.before = nil
		release(t, first)
	}
	second := acquire(l.Scope(first.Context()).Context(t.Context()), t, l, "X /b")
	free(t, l, "X /a", true)
	free(t, l, "X /b", false)
	release(t, second)
}

// overtaken calls before on the way of an acquisition to the store.
type overtaken struct {
	pathlock.Store
	before func()
}

func (o *overtaken) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if o.before != nil {
		o.before()
	}
	return o.Store.Acquire(ctx, req)
}

func TestReleaseSaysWhenTheStoreHadLostIt(t *testing.T) {
	l, _ := newLocker()
	lock := acquire(t.Context(), t, l, "X /a")
	snapshot, err := l.Snapshot(t.Context(), lock.Tree())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.ForceRelease(t.Context(), lock.Tree(), snapshot.Holders[0].Owner); err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(t.Context()); !errors.Is(err, pathlock.ErrLost) {
		t.Errorf("release: %v, want ErrLost", err)
	}
}

// onceMore is how long a release that failed waits before it is tried again.
const onceMore = 50 * time.Millisecond

func TestAReleaseThatFailsIsReportedAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker()
		other := pathlock.New(store.Store, quiet)
		lock := acquire(t.Context(), t, l, "X /a")
		store.releaseBy(func() error { return fmt.Errorf("%w: timeout", pathlock.ErrUnavailable) })
		if err := lock.Release(t.Context()); !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("release: %v, want ErrUnavailable", err)
		}
		store.releaseBy(nil)
		free(t, other, "X /a", false)
		time.Sleep(onceMore)
		synctest.Wait()
		free(t, other, "X /a", true)
	})
}

// A request that does not wait has what failed to be released tried at once.
func TestAReleaseThatFailedDoesNotRefuseItsOwnProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker()
		lock := acquire(t.Context(), t, l, "X /a")
		store.releaseBy(func() error { return pathlock.ErrUnavailable })
		_ = lock.Release(t.Context())
		begun := time.Now()
		free(t, l, "X /a", false)
		if took := time.Since(begun); took != 0 {
			t.Errorf("refused after %v, for a release that fails again", took)
		}
		store.releaseBy(nil)
		free(t, l, "X /a", true)
	})
}

func TestAReleaseThatFailsIsTriedUntilTheLeaseHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		other := pathlock.New(store.Store, quiet)
		lock := acquire(t.Context(), t, l, "X /a")
		store.releaseBy(func() error { return pathlock.ErrUnavailable })
		begun := time.Now()
		_ = lock.Release(t.Context())
		if err := l.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
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
func TestAReleaseThatFailsIsTriedAsLongAsTheOwnerIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		other := pathlock.New(store.Store, quiet)
		outer := acquire(t.Context(), t, l, "X /keep")
		inner := acquire(outer.Context(), t, l, "X /a")
		store.releaseBy(func() error { return pathlock.ErrUnavailable })
		_ = inner.Release(t.Context())
		time.Sleep(10 * time.Minute)
		free(t, other, "X /a", false)
		store.releaseBy(nil)
		time.Sleep(time.Second)
		free(t, other, "X /a", true)
		free(t, other, "X /keep", false)
		release(t, outer)
	})
}

// closable is a store that its program may close.
type closable struct {
	pathlock.Store
	closed atomic.Bool
	down   atomic.Bool
}

func (c *closable) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	switch {
	case c.closed.Load():
		return fmt.Errorf("%w: %w", pathlock.ErrUnavailable, pathlock.ErrClosed)
	case c.down.Load():
		return pathlock.ErrUnavailable
	}
	return c.Store.Release(ctx, tree, owner, id)
}

// A program that closes its store too early does not wait for what cannot be released any more, and
// hears of it.
func TestShutdownAfterTheStoreIsClosedEndsWithTheError(t *testing.T) {
	for _, tt := range []struct {
		name  string
		begin func(store *closable, lock *pathlock.Lock)
		takes time.Duration // at most
	}{
		{"before the first try", func(store *closable, lock *pathlock.Lock) {
			store.closed.Store(true)
			lock.ReleaseInBackground(context.Background())
		}, 0},
		{"between two tries", func(store *closable, lock *pathlock.Lock) {
			store.down.Store(true)
			if err := lock.Release(context.Background()); !errors.Is(err, pathlock.ErrUnavailable) {
				t.Errorf("released: %v, want ErrUnavailable", err)
			}
			store.closed.Store(true)
		}, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, watched := newLocker()
				store := &closable{Store: watched}
				l := pathlock.New(store, quiet)
				tt.begin(store, acquire(t.Context(), t, l, "X /a"))
				ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
				defer stop()
				begun := time.Now()
				for range 2 {
					if err := l.Shutdown(ctx); !errors.Is(err, pathlock.ErrClosed) || !strings.Contains(err.Error(), "1 releases") {
						t.Errorf("Shutdown: %v, want ErrClosed and the number of releases", err)
					}
				}
				if took := time.Since(begun); took > tt.takes {
					t.Errorf("it took %v, want at most %v", took, tt.takes)
				}
			})
		})
	}
}
