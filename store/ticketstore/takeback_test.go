package ticketstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// A reply is lost, or the request is given up while its update is on the way, which comes too late
// then, however long it takes. Nothing is left: else a ticket that nobody has would hold.
func TestTakeBack_ofUnknownOutcomes(t *testing.T) {
	for _, taken := range []bool{false, true} {
		for _, abandoned := range []bool{false, true} {
			t.Run(fmt.Sprintf("somebody is in the way: %v, abandoned: %v", taken, abandoned), func(t *testing.T) {
				inBubble(t, func(s *fixture) {
					p, store := s.process()
					if taken {
						s.takes(store, "holder", "/a")
					}
					p.set(func() { p.loses, p.abandons = !abandoned, abandoned })
					ctx, cancel := context.WithTimeout(s.Context(), time.Second)
					defer cancel()
					_, err := store.Acquire(ctx, s.ask("owner", "/a"))
					if !errors.Is(err, pathlock.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) != abandoned {
						t.Errorf("the request ends with %v", err)
					}
					if abandoned && p.land() {
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
}

// A request of which nothing can have come costs the server nothing more, and the caller no time. A
// server that refuses to write is told in the background.
func TestTakeBack_keepsNobody(t *testing.T) {
	inBubble(t, func(s *fixture) {
		p, store := s.process()
		fails := func(updates int, want error) {
			s.Helper()
			began := time.Now()
			testerr.Is(t, "a request", testerr.Of(store.Acquire(s.Context(), s.ask("owner", "/a"))), want)
			if took := time.Since(began); took > 0 || p.updates != updates {
				s.Errorf("it took %v and %d updates, want none and %d", took, p.updates, updates)
			}
		}
		p.set(func() { p.dead = true })
		fails(1, pathlock.ErrUnavailable)
		p.set(func() { p.dead, p.largest = false, 1 })
		fails(2, pathlock.ErrInvalidRequest)
		p.set(func() { p.largest, p.refuses = 0, true })
		fails(4, pathlock.ErrUnavailable)
		p.set(func() { p.refuses = false })
		time.Sleep(time.Second)
		s.isEmpty()
	})
}

// A store that is closed takes everything back once more, at once.
func TestTakeBack_isTriedOnceMoreByClose(t *testing.T) {
	inBubble(t, func(s *fixture) {
		_, other := s.process()
		s.takes(other, "holder", "/a")
		p, store := s.process()
		ctx, cancel := context.WithCancel(s.Context())
		req := s.ask("waiter", "/a")
		req.Waiting = func() {
			p.set(func() { p.dead = true })
			cancel()
		}
		testerr.Is(t, "the wait", testerr.Of(store.Acquire(ctx, req)), context.Canceled)
		time.Sleep(req.Lease / 2) // between two tries
		p.set(func() { p.dead = false })
		began := time.Now()
		testerr.None(t, store.Close(s.Context()))
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v", took)
		}
		s.releases(other, "holder")
		s.isEmpty()
	})
}

// A request that failed, and is asked for again, is not taken back any more, even if the store
// could not be reached so far.
func TestTakeBack_keepsWhatIsAskedForAgain(t *testing.T) {
	inBubble(t, func(s *fixture) {
		p, store := s.process()
		p.set(func() { p.dead = true })
		testerr.MustBe(t, "without a connection", testerr.Of(store.Acquire(s.Context(), s.ask("owner", "/a"))), pathlock.ErrUnavailable)
		p.set(func() { p.dead = false })
		s.takes(store, "owner", "/a")
		time.Sleep(10 * time.Second)
		s.releases(store, "owner")
		s.isEmpty()
	})
}
