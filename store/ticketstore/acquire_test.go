package ticketstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
)

func TestACrowdIsServedWithAFewUpdatesEach(t *testing.T) {
	inBubble(t, func(s *fixture) {
		const crowd = 50
		other, holder := s.process()
		s.takes(holder, "holder", "/a")
		m, waiting := s.process()
		var ended []<-chan error
		for i := range crowd {
			ended = append(ended, s.begin(s.Context(), waiting, s.ask(fmt.Sprint(i), "/a")))
		}
		queued := m.updates.Load()
		if queued > crowd {
			t.Errorf("%d updates for %d requests", queued, crowd)
		}
		before := other.updates.Load()
		s.releases(holder, "holder")
		for i, e := range ended {
			if err := <-e; err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			// The one who is let in looks once, and nobody else does.
			if looks := m.updates.Load() - queued; looks != int64(2*i+1) {
				t.Fatalf("%d updates after %d hand-overs", looks, i+1)
			}
			s.releases(waiting, fmt.Sprint(i))
		}
		if updates := other.updates.Load() - before; updates != 1 {
			t.Errorf("a release took %d updates", updates)
		}
		s.isEmpty()
	})
}

func TestWhatComesTogetherIsWrittenTogether(t *testing.T) {
	inBubble(t, func(s *fixture) {
		const crowd = 500
		m, store := s.process()
		gate := make(chan struct{})
		m.meddle(func(context.Context) error { <-gate; return nil }, nil)
		var all sync.WaitGroup
		for i := range crowd {
			all.Go(func() {
				if _, err := store.Acquire(s.Context(), s.ask(fmt.Sprint(i), fmt.Sprint("/n", i))); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(gate)
		all.Wait()
		if n := m.updates.Load(); n > 10 {
			t.Errorf("%d updates for %d requests that came at once", n, crowd)
		}
	})
}

// A reply is lost: the ticket is there, and the caller does not know.
func TestARequestWhoseReplyIsLostIsTakenBack(t *testing.T) {
	lost := fmt.Errorf("%w: the reply was lost", pathlock.ErrUnavailable)
	for _, taken := range []bool{false, true} {
		t.Run(fmt.Sprint("somebody is in the way: ", taken), func(t *testing.T) {
			inBubble(t, func(s *fixture) {
				m, store := s.process()
				if taken {
					s.takes(store, "holder", "/a")
				}
				first := true
				m.meddle(nil, func(context.Context) error {
					if first {
						first = false
						return lost
					}
					return nil
				})
				_, err := store.Acquire(s.Context(), s.ask("owner", "/a"))
				if !errors.Is(err, pathlock.ErrUnavailable) {
					t.Errorf("the error is %v", err)
				}
				if taken {
					s.releases(store, "holder")
				}
				s.isEmpty()
			})
		})
	}
}

func TestAClosedStoreEndsWaits(t *testing.T) {
	inBubble(t, func(s *fixture) {
		_, store := s.process()
		s.takes(store, "holder", "/a")
		ended := s.begin(s.Context(), store, s.ask("waiter", "/a"))
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, pathlock.ErrClosed) || !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("the wait ends with %v", err)
		}
		for name, err := range map[string]error{
			"Release": store.Release(s.Context(), s.tree, "holder", "holder"),
			"Ping":    store.Ping(s.Context()),
			"Acquire": func() error { _, err := store.Acquire(s.Context(), s.ask("late", "/b")); return err }(),
			"Trees":   func() error { _, err := store.Trees(s.Context()); return err }(),
			"Snapshot": func() error {
				_, err := store.Snapshot(s.Context(), s.tree)
				return err
			}(),
		} {
			if !errors.Is(err, pathlock.ErrClosed) {
				t.Errorf("%s after the end: %v", name, err)
			}
		}
		_, other := s.process()
		if seen, err := other.Snapshot(s.Context(), s.tree); err != nil || len(seen.Waiters) != 0 || len(seen.Holders) != 1 {
			t.Errorf("left behind: the waiters %v, the holders %v, error %v; want the holder alone", seen.Waiters, seen.Holders, err)
		}
		if err := store.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
	})
}

func TestARequestWhoseWaitingPanicsLeavesTheQueue(t *testing.T) {
	inBubble(t, func(s *fixture) {
		_, store := s.process()
		s.takes(store, "holder", "/a")
		req := s.ask("waiter", "/a")
		req.Waiting = func() { panic("thrown") }
		func() {
			defer func() {
				if recover() != "thrown" {
					t.Error("the panic did not get through")
				}
			}()
			_, _ = store.Acquire(s.Context(), req)
		}()
		snapshot, err := store.Snapshot(s.Context(), s.tree)
		if err != nil || len(snapshot.Waiters) > 0 {
			t.Errorf("%+v wait, error %v", snapshot.Waiters, err)
		}
	})
}

func TestOfTwoCallsForOneGrantOneGivesUp(t *testing.T) {
	inBubble(t, func(s *fixture) {
		_, store := s.process()
		s.takes(store, "holder", "/a")
		ctx, cancel := context.WithCancel(s.Context())
		first := s.begin(ctx, store, s.ask("waiter", "/a"))
		second := s.begin(s.Context(), store, s.ask("waiter", "/a"))
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("the first call ends with %v", err)
		}
		s.releases(store, "holder")
		if err := <-second; err != nil {
			t.Errorf("the second call ends with %v", err)
		}
	})
}

// A waiter whose process was stopped for longer than its lease has lost its place, and gets
// another.
func TestAWaiterThatSleptQueuesAgain(t *testing.T) {
	inBubble(t, func(s *fixture) {
		sleeper, asleep := s.process()
		_, store := s.process()
		s.takes(store, "holder", "/a")
		hold := func() {
			if _, err := store.Renew(s.Context(), s.tree, []pathlock.Lease{{Owner: "holder", For: time.Hour}}); err != nil {
				t.Fatal(err)
			}
		}
		hold()
		ended := s.begin(s.Context(), asleep, s.ask("sleeper", "/a"))
		wakes := make(chan struct{})
		sleeper.meddle(func(context.Context) error { <-wakes; return nil }, nil)
		time.Sleep(time.Minute)
		next := s.begin(s.Context(), store, s.ask("next", "/a"))
		close(wakes)
		synctest.Wait()
		s.releases(store, "holder")
		if err := <-next; err != nil {
			t.Fatal(err)
		}
		s.releases(store, "next")
		if err := <-ended; err != nil {
			t.Errorf("the sleeper's wait ends with %v", err)
		}
	})
}

// A store is closed while its server does not answer: calls that are under way end all the same.
func TestAStoreIsClosedBesideASilentServer(t *testing.T) {
	inBubble(t, func(s *fixture) {
		m, store := s.process()
		m.meddle(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, nil)
		var ended []<-chan error
		for i := range 3 {
			ended = append(ended, s.begin(s.Context(), store, s.ask(fmt.Sprint(i), "/a")))
		}
		began := time.Now()
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		for _, e := range ended {
			if err := <-e; err == nil {
				t.Error("a request was granted")
			}
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// A request is given up while its update is on the way. The update comes too late, however long it
// takes: else a ticket would hold that nobody has.
func TestAnUpdateThatWasGivenUpComesTooLate(t *testing.T) {
	for _, taken := range []bool{false, true} {
		t.Run(fmt.Sprint("somebody is in the way: ", taken), func(t *testing.T) {
			inBubble(t, func(s *fixture) {
				m, store := s.process()
				if taken {
					s.takes(store, "holder", "/a")
				}
				m.abandons = true
				ctx, cancel := context.WithTimeout(s.Context(), time.Second)
				defer cancel()
				if _, err := store.Acquire(ctx, s.ask("owner", "/a")); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("the request ends with %v", err)
				}
				if m.land() {
					t.Error("the update was carried out after all")
				}
				if taken {
					s.releases(store, "holder")
				}
				s.isEmpty()
			})
		})
	}
}

// The process of a waiter is slow to learn that its place was taken away. Meanwhile others ask.
func TestAWaiterWhosePlaceWasTakenAwayLearnsOfIt(t *testing.T) {
	inBubble(t, func(s *fixture) {
		slow, waits := s.process()
		_, store := s.process()
		s.takes(store, "holder", "/a")
		ended := s.begin(s.Context(), waits, s.ask("waiter", "/a"))
		looks := make(chan struct{})
		slow.meddle(func(context.Context) error { <-looks; return nil }, nil)
		if err := store.ForceRelease(s.Context(), s.tree, "waiter"); err != nil {
			t.Fatal(err)
		}
		next := s.begin(s.Context(), store, s.ask("next", "/a"))
		close(looks)
		if err := <-ended; !errors.Is(err, pathlock.ErrLost) {
			t.Errorf("the wait ends with %v", err)
		}
		for _, owner := range []pathlock.Owner{"holder", "next"} {
			if err := store.Release(s.Context(), s.tree, owner, pathlock.GrantID(owner)); err != nil {
				t.Errorf("%s releases: %v", owner, err)
			}
			if owner == "holder" {
				if err := <-next; err != nil {
					t.Errorf("the next one: %v", err)
				}
			}
		}
		s.isEmpty()
	})
}

// A hold that is taken away right after it was handed over is not asked for again by its process,
// which still waits as far as it knows.
func TestTakenAwayBeforeItsProcessKnows(t *testing.T) {
	inBubble(t, func(s *fixture) {
		_, store := s.process()
		slow, other := s.process()
		s.takes(store, "holder", "/a")
		waits := s.begin(s.Context(), other, s.ask("waiter", "/a"))
		runs := make(chan struct{})
		slow.meddle(func(context.Context) error { <-runs; return nil }, nil)
		s.releases(store, "holder")
		if err := store.ForceRelease(s.Context(), s.tree, "waiter"); err != nil {
			t.Fatal(err)
		}
		close(runs)
		if err := <-waits; !errors.Is(err, pathlock.ErrLost) {
			t.Errorf("the wait ends with %v, want ErrLost", err)
		}
		s.isEmpty()
	})
}
