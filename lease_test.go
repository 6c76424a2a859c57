package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// slow is a store whose grants take their time to arrive.
type slow struct {
	*watched
	takes time.Duration
	// asked is how long before its arrival a grant was asked for; negative is that the store cannot
	// tell.
	asked time.Duration
}

func (s slow) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	time.Sleep(s.takes - max(s.asked, 0))
	asked := time.Now()
	g, err := s.watched.Acquire(ctx, req)
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
		what    string
		takes   time.Duration
		asked   time.Duration
		lost    bool
		renewed time.Duration // after the grant has arrived
	}{
		{"a wait longer than the lease", time.Minute, 20 * time.Millisecond, false, 80 * time.Millisecond},
		{"asked for longer ago than a third of the lease", time.Minute, 200 * time.Millisecond, false, 0},
		{"asked for a lease ago", time.Minute, lease, true, 0},
		{"a store that cannot tell, in time", 290 * time.Millisecond, -1, false, 0},
		{"a store that cannot tell, too late", 300 * time.Millisecond, -1, true, 0},
	} {
		t.Run(tt.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &watched{Store: memstore.New()}
				l := pathlock.New(slow{store, tt.takes, tt.asked}, quiet, pathlock.WithLease(lease))
				lock, err := l.Acquire(t.Context(), request(t, "X /a"))
				if tt.lost {
					if !errors.Is(err, pathlock.ErrLost) || lock != nil {
						t.Fatalf("%v, %v; want ErrLost", lock, err)
					}
					if want := []string{"acquire IX /, X /a", "release"}; !slices.Equal(store.called(), want) {
						t.Error("what nobody believes in was not released")
					}
					return
				}
				testerr.Must(t, err)
				calls := []string{"acquire IX /, X /a"}
				if tt.renewed > 0 {
					time.Sleep(tt.renewed - 1)
					synctest.Wait()
					if got := store.called(); !slices.Equal(got, calls) {
						t.Errorf("%v, want no renewal yet", got)
					}
					calls = nil
					time.Sleep(time.Nanosecond)
				}
				synctest.Wait()
				calls = append(calls, "renew 1 in plan")
				if got := store.called(); !slices.Equal(got, calls) {
					t.Errorf("%v, want %v", got, calls)
				}
				time.Sleep(time.Minute)
				if err := lock.Context().Err(); err != nil {
					t.Errorf("lost: %v", context.Cause(lock.Context()))
				}
				release(t, lock)
			})
		})
	}
}

// Whoever asks is told at once.
func TestLease_endsOnASuspendedHost(t *testing.T) {
	for what, ask := range map[string]func(context.Context, *pathlock.Locker, *pathlock.Lock) error{
		"Err":   func(ctx context.Context, _ *pathlock.Locker, _ *pathlock.Lock) error { return ctx.Err() },
		"Cause": func(ctx context.Context, _ *pathlock.Locker, _ *pathlock.Lock) error { return context.Cause(ctx) },
		"a context made of it": func(ctx context.Context, _ *pathlock.Locker, _ *pathlock.Lock) error {
			ctx, stop := context.WithTimeout(ctx, time.Hour)
			defer stop()
			return context.Cause(ctx)
		},
		"re-entry": func(ctx context.Context, l *pathlock.Locker, _ *pathlock.Lock) error {
			_, err := l.Acquire(ctx, request(t, "X /a"))
			return err
		},
		"re-entry by the scope": func(ctx context.Context, l *pathlock.Locker, _ *pathlock.Lock) error {
			_, err := l.Acquire(l.Scope(ctx).Context(context.Background()), request(t, "X /a"))
			return err
		},
		"the release": func(_ context.Context, _ *pathlock.Locker, lock *pathlock.Lock) error {
			return lock.Release(context.Background())
		},
		"Detach": func(_ context.Context, _ *pathlock.Locker, lock *pathlock.Lock) error {
			_, err := lock.Detach(context.Background())
			return err
		},
	} {
		for _, suspended := range []time.Duration{29 * time.Second, 30 * time.Second} {
			t.Run(fmt.Sprintf("%s after %v", what, suspended), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l, store := newLocker(pathlock.WithLease(30 * time.Second))
					lock := acquire(t.Context(), t, l, "X /a")
					ctx := lock.Context()
					pathlock.SuspendHost(l, suspended)
					store.called()
					err := ask(ctx, l, lock)
					if calls := store.called(); slices.ContainsFunc(calls, func(c string) bool { return strings.HasPrefix(c, "acquire") }) {
						t.Errorf("the store is asked for what was lost: %q", calls)
					}
					lost := errors.Is(err, pathlock.ErrLost) || what == "Err" && errors.Is(err, context.Canceled)
					if want := suspended == 30*time.Second; lost != want {
						t.Errorf("told %v, which says lost: %v, want %v", err, lost, want)
					}
					_ = lock.Release(t.Context())
				})
			})
		}
	}
}

func TestLease_renewedAtAThirdAndByTree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		first := acquire(t.Context(), t, l, "X /a")
		time.Sleep(3 * time.Second)
		second := acquire(t.Context(), t, l, "X /b")
		other, err := l.Acquire(t.Context(), pathlock.Request{Tree: tree(t, "other"), Gate: true})
		testerr.Must(t, err)
		store.called()

		time.Sleep(7*time.Second + time.Millisecond)
		if got, want := store.called(), []string{"renew 2 in plan"}; !slices.Equal(got, want) {
			t.Errorf("after 10 s: %v, want %v", got, want)
		}
		time.Sleep(3 * time.Second)
		if got, want := store.called(), []string{"renew 1 in other"}; !slices.Equal(got, want) {
			t.Errorf("after 13 s: %v, want %v", got, want)
		}
		release(t, first)
		release(t, second)
		release(t, other)
	})
}

// A new grant must not make a scope look alive that has lost what it held.
func TestLease_lossIsNoticedBeforeTheNextGrant(t *testing.T) {
	l, _ := newLocker()
	lock := acquire(t.Context(), t, l, "X /a")
	testerr.Must(t, l.ForceRelease(t.Context(), lock.Tree(), l.Scope(lock.Context()).Owner()))
	testerr.Is(t, "acquire", testerr.Of(l.Acquire(lock.Context(), request(t, "X /b"))), pathlock.ErrLost)
	if cause := context.Cause(lock.Context()); !errors.Is(cause, pathlock.ErrLost) {
		t.Errorf("cause %v, want ErrLost", cause)
	}
	testerr.Is(t, "release", lock.Release(t.Context()), pathlock.ErrLost)
	free(t, l, "X /", true)
}

// The answer to a renewal that was under way while the scope let go of everything and took
// something else must not be taken for the loss of the latter.
func TestLease_renewalThatCrossesAReleaseIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		scope := l.Scope(t.Context())
		first := acquire(scope.Context(t.Context()), t, l, "X /a")
		second := acquire(scope.Context(t.Context()), t, l, "X /keep")
		asked, answer := make(chan struct{}), make(chan struct{})
		store.hook(hooks{renew: func(leases []pathlock.Lease) ([]pathlock.Owner, error) {
			close(asked)
			<-answer
			return []pathlock.Owner{leases[0].Owner}, nil
		}})
		<-asked
		third := acquire(scope.Context(t.Context()), t, l, "X /b")
		release(t, first)
		release(t, second)
		close(answer)
		synctest.Wait()
		if err := third.Context().Err(); err != nil {
			t.Errorf("the new lock was called lost: %v", context.Cause(third.Context()))
		}
		store.hook(hooks{})
		release(t, third)
	})
}

func TestLease_lossBesideAnErrorCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		gone, stays := acquire(t.Context(), t, l, "X /gone"), acquire(t.Context(), t, l, "X /stays")
		store.hook(hooks{renew: func([]pathlock.Lease) ([]pathlock.Owner, error) {
			return []pathlock.Owner{l.Scope(gone.Context()).Owner()}, pathlock.ErrUnavailable
		}})
		time.Sleep(10*time.Second + time.Millisecond)
		if cause := context.Cause(gone.Context()); !errors.Is(cause, pathlock.ErrLost) {
			t.Errorf("the lost lock: %v, want ErrLost", cause)
		}
		if err := stays.Context().Err(); err != nil {
			t.Errorf("the other lock: %v", context.Cause(stays.Context()))
		}
		store.hook(hooks{})
		_ = gone.Release(t.Context())
		release(t, stays)
	})
}

// What a lock's context says must not depend on whether anybody asked it before.
func TestContext_endsWhetherItWasAskedOrNot(t *testing.T) {
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
			testerr.Must(t, store.ForceRelease(t.Context(), lock.Tree(), scope.Owner()))
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

func TestContext_carriesWhatTheOuterOneDoes(t *testing.T) {
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
func TestContext_saysWhenADeadlineCameFirst(t *testing.T) {
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

// A release by force ends the context of a holder in the same process at once: in virtual time, no
// moment passes.
func TestForceRelease_endsAHolderOfThisProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLocker()
		lock, other := acquire(t.Context(), t, l, "X /a"), acquire(t.Context(), t, l, "X /b")
		forced := time.Now()
		testerr.Must(t, l.ForceRelease(t.Context(), lock.Tree(), l.Scope(lock.Context()).Owner()))
		<-lock.Context().Done()
		if cause := context.Cause(lock.Context()); !errors.Is(cause, pathlock.ErrLost) || time.Since(forced) > 0 {
			t.Errorf("the context ended %v late, because of %v", time.Since(forced), cause)
		}
		testerr.Is(t, "release", lock.Release(t.Context()), pathlock.ErrLost)
		release(t, other)
	})
}
