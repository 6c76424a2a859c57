package pathlock_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// processes are lockers on one store, as of several processes.
type processes struct {
	store       pathlock.Store
	here, there *pathlock.Locker
	another     *pathlock.Locker
}

func newProcesses() processes {
	store := memstore.New()
	newLocker := func() *pathlock.Locker {
		return pathlock.New(store, quiet, pathlock.WithLease(30*time.Second))
	}
	return processes{store, newLocker(), newLocker(), newLocker()}
}

// mortal is a process that dies when its store's hooks are down: the store hears of it no more.
func (p processes) mortal() (*pathlock.Locker, *watched) {
	store := &watched{Store: p.store}
	return pathlock.New(store, quiet, pathlock.WithLease(30*time.Second)), store
}

// detached takes a lock and detaches it, for ten minutes.
func detached(t *testing.T, l *pathlock.Locker, text string) pathlock.Token {
	t.Helper()
	req := request(t, text)
	req.Lease = 10 * time.Minute
	lock, err := l.Acquire(t.Context(), req)
	testerr.Must(t, err)
	token, err := lock.Detach(t.Context())
	testerr.Must(t, err)
	return token
}

func attach(t *testing.T, l *pathlock.Locker, token pathlock.Token, opts ...pathlock.AttachOption) *pathlock.Lock {
	t.Helper()
	lock, err := l.Attach(t.Context(), token, opts...)
	testerr.MustBe(t, "attach", err, nil)
	return lock
}

// gone fails the test unless err says that a token's hold has ended.
func gone(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, pathlock.ErrLost) || pathlock.FailureOf(err) != pathlock.FailureLockLost {
		t.Errorf("%s: %v (%s), want ErrLost that says %s", what, err, pathlock.FailureOf(err), pathlock.FailureLockLost)
	}
}

func TestDetach_holdLivesUntilItsLeaseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses()
		req := request(t, "X /a")
		req.Lease = 10 * time.Minute
		lock, err := p.here.Acquire(t.Context(), req)
		testerr.Must(t, err)
		time.Sleep(5 * time.Minute)
		token, err := lock.Detach(t.Context())
		testerr.Must(t, err)
		if want := time.Now().Add(10 * time.Minute); !lock.Until().Equal(want) {
			t.Errorf("the hold ends at %v, want %v", lock.Until(), want)
		}
		if lock.Context().Err() == nil {
			t.Error("the lock's context outlives Detach")
		}
		testerr.Is(t, "released after Detach", lock.Release(t.Context()), pathlock.ErrNotHeld)
		testerr.Is(t, "detached twice", testerr.Of(lock.Detach(t.Context())), pathlock.ErrNotHeld)
		time.Sleep(10*time.Minute - 1)
		free(t, p.there, "X /a", false)
		time.Sleep(time.Nanosecond)
		free(t, p.there, "X /a", true)
		_, err = p.there.Attach(t.Context(), token)
		gone(t, "attach", err)
		_, err = p.there.Refresh(t.Context(), token, time.Minute)
		gone(t, "refresh", err)
		gone(t, "release", p.there.ReleaseToken(t.Context(), token))
	})
}

func TestAttach_makesATokenALockAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses()
		token := detached(t, p.here, "X /a, S /b")
		lock := attach(t, p.there, token)
		inner := acquire(lock.Context(), t, p.there, "X /a/below, S /b")
		if inner.Fence() != lock.Fence() || lock.Fence() == 0 {
			t.Errorf("fences %d and %d, want the detached grant's", inner.Fence(), lock.Fence())
		}
		further := acquire(lock.Context(), t, p.there, "X /c")
		time.Sleep(time.Hour) // it is renewed
		free(t, p.here, "X /a", false)
		release(t, further)
		free(t, p.here, "X /c", true)
		release(t, inner)
		release(t, lock)
		free(t, p.here, "X /", true)
		_, err := p.here.Attach(t.Context(), token)
		gone(t, "attach", err)
	})
}

func TestAttach_firstReleaseEndsTheHoldForAll(t *testing.T) {
	for name, end := range map[string]func(*testing.T, processes, *pathlock.Lock, pathlock.Token){
		"released": func(t *testing.T, _ processes, lock *pathlock.Lock, _ pathlock.Token) { release(t, lock) },
		"released by its token": func(t *testing.T, p processes, _ *pathlock.Lock, token pathlock.Token) {
			testerr.Must(t, p.here.ReleaseToken(t.Context(), token))
		},
		"released by force": func(t *testing.T, p processes, lock *pathlock.Lock, _ pathlock.Token) {
			testerr.Must(t, p.here.ForceRelease(t.Context(), lock.Tree(), p.there.Scope(lock.Context()).Owner()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProcesses()
				token := detached(t, p.here, "X /a")
				first := attach(t, p.there, token)
				others := []*pathlock.Lock{attach(t, p.another, token), attach(t, p.another, token, pathlock.WithoutRenewal())}
				// What the others hold besides must not make the hold look alive.
				besides := []*pathlock.Lock{acquire(others[0].Context(), t, p.another, "X /b"), acquire(others[1].Context(), t, p.another, "X /c")}
				end(t, p, first, token)
				free(t, p.here, "X /", true)
				time.Sleep(time.Second)
				synctest.Wait()
				for _, lock := range append(others, besides...) {
					gone(t, "the other's context", context.Cause(lock.Context()))
					testerr.Is(t, "the other's release", lock.Release(t.Context()), pathlock.ErrLost)
				}
			})
		})
	}
}

func TestRefreshSetsAnotherEndAlsoAnEarlierOne(t *testing.T) {
	for _, d := range []time.Duration{20 * time.Minute, 5 * time.Second} {
		t.Run(d.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProcesses()
				token := detached(t, p.here, "X /a")
				time.Sleep(time.Minute)
				lock := attach(t, p.another, token, pathlock.WithoutRenewal())
				time.Sleep(time.Minute)
				end := time.Now().Add(d)
				if until, err := p.there.Refresh(t.Context(), token, d); err != nil || !until.Equal(end) {
					t.Errorf("refreshed until %v, %v; want %v", until, err, end)
				}
				time.Sleep(time.Second) // the other process looks once a second
				synctest.Wait()
				if !lock.Until().Equal(end) {
					t.Errorf("where it is attached it ends at %v, want %v", lock.Until(), end)
				}
				time.Sleep(time.Until(end) - 1)
				free(t, p.here, "X /a", false)
				if err := lock.Context().Err(); err != nil {
					t.Errorf("ended too soon: %v", context.Cause(lock.Context()))
				}
				time.Sleep(time.Nanosecond)
				synctest.Wait()
				free(t, p.here, "X /a", true)
				if cause := context.Cause(lock.Context()); !errors.Is(cause, pathlock.ErrLost) {
					t.Errorf("cause %v, want ErrLost", cause)
				}
				_ = lock.Release(t.Context())
			})
		})
	}
}

// Others may have ended the hold, or shortened it, since the store was asked last: where it does
// not answer, nobody believes in the hold for longer than a lease, however long it was to last.
func TestAttach_believesInAHoldForOneLease(t *testing.T) {
	for _, opts := range [][]pathlock.AttachOption{nil, {pathlock.WithoutRenewal()}} {
		synctest.Test(t, func(t *testing.T) {
			p := newProcesses()
			l, store := p.mortal()
			lock := attach(t, l, detached(t, p.here, "X /a"), opts...)
			time.Sleep(time.Minute)
			store.hook(down(pathlock.ErrUnavailable))
			time.Sleep(29*time.Second - 1)
			if err := lock.Context().Err(); err != nil {
				t.Errorf("ended too soon: %v", context.Cause(lock.Context()))
			}
			time.Sleep(time.Second + 1)
			synctest.Wait()
			if cause := context.Cause(lock.Context()); !errors.Is(cause, pathlock.ErrLost) || !errors.Is(cause, pathlock.ErrUnavailable) {
				t.Errorf("%d options: cause %v, want ErrLost because of ErrUnavailable", len(opts), cause)
			}
			_ = lock.Release(t.Context())
		})
	}
}

func TestDetachIsRefusedWhileOthersRelyOnTheHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses()
		lock := acquire(t.Context(), t, p.here, "X /a")
		refused := func(why string) {
			t.Helper()
			if _, err := lock.Detach(t.Context()); !errors.Is(err, pathlock.ErrInvalidRequest) {
				t.Errorf("detached with %s: %v, want ErrInvalidRequest", why, err)
			}
		}
		inner := acquire(lock.Context(), t, p.here, "X /a/below")
		refused("an inner lock")
		release(t, inner)
		besides := acquire(lock.Context(), t, p.here, "X /b")
		refused("another lock of the scope")
		release(t, besides)
		testerr.Is(t, "after all that has ended", testerr.Of(lock.Detach(t.Context())), nil)
	})
}

// unheard is a store that does what it is asked, and whose answers are lost.
type unheard struct {
	pathlock.Store
	lost error
}

func (s *unheard) Transfer(ctx context.Context, tr pathlock.Transfer) (pathlock.Transferred, error) {
	done, err := s.Store.Transfer(ctx, tr)
	return done, cmp.Or(s.lost, err)
}

func (s *unheard) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	g, err := s.Store.Acquire(ctx, a)
	return g, cmp.Or(s.lost, err)
}

// Nobody has the token then: what it names must not stay.
func TestDetach_lostAnswerLeavesNothingBehind(t *testing.T) {
	store := &unheard{Store: memstore.New()}
	l := pathlock.New(store, quiet)
	lock := acquire(t.Context(), t, l, "X /a")
	store.lost = pathlock.ErrUnavailable
	testerr.Is(t, "detach", testerr.Of(lock.Detach(t.Context())), pathlock.ErrUnavailable)
	store.lost = nil
	_ = lock.Release(t.Context())
	testerr.None(t, l.Shutdown(t.Context()))
	free(t, l, "X /", true)
}

func TestToken_refusesWhatIsNone(t *testing.T) {
	p := newProcesses()
	good := string(detached(t, p.here, "X /a"))
	none := []string{"", "x", good + "x", good[1:], strings.Replace(good, ".", "..", 1), strings.ToLower(good)}
	for i := range good {
		other := "A"
		if good[i] == 'A' {
			other = "B"
		}
		none = append(none, good[:i]+other+good[i+1:])
	}
	// Anybody can compute a checksum.
	body := good[strings.IndexByte(good, '.'):strings.LastIndexByte(good, '.')]
	for _, owner := range []string{"d-", "d-x", "d-" + strings.Repeat("A", 25) + "\n", "d-" + strings.Repeat("A", 27), strings.Repeat("A", 28)} {
		sum := sha256.Sum256([]byte(owner + body))
		none = append(none, owner+body+"."+base64.RawURLEncoding.EncodeToString(sum[:6]))
	}
	for _, text := range none {
		token := pathlock.Token(text)
		_, attached := p.here.Attach(t.Context(), token)
		_, refreshed := p.here.Refresh(t.Context(), token, time.Minute)
		for what, err := range map[string]error{"attach": attached, "refresh": refreshed, "release": p.here.ReleaseToken(t.Context(), token)} {
			if !errors.Is(err, pathlock.ErrInvalidToken) {
				t.Errorf("%s %q: %v, want ErrInvalidToken", what, text, err)
			}
		}
	}
	if _, err := p.here.Refresh(t.Context(), pathlock.Token(good), time.Millisecond); !errors.Is(err, pathlock.ErrInvalidRequest) {
		t.Errorf("refreshed for a millisecond: %v, want ErrInvalidRequest", err)
	}
}

func TestAttach_locksOfAKilledProcessEnd(t *testing.T) {
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

func TestAttach_locksUnderAHoldEndWithIt(t *testing.T) {
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
						testerr.Must(t, testerr.Of(lock.Detach(t.Context())))
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
	testerr.Must(t, testerr.Of(l.Refresh(t.Context(), token, d)))
}

func TestDetach_ofALockUnderAHoldStaysWithIt(t *testing.T) {
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
		testerr.Is(t, "detached twice", testerr.Of(inner.Detach(t.Context())), pathlock.ErrNotHeld)
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
func TestDetach_underAHoldThatHasEndedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses()
		token := detached(t, p.here, "X /a")
		lock := attach(t, p.there, token)
		inner := acquire(lock.Context(), t, p.there, "X /b")
		testerr.Must(t, p.here.ReleaseToken(t.Context(), token))
		_, err := inner.Detach(t.Context())
		gone(t, "detach", err)
		free(t, p.here, "X /", true)
		_ = inner.Release(t.Context())
		_ = lock.Release(t.Context())
	})
}

// The release of an attached lock ends the hold when nothing relies on it here any more.
func TestAttach_releaseWaitsForLocksUnderTheHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcesses()
		lock := attach(t, p.there, detached(t, p.here, "X /a"), pathlock.WithoutRenewal())
		inner, below := acquire(lock.Context(), t, p.there, "X /b"), acquire(lock.Context(), t, p.there, "X /a/below")
		release(t, lock)
		testerr.Is(t, "what stays with a hold that was released", testerr.Of(inner.Detach(t.Context())), pathlock.ErrNotHeld)
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
func TestDetach_underAHoldFailureLeavesTheLock(t *testing.T) {
	store := &unheard{Store: memstore.New()}
	l := pathlock.New(store, quiet)
	lock := attach(t, l, detached(t, l, "X /a"), pathlock.WithoutRenewal())
	inner := acquire(lock.Context(), t, l, "X /b")
	store.lost = pathlock.ErrUnavailable
	testerr.Is(t, "detach", testerr.Of(inner.Detach(t.Context())), pathlock.ErrUnavailable)
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
func TestAttach_locksUnderAHoldAreTheTakersOwn(t *testing.T) {
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
		testerr.Is(t, "let go again", testerr.Of(one.Detach(t.Context())), pathlock.ErrNotHeld)
	})
}
