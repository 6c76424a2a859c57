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
	"github.com/pathlock-go/pathlock/store/memstore"
)

// slow is a store whose grants take their time to arrive.
type slow struct {
	*watched
	takes time.Duration
	// asked is how long before its arrival a grant was asked for; negative is that the store cannot tell.
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

func TestALeaseIsCountedFromWhenTheGrantWasAskedFor(t *testing.T) {
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
				if err != nil {
					t.Fatal(err)
				}
				granted := []string{"acquire IX /, X /a"}
				if tt.renewed > 0 {
					time.Sleep(tt.renewed - 1)
					synctest.Wait()
					if got := store.called(); !slices.Equal(got, granted) {
						t.Errorf("%v, want no renewal yet", got)
					}
					granted = nil
					time.Sleep(1)
				}
				synctest.Wait()
				if got, want := store.called(), append(granted, "renew 1 in plan"); !slices.Equal(got, want) {
					t.Errorf("%v, want %v", got, want)
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

// hung is a store that does not answer renewals in one tree, nor of one lease, and heeds no deadline.
type hung struct {
	*watched
	tree  string
	lease time.Duration
	until chan struct{}
}

func (s hung) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	if deadline, ok := ctx.Deadline(); !ok || !deadline.After(time.Now()) {
		return nil, fmt.Errorf("a renewal whose deadline is %v", deadline)
	}
	if tree.ID() == s.tree || slices.ContainsFunc(leases, func(l pathlock.Lease) bool { return l.For == s.lease }) {
		<-s.until
	}
	return s.watched.Renew(ctx, tree, leases)
}

func TestARenewalThatHangsHoldsUpNobodyElseAndNoLease(t *testing.T) {
	const lease = 30 * time.Second
	for _, tt := range []struct {
		what string
		hung hung
	}{
		{"in another tree", hung{tree: "hung"}},
		{"for another hold of the tree", hung{lease: lease}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := tt.hung
				store.watched, store.until = &watched{Store: memstore.New()}, make(chan struct{})
				l := pathlock.New(store, quiet)
				req := request(t, "X /a")
				req.Lease = lease
				if store.tree != "" {
					req.Tree = tree(t, store.tree)
				}
				doomed, err := l.Acquire(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(4 * time.Second)
				req = request(t, "X /b")
				req.Lease = lease - time.Second
				well, err := l.Acquire(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				ctx := doomed.Context()
				time.Sleep(lease - 4*time.Second - 1)
				if err := ctx.Err(); err != nil {
					t.Errorf("ended before its lease: %v", context.Cause(ctx))
				}
				time.Sleep(1)
				synctest.Wait()
				select {
				case <-ctx.Done():
				default:
					t.Error("the lock's context outlives its lease")
				}
				if cause := context.Cause(ctx); !errors.Is(cause, pathlock.ErrLost) {
					t.Errorf("cause %v, want ErrLost", cause)
				}
				if err := doomed.Release(t.Context()); !errors.Is(err, pathlock.ErrLost) {
					t.Errorf("release: %v, want ErrLost", err)
				}
				time.Sleep(10 * time.Minute)
				if err := well.Context().Err(); err != nil {
					t.Errorf("another lock was lost: %v", context.Cause(well.Context()))
				}
				close(store.until)
				synctest.Wait()
				release(t, well)
			})
		})
	}
}

// A renewal that takes nearly as long as the lease is no reason to lose it, if it comes in time.
func TestARenewalThatAnswersLateStillCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		lock := acquire(t.Context(), t, l, "X /a")
		store.renewBy(func(tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
			lost, err := store.Store.Renew(t.Context(), tree, leases)
			time.Sleep(15 * time.Second)
			return lost, err
		})
		time.Sleep(10 * time.Minute)
		if err := lock.Context().Err(); err != nil {
			t.Errorf("lost: %v", context.Cause(lock.Context()))
		}
		store.renewBy(nil)
		release(t, lock)
		time.Sleep(time.Minute) // the last renewals answer
	})
}

// Whoever asks is told at once; whoever waits for Done is within a second.
func TestAHostThatWasSuspendedPastALeaseDoesNotBelieveInIt(t *testing.T) {
	for what, ask := range map[string]func(*testing.T, *pathlock.Locker, *pathlock.Lock, context.Context) error{
		"Err": func(_ *testing.T, _ *pathlock.Locker, _ *pathlock.Lock, ctx context.Context) error { return ctx.Err() },
		"Cause": func(_ *testing.T, _ *pathlock.Locker, _ *pathlock.Lock, ctx context.Context) error {
			return context.Cause(ctx)
		},
		"a context made of it": func(_ *testing.T, _ *pathlock.Locker, _ *pathlock.Lock, ctx context.Context) error {
			ctx, stop := context.WithTimeout(ctx, time.Hour)
			defer stop()
			return context.Cause(ctx)
		},
		"re-entry": func(t *testing.T, l *pathlock.Locker, _ *pathlock.Lock, ctx context.Context) error {
			_, err := l.Acquire(ctx, request(t, "X /a"))
			return err
		},
		"re-entry by the scope": func(t *testing.T, l *pathlock.Locker, _ *pathlock.Lock, ctx context.Context) error {
			_, err := l.Acquire(l.Scope(ctx).Context(t.Context()), request(t, "X /a"))
			return err
		},
		"the release": func(t *testing.T, _ *pathlock.Locker, lock *pathlock.Lock, _ context.Context) error {
			return lock.Release(t.Context())
		},
		"Detach": func(_ *testing.T, _ *pathlock.Locker, lock *pathlock.Lock, _ context.Context) error {
			_, err := lock.Detach()
			return err
		},
		"Done, a second later": func(_ *testing.T, _ *pathlock.Locker, _ *pathlock.Lock, ctx context.Context) error {
			done := ctx.Done()
			time.Sleep(time.Second)
			synctest.Wait()
			select {
			case <-done:
				return context.Cause(ctx)
			default:
				return nil
			}
		},
	} {
		for _, suspended := range []time.Duration{29 * time.Second, 30 * time.Second} {
			t.Run(fmt.Sprintf("%s after %v", what, suspended), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l, _ := newLocker(pathlock.WithLease(30 * time.Second))
					lock := acquire(t.Context(), t, l, "X /a")
					ctx := lock.Context()
					if what == "Done, a second later" {
						time.Sleep(500 * time.Millisecond)
						ctx.Done()
						suspended -= 500 * time.Millisecond
						if suspended < 29*time.Second {
							suspended -= time.Second
						}
					}
					pathlock.SuspendHost(l, suspended)
					err := ask(t, l, lock, ctx)
					lost := errors.Is(err, pathlock.ErrLost) || what == "Err" && errors.Is(err, context.Canceled)
					if want := suspended >= 29*time.Second+500*time.Millisecond; lost != want {
						t.Errorf("told %v, which says lost: %v, want %v", err, lost, want)
					}
					_ = lock.Release(t.Context())
				})
			})
		}
	}
}

// Whatever came of the lease, the next grant of the scope is one of its own.
func TestAScopeBeginsAnewAfterItsLeaseHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, store := newLocker(pathlock.WithLease(30 * time.Second))
		scope := l.Scope(t.Context())
		old := acquire(scope.Context(t.Context()), t, l, "X /a")
		store.renewBy(func(pathlock.Tree, []pathlock.Lease) ([]pathlock.Owner, error) { return nil, pathlock.ErrUnavailable })
		time.Sleep(30 * time.Second)
		synctest.Wait()
		store.renewBy(nil)
		again := acquire(scope.Context(t.Context()), t, l, "X /a")
		if err := old.Release(t.Context()); !errors.Is(err, pathlock.ErrLost) {
			t.Errorf("release of the lost lock: %v, want ErrLost", err)
		}
		time.Sleep(time.Hour)
		if err := again.Context().Err(); err != nil {
			t.Errorf("the new lock ended with the old one: %v", context.Cause(again.Context()))
		}
		free(t, l, "X /a", false)
		release(t, again)
		free(t, l, "X /", true)
	})
}

func TestAFailureToRenewIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &watched{Store: memstore.New()}
		log := &counting{}
		l := pathlock.New(store, pathlock.WithLogger(log.logger()), pathlock.WithLease(30*time.Second))
		lock := acquire(t.Context(), t, l, "X /a")
		for outage := range 2 {
			store.renewBy(func(pathlock.Tree, []pathlock.Lease) ([]pathlock.Owner, error) { return nil, pathlock.ErrUnavailable })
			time.Sleep(15 * time.Second)
			store.renewBy(nil)
			time.Sleep(time.Minute)
			if got := log.warnings(); got != outage+1 {
				t.Errorf("%d warnings after %d outages", got, outage+1)
			}
		}
		release(t, lock)
	})
}
