package pathlock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// mortal is a process that can be killed: the store hears of it no more, neither renewals nor
// releases.
func mortal(p processes) (l *pathlock.Locker, store *watched, kill func()) {
	store = &watched{Store: p.store}
	transfers := &cutOff{TransferStore: p.store}
	l = pathlock.New(transferring{store, transfers}, quiet, pathlock.WithLease(30*time.Second))
	return l, store, func() {
		store.renewBy(func(pathlock.Tree, []pathlock.Lease) ([]pathlock.Owner, error) { return nil, pathlock.ErrUnavailable })
		store.releaseBy(func() error { return pathlock.ErrUnavailable })
		transfers.cut.Store(true)
	}
}

func TestWhatAKilledProcessTookUnderAHoldEndsWithinOneLease(t *testing.T) {
	for _, gate := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := newProcesses()
			token := detached(t, p.here, "X /a")
			end := time.Now().Add(10 * time.Minute)
			dying, _, kill := mortal(p)
			lock := attach(t, dying, token, pathlock.WithoutRenewal())
			req := request(t, "X /b")
			req.Gate = gate
			inner, err := dying.Acquire(lock.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Minute) // it is renewed
			free(t, p.there, "X /b", false)
			if err := inner.Context().Err(); err != nil {
				t.Fatalf("lost: %v", context.Cause(inner.Context()))
			}
			kill()
			time.Sleep(30 * time.Second)
			free(t, p.there, "X /b", true)
			gone(t, "the inner lock's context", context.Cause(inner.Context()))
			time.Sleep(time.Until(end) - 1)
			free(t, p.there, "X /a", false)
			time.Sleep(time.Nanosecond)
			free(t, p.there, "X /", true)
			_ = inner.Release(t.Context())
			_ = lock.Release(t.Context())
			_ = dying.Shutdown(t.Context())
		})
	}
}

func TestWhatIsTakenUnderAHoldEndsWithItAndSaysSo(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(t *testing.T, p processes, token pathlock.Token) // ends it at once, or
		wait time.Duration                                         // that long after the inner lock was taken
	}{
		"by the clock":           {func(*testing.T, processes, pathlock.Token) {}, 10 * time.Minute},
		"earlier, by a refresh":  {func(t *testing.T, p processes, token pathlock.Token) { refresh(t, p.here, token, 5*time.Second) }, 5 * time.Second},
		"by whoever releases it": {func(t *testing.T, p processes, token pathlock.Token) { _ = p.here.ReleaseToken(t.Context(), token) }, time.Second},
	} {
		for _, left := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newProcesses()
					token := detached(t, p.here, "X /a")
					lock := attach(t, p.there, token, pathlock.WithoutRenewal())
					works := p.there.Scope(lock.Context()).Context(t.Context())
					inner, again := acquire(works, t, p.there, "X /b"), acquire(works, t, p.there, "X /b/c")
					if left { // the inner locks rely on the hold all the same
						if _, err := lock.Detach(); err != nil {
							t.Fatal(err)
						}
					}
					tt.end(t, p, token)
					time.Sleep(tt.wait)
					synctest.Wait()
					free(t, p.here, "X /", true)
					gone(t, "the inner lock's context", context.Cause(inner.Context()))
					gone(t, "the re-entrant lock's context", context.Cause(again.Context()))
					_, err := p.there.Acquire(works, request(t, "X /c"))
					gone(t, "a further acquisition", err)
					gone(t, "its release", again.Release(t.Context()))
					gone(t, "its release", inner.Release(t.Context()))
					free(t, p.here, "X /", true)
				})
			})
		}
	}
}

func refresh(t *testing.T, l *pathlock.Locker, token pathlock.Token, d time.Duration) {
	t.Helper()
	if _, err := l.Refresh(t.Context(), token, d); err != nil {
		t.Fatal(err)
	}
}

// The last moments of a hold are too short for anything; that is the hold's end, and not the
// store's failure.
func TestAnAcquisitionAtTheEndOfAHoldSaysThatItHasEnded(t *testing.T) {
	for _, left := range []time.Duration{2*pathlock.MinLease - 1, 1, 0} {
		synctest.Test(t, func(t *testing.T) {
			p := newProcesses()
			lock := attach(t, p.there, detached(t, p.here, "X /a"), pathlock.WithoutRenewal())
			time.Sleep(10*time.Minute - left)
			_, err := p.there.Acquire(p.there.Scope(lock.Context()).Context(t.Context()), request(t, "X /b"))
			gone(t, "with "+left.String()+" left", err)
			time.Sleep(left)
			gone(t, "the hold's release", lock.Release(t.Context()))
		})
	}
}

// A hold that is renewed here, and lost by the clock because the store does not answer, is its
// holder's loss as well.
func TestARenewedHoldThatEndsByTheClockSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses()
		l, _, kill := mortal(p)
		lock := attach(t, l, detached(t, p.here, "X /a"))
		inner := acquire(lock.Context(), t, l, "X /b")
		kill()
		time.Sleep(30 * time.Second)
		_, err := l.Acquire(l.Scope(lock.Context()).Context(t.Context()), request(t, "X /a"))
		gone(t, "an acquisition", err)
		gone(t, "the hold's context", context.Cause(lock.Context()))
		gone(t, "the inner lock's context", context.Cause(inner.Context()))
		_, _ = lock.Release(t.Context()), inner.Release(t.Context())
		_ = l.Shutdown(t.Context())
	})
}

func TestAcquisitionsReEnterWhatIsTakenUnderAHold(t *testing.T) {
	p := newProcesses()
	l, store, _ := mortal(p)
	lock := attach(t, l, detached(t, p.here, "X /a"), pathlock.WithoutRenewal())
	inner := acquire(lock.Context(), t, l, "X /b")
	store.called()
	again := []*pathlock.Lock{acquire(inner.Context(), t, l, "X /b/c"), acquire(inner.Context(), t, l, "X /a/c, S /b")}
	if calls := store.called(); len(calls) > 0 {
		t.Errorf("the store was asked: %v", calls)
	}
	release(t, inner)
	free(t, p.here, "X /b", false) // others rely on it
	release(t, again[0])
	release(t, again[1])
	free(t, p.here, "X /b", true)
	free(t, p.here, "X /a", false)
	if _, err := lock.Detach(); err != nil {
		t.Error(err)
	}
	free(t, p.here, "X /a", false)
}

func TestWhatStaysWithAHoldLivesAndEndsAsItDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses()
		token := detached(t, p.here, "X /a")
		end := time.Now().Add(10 * time.Minute)
		dying, _, kill := mortal(p)
		lock := attach(t, dying, token, pathlock.WithoutRenewal())
		time.Sleep(9 * time.Minute) // a lease from now would nearly outlive the hold
		time.Sleep(45 * time.Second)
		inner := acquire(lock.Context(), t, dying, "X /b, S /c")
		other := acquire(inner.Context(), t, dying, "X /b")
		if got, err := inner.Detach(); err != nil || got != token || !inner.Until().Equal(end) {
			t.Errorf("detached as %v until %v, %v; want %v until %v", got, inner.Until(), err, token, end)
		}
		if inner.Context().Err() == nil {
			t.Error("its context outlives Detach")
		}
		if _, err := inner.Detach(); !errors.Is(err, pathlock.ErrNotHeld) {
			t.Errorf("detached twice: %v, want ErrNotHeld", err)
		}
		release(t, other)
		snapshot, err := p.here.Snapshot(t.Context(), lock.Tree())
		if err != nil || len(snapshot.Holders) != 2 {
			t.Errorf("%d grants, %v; want the hold's and what stays", len(snapshot.Holders), err)
		}
		kill()
		time.Sleep(time.Until(end) - 1)
		for _, text := range []string{"X /a", "X /b", "X /c"} {
			free(t, p.there, text, false)
		}
		time.Sleep(time.Nanosecond)
		free(t, p.there, "X /", true)
		_ = lock.Release(t.Context())
		_ = dying.Shutdown(t.Context())
	})
}

func TestWhatStaysWithAHoldOutlivesTheProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses()
		dying, _, kill := mortal(p)
		lock := attach(t, dying, detached(t, p.here, "X /a"), pathlock.WithoutRenewal())
		if _, err := acquire(lock.Context(), t, dying, "X /b").Detach(); err != nil {
			t.Fatal(err)
		}
		kill()
		time.Sleep(time.Minute)
		free(t, p.there, "X /b", false)
		_ = lock.Release(t.Context())
		_ = dying.Shutdown(t.Context())
	})
}

// What one request takes for itself is no part of what others attach.
func TestAttachLeavesAloneWhatOthersHaveTakenUnderTheHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses()
		token := detached(t, p.here, "X /a")
		one := attach(t, p.there, token, pathlock.WithoutRenewal())
		inner := acquire(one.Context(), t, p.there, "X /b")
		two := attach(t, p.another, token, pathlock.WithoutRenewal())
		if got, want := written(two.Claims()), written(one.Claims()); got != want {
			t.Errorf("attached with %s, want %s", got, want)
		}
		release(t, inner)
		time.Sleep(time.Minute)
		if err := two.Context().Err(); err != nil {
			t.Errorf("lost: %v", context.Cause(two.Context()))
		}
		release(t, two)
		free(t, p.here, "X /", true)
		_ = one.Release(t.Context())
	})
}

// The release of an attached lock ends the hold when nothing relies on it here any more.
func TestTheReleaseOfAHoldWaitsForWhatWasTakenUnderIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses()
		lock := attach(t, p.there, detached(t, p.here, "X /a"), pathlock.WithoutRenewal())
		inner := acquire(lock.Context(), t, p.there, "X /b")
		release(t, lock)
		if _, err := inner.Detach(); !errors.Is(err, pathlock.ErrNotHeld) {
			t.Errorf("what stays with a hold that was released: %v, want ErrNotHeld", err)
		}
		time.Sleep(time.Minute)
		free(t, p.here, "X /a", false)
		free(t, p.here, "X /b", false)
		release(t, inner)
		free(t, p.here, "X /", true)
	})
}

// A store that fails while something is to stay keeps nothing of it, and the lock can be released.
func TestAFailureToStayLeavesTheLockAsItIs(t *testing.T) {
	store := &refusing{Store: memstore.New()}
	l := pathlock.New(store, quiet)
	lock := attach(t, l, detached(t, l, "X /a"), pathlock.WithoutRenewal())
	inner := acquire(lock.Context(), t, l, "X /b")
	store.refuses = true
	if _, err := inner.Detach(); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("detach: %v, want ErrUnavailable", err)
	}
	if err := inner.Context().Err(); err != nil {
		t.Errorf("the lock has ended: %v", context.Cause(inner.Context()))
	}
	store.refuses = false
	release(t, inner)
	free(t, l, "X /b", true)
	free(t, l, "X /a", false)
}

// refusing is a store that grants, and says that it could not.
type refusing struct {
	*memstore.Store
	refuses bool
}

func (s *refusing) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	g, err := s.Store.Acquire(ctx, a)
	if s.refuses {
		err = pathlock.ErrUnavailable
	}
	return g, err
}
