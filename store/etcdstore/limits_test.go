package etcdstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// tickets returns new tickets, one after the other in the queue.
func tickets(n int, now time.Time) (new []ticketstore.Ticket) {
	for i := range n {
		new = append(new, ticketstore.Ticket{
			Place: uint64(i + 1), Owner: pathlock.Owner(fmt.Sprint("owner ", i)), Grant: "g", Gate: true, Lease: time.Minute,
			State: ticketstore.Waiting, Since: now, Until: now.Add(time.Minute), WaitUntil: now.Add(time.Minute),
		})
	}
	return new
}

func TestLimitOfAnUpdate(t *testing.T) {
	t.Parallel()
	_, client := newServer(t)
	b := newStore(t, client).backend
	write := func(n int) error {
		return b.Update(t.Context(), newTree(t), func(s ticketstore.State) ticketstore.Changes {
			return ticketstore.Changes{Put: tickets(n, s.Now)}
		})
	}
	if err := write(b.Limit()); err != nil {
		t.Errorf("%d tickets: %v", b.Limit(), err)
	}
	err := write(b.Limit() + 1)
	if !errors.Is(err, pathlock.ErrInvalidRequest) || !strings.Contains(err.Error(), "128 tickets") {
		t.Errorf("%d tickets: %v, want what matches ErrInvalidRequest and says how many there are", b.Limit()+1, err)
	}
}

// More tickets than one update can delete go in several, if they have ended, and keep nobody out.
func TestManyThatHaveEnded(t *testing.T) {
	t.Parallel()
	_, client := newServer(t)
	store, tree := newStore(t, client), newTree(t)
	const portion, portions = 100, 3
	for i := range portions {
		err := store.backend.Update(t.Context(), tree, func(s ticketstore.State) ticketstore.Changes {
			c := ticketstore.Changes{Put: tickets(portion, s.Now)}
			for n := range c.Put {
				c.Put[n].Place += uint64(i * portion)
				c.Put[n].Until = s.Now.Add(time.Millisecond)
			}
			return c
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for range portions {
		req := request(t, tree, "next", time.Minute, time.Minute)
		acquire(t, store, req)
		release(t, store, req)
	}
	requireNoKeys(t, client)
}

func TestServerWithALowerLimit(t *testing.T) {
	t.Parallel()
	_, client := newServer(t, "--max-txn-ops", "20")
	write := func(s *Store) error {
		return s.backend.Update(t.Context(), newTree(t), func(st ticketstore.State) ticketstore.Changes {
			return ticketstore.Changes{Put: tickets(s.backend.Limit(), st.Now)}
		})
	}
	if err := write(newStore(t, client)); !errors.Is(err, pathlock.ErrInvalidRequest) || !strings.Contains(err.Error(), "--max-txn-ops") {
		t.Errorf("an update that the server refuses: %v", err)
	}
	if err := write(newStore(t, client, WithMaxTxnOps(20))); err != nil {
		t.Errorf("an update within the server's limit: %v", err)
	}
}

func TestTooManyBytes(t *testing.T) {
	t.Parallel()
	_, client := newServer(t)
	store, tree := newStore(t, client), newTree(t)
	req := request(t, tree, "large", time.Minute, 0)
	for i := range 30_000 {
		req.Claims = append(req.Claims, x(t, fmt.Sprintf("/%060d", i))...)
	}
	req.Claims = pathlock.Normalize(req.Claims...)
	_, err := store.Acquire(t.Context(), req)
	if !errors.Is(err, pathlock.ErrInvalidRequest) || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("a request for 30,000 nodes: %v, want what matches ErrInvalidRequest", err)
	}
	acquire(t, store, request(t, tree, "small", time.Minute, 0))
}

// A database that is full takes no new locks and renews none, and lets go of those that nobody
// waits for.
func TestFullDatabase(t *testing.T) {
	t.Parallel()
	_, client := newServer(t, "--quota-backend-bytes", "1000000")
	store, tree := newStore(t, client, WithTimeout(time.Second)), newTree(t)
	held := request(t, tree, "holder", time.Minute, 0)
	acquire(t, store, held)
	wanted := request(t, newTree(t), "holder", time.Minute, 0)
	acquire(t, store, wanted)
	next := request(t, wanted.Tree, "next", time.Minute, 5*time.Second)
	waits, ended := make(chan struct{}), make(chan error, 1)
	next.Waiting = func() { close(waits) }
	go func() { _, err := store.Acquire(t.Context(), next); ended <- err }()
	<-waits
	other := request(t, newTree(t), "other", time.Minute, 0)
	for i := range 100 {
		if _, err := client.Put(t.Context(), fmt.Sprint("filler ", i), strings.Repeat("x", 100_000)); err != nil {
			break
		}
	}
	if _, err := store.Acquire(t.Context(), other); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("a lock in a full database: %v, want what matches ErrUnavailable", err)
	}
	longer := request(t, newTree(t), "another", 2*time.Minute, 0) // for which there is no lease yet
	if _, err := store.Acquire(t.Context(), longer); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("a lock under a new lease in a full database: %v, want what matches ErrUnavailable", err)
	}
	if err := store.Ping(t.Context()); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("ping to a full database: %v, want what matches ErrUnavailable", err)
	}
	if _, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: held.Owner, For: 2 * time.Minute}}); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("a renewal in a full database: %v, want what matches ErrUnavailable", err)
	}
	release(t, store, held)
	if err := store.Release(t.Context(), wanted.Tree, wanted.Owner, wanted.Grant); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("a release that would let somebody in, in a full database: %v, want what matches ErrUnavailable", err)
	}
	if err := <-ended; !errors.Is(err, pathlock.ErrConflict) {
		t.Errorf("a wait in a full database: %v, want a conflict", err)
	}
	release(t, store, wanted)
}

// Grants that are made together have fences ahead of the revision. They grow all the same.
func TestFencesAheadOfTheRevision(t *testing.T) {
	t.Parallel()
	_, client := newServer(t)
	store, tree := newStore(t, client), newTree(t)
	granting := func(s ticketstore.State) ticketstore.Changes {
		c := ticketstore.Changes{Put: tickets(20, s.Now), Fence: max(s.Fence, s.Floor) + 20}
		for i := range c.Put {
			c.Put[i].State, c.Put[i].Fence, c.Put[i].OwnerUntil = ticketstore.Granted, max(s.Fence, s.Floor)+uint64(i)+1, c.Put[i].Until
		}
		return c
	}
	var last uint64
	for range 3 {
		if err := store.backend.Update(t.Context(), tree, granting); err != nil {
			t.Fatal(err)
		}
		err := store.backend.Update(t.Context(), tree, func(s ticketstore.State) ticketstore.Changes {
			first := s.Tickets[0].Fence
			for _, ticket := range s.Tickets {
				first = min(first, ticket.Fence)
			}
			if first <= last {
				t.Errorf("fence %d after %d", first, last)
			}
			last = s.Fence
			return ticketstore.Changes{Delete: s.Tickets, Fence: s.Fence}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	requireNoKeys(t, client)
}
