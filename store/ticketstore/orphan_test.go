package ticketstore_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Who waits on top of a hold whose end is set earlier learns then that it is gone.
func TestWhoWaitsOnTopOfAHoldThatEndsEarlier(t *testing.T) {
	inBubble(t, func(s *fixture) {
		_, store := s.process()
		_, other := s.process()
		s.takes(store, "reader", "/b")
		own := s.ask("owner", "/a")
		if _, err := store.Acquire(s.Context(), own); err != nil {
			t.Fatal(err)
		}
		more := s.ask("owner", "/b")
		more.Grant = "more"
		waits := s.begin(s.Context(), store, more)
		const end = 300 * time.Millisecond
		began := time.Now()
		if _, err := other.Transfer(s.Context(), pathlock.Transfer{Tree: s.tree, From: "owner", To: "owner", Lease: end}); err != nil {
			t.Fatal(err)
		}
		if err := <-waits; !errors.Is(err, pathlock.ErrLost) {
			t.Errorf("the wait ends with %v, want ErrLost", err)
		}
		if took := time.Since(began); took > end {
			t.Errorf("the wait ends after %v, want %v", took, end)
		}
	})
}

// The server ends the tickets of a process with its session. Who waits on top of them has lost
// them.
func TestWhoWaitsOnTopOfAHoldThatTheServerHasEnded(t *testing.T) {
	inBubble(t, func(s *fixture) {
		_, store := s.process()
		s.takes(store, "reader", "/b")
		s.takes(store, "owner", "/a")
		more := s.ask("owner", "/b")
		more.Grant = "more"
		waits := s.begin(s.Context(), store, more)
		s.drop("owner")
		if err := <-waits; !errors.Is(err, pathlock.ErrLost) {
			t.Errorf("the wait ends with %v, want ErrLost", err)
		}
	})
}

// An apart grant ends with the hold that it is apart from, also where the server has ended that
// one.
func TestAnApartGrantEndsWithTheHoldThatTheServerHasEnded(t *testing.T) {
	for _, ended := range []bool{true, false} {
		t.Run(fmt.Sprint("by the server: ", ended), func(t *testing.T) {
			inBubble(t, func(s *fixture) {
				_, store := s.process()
				s.takes(store, "owner", "/a")
				apart := s.ask("owner", "/b")
				apart.Grant, apart.Apart, apart.Held = "apart", true, true
				if _, err := store.Acquire(s.Context(), apart); err != nil {
					t.Fatal(err)
				}
				if ended {
					s.drop("owner")
				} else {
					s.releases(store, "owner")
				}
				other := s.ask("other", "/b")
				other.Wait = 0
				_, err := store.Acquire(s.Context(), other)
				if kept := errors.Is(err, pathlock.ErrConflict); kept == ended {
					t.Errorf("another asks for what is apart: %v", err)
				}
			})
		})
	}
}

// drop ends the tickets of a grant, as the end of a session does.
func (s *fixture) drop(grant pathlock.GrantID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tickets := s.trees[s.tree].tickets
	maps.DeleteFunc(tickets, func(_ string, t ticketstore.Ticket) bool { return t.Grant == grant })
}
