package pathlock_test

import (
	"context"
	"errors"
	"fmt"
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

func TestAReleaseThatFailsIsReportedAndNotRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		lock := acquire(t.Context(), t, l, "X /a")
		store.onRelease = func() error { return fmt.Errorf("%w: timeout", pathlock.ErrUnavailable) }
		if err := lock.Release(t.Context()); !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("release: %v, want ErrUnavailable", err)
		}
		store.onRelease = nil
		free(t, l, "X /a", false)
		time.Sleep(30*time.Second + time.Millisecond)
		free(t, l, "X /a", true)
	})
}
