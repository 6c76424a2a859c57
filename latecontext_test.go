package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
)

// What a lock's context says must not depend on whether anybody asked it before.
func TestALocksContextEndsWhetherItWasAskedOrNot(t *testing.T) {
	closing := errors.New("closing time")
	for _, tt := range []struct {
		what string
		end  func(t *testing.T, l *pathlock.Locker, store pathlock.Store, lock *pathlock.Lock, outer context.CancelCauseFunc)
		err  error
	}{
		{"by its release", func(t *testing.T, _ *pathlock.Locker, _ pathlock.Store, lock *pathlock.Lock, _ context.CancelCauseFunc) {
			release(t, lock)
		}, context.Canceled},
		{"with the context that it was made from", func(_ *testing.T, _ *pathlock.Locker, _ pathlock.Store, _ *pathlock.Lock, outer context.CancelCauseFunc) {
			outer(closing)
		}, closing},
		{"by the loss, though the outer one ends later", func(t *testing.T, l *pathlock.Locker, store pathlock.Store, lock *pathlock.Lock, outer context.CancelCauseFunc) {
			scope := l.Scope(lock.Context())
			// Another process releases it, so that this one does not look at once.
			if err := store.ForceRelease(t.Context(), lock.Tree(), scope.Owner()); err != nil {
				t.Fatal(err)
			}
			if _, err := l.Acquire(scope.Context(t.Context()), request(t, "X /b")); !errors.Is(err, pathlock.ErrLost) {
				t.Fatalf("the loss is noticed as %v", err)
			}
			outer(closing)
		}, pathlock.ErrLost},
	} {
		for _, asked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, asked before: %v", tt.what, asked), func(t *testing.T) {
				l, store := newLocker()
				outer, end := context.WithCancelCause(t.Context())
				defer end(nil)
				lock := acquire(outer, t, l, "X /a")
				ctx := lock.Context()
				if asked && (ctx.Err() != nil || context.Cause(ctx) != nil) {
					t.Fatalf("ended before its time: %v", context.Cause(ctx))
				}
				tt.end(t, l, store, lock, end)
				<-ctx.Done()
				if err := ctx.Err(); !errors.Is(err, context.Canceled) {
					t.Errorf("Err() = %v", err)
				}
				if cause := context.Cause(ctx); !errors.Is(cause, tt.err) {
					t.Errorf("cause %v, want %v", cause, tt.err)
				}
				_ = lock.Release(t.Context())
			})
		}
	}
}

func TestALocksContextCarriesWhatTheOuterOneDoes(t *testing.T) {
	type key struct{}
	outer, stop := context.WithTimeout(context.WithValue(t.Context(), key{}, "value"), time.Hour)
	defer stop()
	l, _ := newLocker()
	lock := acquire(outer, t, l, "X /a")
	inner := acquire(lock.Context(), t, l, "X /a/b")
	below, cancel := context.WithTimeout(inner.Context(), 2*time.Hour)
	defer cancel()
	if got := below.Value(key{}); got != "value" {
		t.Errorf("the value is %v", got)
	}
	want, _ := outer.Deadline()
	if got, ok := below.Deadline(); !ok || got != want {
		t.Errorf("the deadline is %v, want %v", got, want)
	}
	release(t, lock)
	<-below.Done() // the outer lock's end is the end of all contexts made from its own
	release(t, inner)
}

// The context that ended first says how, as for any other context, also if nobody asked at that
// time.
func TestALocksContextSaysWhenADeadlineCameFirst(t *testing.T) {
	for _, asked := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l, _ := newLocker()
			outer, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			late, early := acquire(outer, t, l, "X /a"), acquire(outer, t, l, "X /b")
			if asked {
				late.Context().Done()
				early.Context().Done()
			}
			release(t, early)
			time.Sleep(time.Second)
			synctest.Wait()
			release(t, late)
			if err := late.Context().Err(); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("asked before: %v: released after the deadline: %v", asked, err)
			}
			if cause := context.Cause(late.Context()); !errors.Is(cause, context.DeadlineExceeded) {
				t.Errorf("asked before: %v: released after the deadline: cause %v", asked, cause)
			}
			if err := early.Context().Err(); !errors.Is(err, context.Canceled) {
				t.Errorf("asked before: %v: released before the deadline: %v", asked, err)
			}
		})
	}
}
