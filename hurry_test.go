package pathlock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
)

// A release by force ends the context of a holder in the same process at once, whether the renewer
// has seen its lock before or not: in virtual time, no moment passes.
func TestAReleaseByForceEndsAHolderOfThisProcessAtOnce(t *testing.T) {
	for _, held := range []time.Duration{0, time.Minute} {
		t.Run("held for "+held.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				locker, _ := newLocker(pathlock.WithLease(30 * time.Second))
				lock := acquire(t.Context(), t, locker, "X /a")
				other := acquire(t.Context(), t, locker, "X /b")
				time.Sleep(held) // virtual
				forced := time.Now()
				if err := locker.ForceRelease(t.Context(), lock.Tree(), locker.Scope(lock.Context()).Owner()); err != nil {
					t.Fatal(err)
				}
				<-lock.Context().Done()
				if late := time.Since(forced); late > 0 {
					t.Errorf("the holder learnt of it %v late", late)
				}
				if cause := context.Cause(lock.Context()); !errors.Is(cause, pathlock.ErrLost) {
					t.Errorf("the context ended because of %v, want ErrLost", cause)
				}
				if err := lock.Release(t.Context()); !errors.Is(err, pathlock.ErrLost) {
					t.Errorf("release: %v, want ErrLost", err)
				}
				if err := other.Context().Err(); err != nil {
					t.Errorf("another owner's lock ended: %v", err)
				}
				release(t, other)
			})
		})
	}
}
