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

func TestWhatAKilledProcessTookUnderAHoldEndsWithinOneLease(t *testing.T) {
	for _, opts := range [][]pathlock.AttachOption{nil, {pathlock.WithoutRenewal()}} {
		synctest.Test(t, func(t *testing.T) {
			p := newProcesses()
			token := detached(t, p.here, "X /a")
			end := time.Now().Add(10 * time.Minute)
			dying, store := p.mortal()
			lock := attach(t, dying, token, opts...)
			inner := acquire(lock.Context(), t, dying, "X /b")
			time.Sleep(5 * time.Minute) // it is renewed
			free(t, p.there, "X /b", false)
			if err := inner.Context().Err(); err != nil {
				t.Fatalf("lost: %v", context.Cause(inner.Context()))
			}
			store.hook(down(pathlock.ErrUnavailable))
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
						if _, err := lock.Detach(t.Context()); err != nil {
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

func TestWhatStaysWithAHoldLivesAndEndsAsItDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses()
		token := detached(t, p.here, "X /a")
		end := time.Now().Add(10 * time.Minute)
		dying, store := p.mortal()
		lock := attach(t, dying, token, pathlock.WithoutRenewal())
		time.Sleep(9 * time.Minute) // a lease from now would nearly outlive the hold
		time.Sleep(45 * time.Second)
		inner := acquire(lock.Context(), t, dying, "X /b, S /c")
		other := acquire(inner.Context(), t, dying, "X /b, S /a/below")
		if other.Fence() != inner.Fence() {
			t.Errorf("what is held has got another grant, with the fence %d after %d", other.Fence(), inner.Fence())
		}
		if got, err := inner.Detach(t.Context()); err != nil || got != token || !inner.Until().Equal(end) {
			t.Errorf("detached as %v until %v, %v; want %v until %v", got, inner.Until(), err, token, end)
		}
		if inner.Context().Err() == nil {
			t.Error("its context outlives Detach")
		}
		if _, err := inner.Detach(t.Context()); !errors.Is(err, pathlock.ErrNotHeld) {
			t.Errorf("detached twice: %v, want ErrNotHeld", err)
		}
		release(t, other)
		snapshot, err := p.here.Snapshot(t.Context(), lock.Tree())
		if err != nil || len(snapshot.Holders) != 2 {
			t.Errorf("%d grants, %v; want the hold's and what stays", len(snapshot.Holders), err)
		}
		store.hook(down(pathlock.ErrUnavailable))
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

// A hold that another process has released does not come to life again by what stays with it.
func TestNothingStaysWithAHoldThatHasEndedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses()
		token := detached(t, p.here, "X /a")
		lock := attach(t, p.there, token)
		inner := acquire(lock.Context(), t, p.there, "X /b")
		if err := p.here.ReleaseToken(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		_, err := inner.Detach(t.Context())
		gone(t, "detach", err)
		free(t, p.here, "X /", true)
		_ = inner.Release(t.Context())
		_ = lock.Release(t.Context())
	})
}

// The release of an attached lock ends the hold when nothing relies on it here any more.
func TestTheReleaseOfAHoldWaitsForWhatWasTakenUnderIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses()
		lock := attach(t, p.there, detached(t, p.here, "X /a"), pathlock.WithoutRenewal())
		inner, below := acquire(lock.Context(), t, p.there, "X /b"), acquire(lock.Context(), t, p.there, "X /a/below")
		release(t, lock)
		if _, err := inner.Detach(t.Context()); !errors.Is(err, pathlock.ErrNotHeld) {
			t.Errorf("what stays with a hold that was released: %v, want ErrNotHeld", err)
		}
		time.Sleep(time.Minute)
		free(t, p.here, "X /a", false)
		free(t, p.here, "X /b", false)
		release(t, inner)
		free(t, p.here, "X /a", false)
		release(t, below)
		free(t, p.here, "X /", true)
	})
}

// A store that fails while something is to stay keeps nothing of it, and the lock can be released.
func TestAFailureToStayLeavesTheLockAsItIs(t *testing.T) {
	store := &unheard{Store: memstore.New()}
	l := pathlock.New(store, quiet)
	lock := attach(t, l, detached(t, l, "X /a"), pathlock.WithoutRenewal())
	inner := acquire(lock.Context(), t, l, "X /b")
	store.lost = pathlock.ErrUnavailable
	if _, err := inner.Detach(t.Context()); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("detach: %v, want ErrUnavailable", err)
	}
	if err := inner.Context().Err(); err != nil {
		t.Errorf("the lock has ended: %v", context.Cause(inner.Context()))
	}
	store.lost = nil
	release(t, inner)
	free(t, l, "X /b", true)
	free(t, l, "X /a", false)
}

// Several requests use a hold at once. What each takes under it is its own, and stays while the
// others let go.
func TestWhatIsTakenUnderAHoldIsTheTakersOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses()
		token := detached(t, p.here, "X /a")
		one, two := attach(t, p.there, token), attach(t, p.another, token, pathlock.WithoutRenewal())
		mine := acquire(one.Context(), t, p.there, "X /b")
		same := acquire(two.Context(), t, p.another, "X /b")
		three := attach(t, p.here, token)
		if got, want := written(three.Claims()), written(two.Claims()); got != want {
			t.Errorf("attached with %s, want %s", got, want)
		}
		release(t, mine)
		for _, lock := range []*pathlock.Lock{one, two, three} {
			if got, err := lock.Detach(t.Context()); err != nil || got != token || lock.Context().Err() == nil {
				t.Errorf("let go: %v, %v", got, err)
			}
		}
		time.Sleep(time.Minute) // it is renewed all the same
		free(t, p.here, "X /b", false)
		release(t, same)
		free(t, p.here, "X /b", true)
		free(t, p.here, "X /a", false)
		if _, err := one.Detach(t.Context()); !errors.Is(err, pathlock.ErrNotHeld) {
			t.Errorf("let go again: %v", err)
		}
	})
}
