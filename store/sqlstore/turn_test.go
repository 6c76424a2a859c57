package sqlstore_test

import (
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// A process far from the server gets its turn beside those that are near and write all the time.
func TestAFarProcessGetsItsTurn(t *testing.T) {
	eachServer(t, func(t *testing.T, d database) {
		near := d.store(t)
		far, _ := d.behind(t, 15*time.Millisecond)
		distant := far.store(t)
		tree := newTree(t)
		touch := func(s ticketstore.State) ticketstore.Changes {
			ticket := newTicket(1)
			for _, old := range s.Tickets {
				ticket.Key, ticket.Home = old.Key, old.Home
			}
			return ticketstore.Changes{Put: []ticketstore.Ticket{ticket}, Fence: s.Fence}
		}
		done := make(chan struct{})
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					if err := near.Backend().Update(t.Context(), tree, touch); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for range 3 {
			began := time.Now()
			if err := distant.Backend().Update(t.Context(), tree, touch); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > patience {
				t.Errorf("an update took %v", took)
			}
		}
		close(done)
		wg.Wait()
	})
}
