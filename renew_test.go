package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
)

func TestLeasesAreRenewedAtAThirdBatchedByTreeAndOnlyWhileHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		first := acquire(t.Context(), t, l, "X /a")
		time.Sleep(3 * time.Second)
		second := acquire(t.Context(), t, l, "X /b")
		other, err := l.Acquire(t.Context(), pathlock.Request{Tree: tree(t, "other"), Gate: true})
		if err != nil {
			t.Fatal(err)
		}
		store.called()

		time.Sleep(7*time.Second + time.Millisecond)
		if got, want := store.called(), []string{"renew 2 in plan"}; !slices.Equal(got, want) {
			t.Errorf("after 10 s: %v, want %v", got, want)
		}
		time.Sleep(3 * time.Second)
		if got, want := store.called(), []string{"renew 1 in other"}; !slices.Equal(got, want) {
			t.Errorf("after 13 s: %v, want %v", got, want)
		}
		time.Sleep(time.Hour)
		store.called()
		for _, lock := range []*pathlock.Lock{first, second, other} {
			if err := lock.Context().Err(); err != nil {
				t.Errorf("after an hour: %v", context.Cause(lock.Context()))
			}
			release(t, lock)
		}
		store.called()
		time.Sleep(time.Hour)
		if got := store.called(); len(got) != 0 {
			t.Errorf("the store is still asked after the last release: %v", got)
		}
	})
}

func TestALeaseThatAnotherGrantProlongsKeepsNoOtherFromItsRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLocker()
		long, short := request(t, "X /a"), request(t, "X /a")
		long.Lease = 30 * time.Second
		short.Tree, short.Lease = tree(t, "other"), 12*time.Second
		prolonged, err := l.Acquire(t.Context(), long) // due after 10 s
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(7 * time.Second)
		other, err := l.Acquire(t.Context(), short) // due after 11 s
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2900 * time.Millisecond)
		long.Claims = request(t, "X /b").Claims
		again, err := l.Acquire(prolonged.Context(), long) // now due after 19.9 s
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if err := other.Context().Err(); err != nil {
			t.Errorf("the lease that was due first was not renewed: %v", context.Cause(other.Context()))
		}
		for _, lock := range []*pathlock.Lock{again, prolonged, other} {
			release(t, lock)
		}
	})
}

func TestALostLeaseCancelsTheContextsAndIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLocker(pathlock.WithLease(30 * time.Second))
		lock := acquire(t.Context(), t, l, "X /a")
		inner := acquire(lock.Context(), t, l, "X /a/b")
		snapshot, err := l.Snapshot(t.Context(), lock.Tree())
		if err != nil {
			t.Fatal(err)
		}
		if err := l.ForceRelease(t.Context(), lock.Tree(), snapshot.Holders[0].Owner); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10*time.Second + time.Millisecond)
		for _, k := range []*pathlock.Lock{lock, inner} {
			if cause := context.Cause(k.Context()); !errors.Is(cause, pathlock.ErrLost) {
				t.Errorf("cause %v, want ErrLost", cause)
			}
		}
		if _, err := l.Acquire(lock.Context(), request(t, "X /a")); !errors.Is(err, pathlock.ErrLost) {
			t.Errorf("acquire under the lost lock: %v, want ErrLost", err)
		}
		for _, k := range []*pathlock.Lock{inner, lock} {
			if err := k.Release(t.Context()); !errors.Is(err, pathlock.ErrLost) {
				t.Errorf("release of a lost lock: %v, want ErrLost", err)
			}
		}
		// Lost, not broken: the same scope can begin anew.
		again := acquire(l.Scope(lock.Context()).Context(t.Context()), t, l, "X /a")
		release(t, again)
	})
}

// A new grant must not make a scope look alive that has lost what it held.
func TestALossIsNoticedBeforeTheNextGrantHidesIt(t *testing.T) {
	l, _ := newLocker()
	lock := acquire(t.Context(), t, l, "X /a")
	if err := l.ForceRelease(t.Context(), lock.Tree(), l.Scope(lock.Context()).Owner()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Acquire(lock.Context(), request(t, "X /b")); !errors.Is(err, pathlock.ErrLost) {
		t.Errorf("acquire: %v, want ErrLost", err)
	}
	if cause := context.Cause(lock.Context()); !errors.Is(cause, pathlock.ErrLost) {
		t.Errorf("cause %v, want ErrLost", cause)
	}
	if err := lock.Release(t.Context()); !errors.Is(err, pathlock.ErrLost) {
		t.Errorf("release: %v, want ErrLost", err)
	}
	free(t, l, "X /", true)
}

func TestAStoreThatDoesNotAnswerLosesTheLockWhenTheLeaseEndsAndNotBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		down := fmt.Errorf("%w: connection refused", pathlock.ErrUnavailable)
		lock := acquire(t.Context(), t, l, "X /a")
		store.renewBy(func(pathlock.Tree, []pathlock.Lease) ([]pathlock.Owner, error) { return nil, down })

		time.Sleep(30*time.Second - time.Millisecond)
		if err := lock.Context().Err(); err != nil {
			t.Errorf("lost before the lease ended: %v", context.Cause(lock.Context()))
		}
		if tries := len(store.called()); tries < 4 {
			t.Errorf("%d tries to renew in 20 s of outage", tries)
		}
		time.Sleep(2 * time.Millisecond)
		cause := context.Cause(lock.Context())
		if !errors.Is(cause, pathlock.ErrLost) || !errors.Is(cause, pathlock.ErrUnavailable) {
			t.Errorf("cause %v, want ErrLost because of ErrUnavailable", cause)
		}
		_ = lock.Release(t.Context())
	})
}

func TestAnOutageThatEndsInTimeLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		lock := acquire(t.Context(), t, l, "X /a")
		begun := time.Now()
		store.renewBy(func(tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
			if time.Since(begun) < 20*time.Second {
				return nil, pathlock.ErrUnavailable
			}
			return store.Store.Renew(t.Context(), tree, leases)
		})
		time.Sleep(10 * time.Minute)
		if err := lock.Context().Err(); err != nil {
			t.Errorf("lost: %v", context.Cause(lock.Context()))
		}
		free(t, l, "X /a", false)
		release(t, lock)
	})
}

// The answer to a renewal that was under way while the scope let go of everything and took
// something else must not be taken for the loss of the latter.
func TestARenewalThatCrossesAReleaseIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		scope := l.Scope(t.Context())
		first := acquire(scope.Context(t.Context()), t, l, "X /a")
		second := acquire(scope.Context(t.Context()), t, l, "X /keep")
		asked, answer := make(chan struct{}), make(chan struct{})
		store.renewBy(func(_ pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
			close(asked)
			<-answer
			return []pathlock.Owner{leases[0].Owner}, nil
		})
		<-asked
		third := acquire(scope.Context(t.Context()), t, l, "X /b")
		release(t, first)
		release(t, second)
		close(answer)
		synctest.Wait()
		if err := third.Context().Err(); err != nil {
			t.Errorf("the new lock was called lost: %v", context.Cause(third.Context()))
		}
		store.renewBy(nil)
		release(t, third)
	})
}

func TestALossThatARenewalReportsBesideAnErrorCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		gone, stays := acquire(t.Context(), t, l, "X /gone"), acquire(t.Context(), t, l, "X /stays")
		store.renewBy(func(_ pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
			return []pathlock.Owner{l.Scope(gone.Context()).Owner()}, pathlock.ErrUnavailable
		})
		time.Sleep(10*time.Second + time.Millisecond)
		if cause := context.Cause(gone.Context()); !errors.Is(cause, pathlock.ErrLost) {
			t.Errorf("the lost lock: %v, want ErrLost", cause)
		}
		if err := stays.Context().Err(); err != nil {
			t.Errorf("the other lock: %v", context.Cause(stays.Context()))
		}
		store.renewBy(nil)
		_ = gone.Release(t.Context())
		release(t, stays)
	})
}
