package sqlstore_test

import (
	"crypto/rand"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/sqlstore"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// newTicket returns a ticket that holds until long from now.
func newTicket(place uint64) ticketstore.Ticket {
	now := time.Now().Truncate(time.Microsecond)
	return ticketstore.Ticket{
		Place: place, Owner: pathlock.Owner(rand.Text()), Grant: pathlock.GrantID(rand.Text()),
		Claims: pathlock.Normalize(x("/a")), Lease: long, State: ticketstore.Granted, Fence: 1,
		Since: now, Until: now.Add(long), OwnerUntil: now.Add(long),
	}
}

// updates has goroutines change two tickets of a tree at once, in all the stores, and others look:
// no change is lost, and nobody ever sees one ticket without the other.
func updates(t *testing.T, stores ...*sqlstore.Store) {
	t.Helper()
	tree := newTree(t)
	const workers, rounds = 3, 8
	var wg sync.WaitGroup
	add := func(s ticketstore.State) ticketstore.Changes {
		c := ticketstore.Changes{Fence: s.Fence + 1}
		if len(s.Tickets) == 0 {
			one, two := newTicket(1), newTicket(2)
			one.Looks, two.Looks = 1, 1
			c.Put = append(c.Put, one, two)
			return c
		}
		for _, old := range s.Tickets {
			old.Looks++
			c.Put = append(c.Put, old)
		}
		return c
	}
	for _, s := range stores {
		for range workers {
			wg.Go(func() {
				for range rounds {
					if err := s.Backend().Update(t.Context(), tree, add); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Go(func() {
			for range workers * rounds {
				state, err := s.Backend().View(t.Context(), tree)
				if err != nil {
					t.Error(err)
				}
				if !whole(state) {
					t.Errorf("half of an update is seen: %v", looks(state))
				}
			}
		})
	}
	wg.Wait()
	want := uint64(len(stores) * workers * rounds)
	for _, s := range stores {
		state, err := s.Backend().View(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		if got := looks(state); !slices.Equal(got, []uint64{want, want}) || state.Fence != want {
			t.Errorf("after %d updates the tickets say %v, and the fence is %d", want, got, state.Fence)
		}
	}
	err := stores[0].Backend().Update(t.Context(), tree, func(s ticketstore.State) ticketstore.Changes {
		return ticketstore.Changes{Delete: s.Tickets, Fence: s.Fence}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func looks(s ticketstore.State) (n []uint64) {
	for _, t := range s.Tickets {
		n = append(n, t.Looks)
	}
	return n
}

func whole(s ticketstore.State) bool {
	n := looks(s)
	return len(n) == 0 || len(n) == 2 && n[0] == n[1] && s.Fence == n[0]
}

func TestUpdatesAreAtomic(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		t.Parallel()
		updates(t, d.store(t), d.store(t), d.store(t))
	})
}

// The clock is the server's, in UTC, and ahead of what was asked before.
func TestClock(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		s := d.store(t)
		var last time.Time
		for range 3 {
			state, err := s.Backend().View(t.Context(), newTree(t))
			if err != nil {
				t.Fatal(err)
			}
			// The servers of the tests are on this host.
			if off := time.Since(state.Now); off.Abs() > time.Minute || !state.Now.After(last) || state.Began.IsZero() {
				t.Errorf("it is %v, by %v, after %v", state.Now, off, last)
			}
			if state.Floor != uint64(state.Now.UnixMicro()) {
				t.Errorf("fences are above %d at %v", state.Floor, state.Now)
			}
			last = state.Now
		}
	})
}

// A wait that is over when the watch begins is noticed at once.
func TestWatchOfWhatHasHappened(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		here, there := d.store(t), d.store(t)
		tree := newTree(t)
		put := func(s *sqlstore.Store, ticket ticketstore.Ticket, gone ...ticketstore.Ticket) ticketstore.Ticket {
			t.Helper()
			put := []ticketstore.Ticket{ticket}
			err := s.Backend().Update(t.Context(), tree, func(state ticketstore.State) ticketstore.Changes {
				c := ticketstore.Changes{Put: put, Delete: gone, Fence: state.Fence}
				if ticket.Key != "" {
					c.Woken = put
				}
				return c
			})
			if err != nil {
				t.Fatal(err)
			}
			return put[0]
		}
		waits := func(place uint64) ticketstore.Ticket {
			ticket := newTicket(place)
			ticket.State, ticket.Fence, ticket.OwnerUntil = ticketstore.Waiting, 0, time.Time{}
			return put(here, ticket)
		}
		watch := func(ticket ticketstore.Ticket) (woken chan struct{}) {
			t.Helper()
			woken = make(chan struct{}, 100)
			stop, err := here.Backend().Watch(t.Context(), tree, ticket, ticketstore.Ticket{}, func() {
				select {
				case woken <- struct{}{}:
				default:
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(stop)
			return woken
		}
		const soon = 800 * time.Millisecond // less than a thorough look takes to come round
		wakes := func(what string, woken chan struct{}) {
			t.Helper()
			select {
			case <-woken:
			case <-time.After(soon):
				t.Errorf("%s: not woken within %v", what, soon)
			}
		}
		steady := watch(waits(1))
		if d.dialect == sqlstore.Postgres {
			eventually(t, "the store listens", here.Listening)
		}
		ticket := waits(2)
		granted := ticket
		granted.State = ticketstore.Granted
		put(there, granted)
		wakes("granted before the watch", watch(ticket))

		ticket = waits(3)
		watched := watch(ticket)
		granted = ticket
		granted.State = ticketstore.Granted
		put(there, granted)
		wakes("granted under the watch", watched)

		ticket = waits(4)
		watched = watch(ticket)
		called := ticket
		called.Looks++
		put(there, called)
		wakes("called under the watch", watched)
		quiet := watch(called)

		ticket = waits(5)
		put(there, newTicket(6), ticket)
		wakes("deleted before the watch", watch(ticket))

		if d.dialect == sqlstore.Postgres {
			ticket = waits(8)
			watched = watch(ticket)
			put(there, newTicket(9), ticket)
			wakes("deleted under the watch", watched)
		}

		still := map[string]chan struct{}{"waits": steady}
		if d.dialect != sqlstore.Postgres { // where a look may tell of a call before its NOTIFY comes
			still["was called before, and waits"] = quiet
		}
		for what, c := range still {
			select {
			case <-c:
				t.Errorf("a ticket that %s was woken", what)
			default:
			}
		}
	})
}
