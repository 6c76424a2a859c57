package ticketstore_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// distant is a process far from a drawer. It writes if nobody has written since it read.
type distant struct {
	*drawer
	trip time.Duration // there and back
	*reservation
}

// reservation is the tree whose next update is reserved, and how often one was.
type reservation struct {
	tree  pathlock.Tree
	count int
}

func (d distant) Update(_ context.Context, tree pathlock.Tree, _ bool, change func(ticketstore.State) ticketstore.Changes) (bool, error) {
	time.Sleep(d.trip / 2)
	d.mu.Lock()
	state, before := d.state(tree), d.written
	state.Reserved = d.tree == tree
	d.mu.Unlock()
	time.Sleep(d.trip / 2)
	c := change(state)
	if c.Empty() {
		return true, nil
	}
	time.Sleep(d.trip / 2)
	defer time.Sleep(d.trip / 2)
	lost := false
	_, err := d.drawer.Update(context.Background(), tree, true, func(ticketstore.State) ticketstore.Changes {
		if lost = d.written != before; lost {
			return ticketstore.Changes{}
		}
		if state.Reserved {
			d.tree = pathlock.Tree{}
		}
		return c
	})
	return !lost, err
}

func (d distant) Reserve(_ context.Context, tree pathlock.Tree) error {
	time.Sleep(d.trip / 2)
	d.mu.Lock()
	d.tree = tree
	d.count++
	d.mu.Unlock()
	time.Sleep(d.trip / 2)
	return nil
}

// distants returns the stores of processes that are the given trips away.
func (s *fixture) distants(timeout time.Duration, trips ...time.Duration) (stores []pathlock.Store, r *reservation) {
	r = &reservation{}
	for _, trip := range trips {
		store := ticketstore.New("drawer", distant{s.drawer, trip, r}, timeout)
		s.Cleanup(func() { _ = store.Close(context.WithoutCancel(s.Context())) })
		stores = append(stores, store)
	}
	return stores, r
}

// writing makes a store renew a hold all the time, until the returned function is called.
func (s *fixture) writing(store pathlock.Store, owner string) (stop func()) {
	s.takes(store, owner, "/"+owner)
	ctx, cancel := context.WithCancel(s.Context())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			_, _ = store.Renew(ctx, s.tree, []pathlock.Lease{{Owner: pathlock.Owner(owner), For: time.Hour}})
		}
	})
	return func() { cancel(); running.Wait() }
}

// Far processes get their turns soon, though others keep writing: none of them pauses while the
// others rest for it.
func TestReserve_letsSeveralIn(t *testing.T) {
	inBubble(t, func(s *fixture) {
		const far = 100 * time.Millisecond
		stores, _ := s.distants(time.Minute, 5*time.Millisecond, far, far)
		for i, store := range stores[:2] {
			defer s.writing(store, fmt.Sprint("busy ", i))()
		}
		s.takes(stores[2], "far", "/far")
		for began := time.Now(); time.Since(began) < 3*time.Minute; {
			asked := time.Now()
			_, err := stores[2].Renew(s.Context(), s.tree, []pathlock.Lease{{Owner: "far", For: time.Hour}})
			if took := time.Since(asked); err != nil || took > 30*far {
				t.Fatalf("a renewal took %v: %v", took, err)
			}
		}
	})
}

// A process that competes with nobody reserves nothing, nor does one that has lost once.
func TestReserve_takesTwoLosses(t *testing.T) {
	inBubble(t, func(s *fixture) {
		const trip = 300 * time.Millisecond
		stores, r := s.distants(time.Minute, time.Millisecond, trip)
		first := s.begin(s.Context(), stores[1], s.ask("far", "/far"))
		time.Sleep(trip)
		s.takes(stores[0], "near", "/near")
		testerr.Must(t, <-first)
		if r.count > 0 {
			t.Errorf("%d reservations", r.count)
		}
	})
}

// A reservation of a process that has died costs the others a moment, once.
func TestReserve_byTheDead(t *testing.T) {
	inBubble(t, func(s *fixture) {
		near := distant{s.drawer, time.Millisecond, &reservation{tree: s.tree}}
		stores := []pathlock.Store{ticketstore.New("drawer", near, time.Minute)}
		began := time.Now()
		for range 10 {
			s.takes(stores[0], "near", "/near")
			s.releases(stores[0], "near")
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("ten turns took %v", took)
		}
	})
}

// A call says whether others have used up its time, or nobody has answered.
func TestLate(t *testing.T) {
	const timeout = 200 * time.Millisecond // too little for a reservation
	for want, trip := range map[string]time.Duration{"others changed the tree first": 2 * time.Millisecond, "no answer in time": time.Hour} {
		for _, end := range []time.Duration{timeout / 2, time.Hour} { // the caller's time, or the store's
			inBubble(t, func(s *fixture) {
				stores, _ := s.distants(timeout, time.Millisecond, trip)
				defer s.writing(stores[0], "near")()
				ctx, cancel := context.WithTimeout(s.Context(), end)
				defer cancel()
				_, err := stores[1].Acquire(ctx, s.ask("far", "/far"))
				testerr.MustBe(t, want, err, pathlock.ErrUnavailable)
				if text := err.Error(); !strings.Contains(text, want) || strings.Count(text, "deadline") != 1 {
					t.Errorf("the error is %q", text)
				}
			})
		}
	}
}
