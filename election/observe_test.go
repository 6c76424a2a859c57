package election_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/election"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// While somebody leads, an observer asks the store nothing, and hears of the end at once. While
// nobody does, it asks at most once a second after a while.
func TestObserve_doesNotPollALeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		counted := &fake{Store: store}
		candidates, _ := newProcess(store)
		observer, locker := newProcess(counted)
		leaders, end := watch(t.Context(), t, observer.Observe)
		if first := <-leaders; first != (seen{}) {
			t.Fatalf("%v leads an empty election", first)
		}

		time.Sleep(time.Minute)
		synctest.Wait()
		counted.since()
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := strings.Count(counted.since(), "snapshot"); n < 3600 || n > 2*3600 {
			t.Errorf("%d looks in an hour without a leader, want one in half a second to a second", n)
		}

		a := campaign(t.Context(), t, candidates, "a")
		elected := time.Now()
		if got := <-leaders; got.leader != (election.Leader{Value: "a", Term: a.Term(), Since: elected}) || time.Since(elected) > time.Second {
			t.Errorf("an observer sees %v after %v", got, time.Since(elected))
		}
		// A leader can observe itself: it is woken as any other is, and does not hold up itself.
		own, endOwn := watch(a.Context(), t, observer.Observe)
		if got := <-own; got.leader.Term != a.Term() {
			t.Errorf("the leader sees %v", got)
		}
		synctest.Wait()
		counted.since()
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if made := counted.since(); made != "" {
			t.Errorf("a day of a leader costs observers %q", made)
		}
		endOwn()
		next := make(chan *election.Leadership)
		go func() {
			b, err := candidates.Campaign(t.Context(), "b")
			testerr.None(t, err)
			next <- b
		}()
		synctest.Wait()
		resigned := time.Now()
		resign(t, a)
		b := <-next
		if got := <-leaders; got.leader.Term != b.Term() || time.Since(resigned) != 0 {
			t.Errorf("an observer sees %v after %v", got, time.Since(resigned))
		}
		synctest.Wait()
		if made := counted.since(); made != "acquire release snapshot" {
			t.Errorf("another leader costs an observer %q", made)
		}
		resign(t, b)
		if got := <-leaders; got != (seen{}) {
			t.Errorf("after the last leader: %v", got)
		}
		c, began := campaign(t.Context(), t, candidates, "c"), time.Now()
		if got := <-leaders; got.leader.Term != c.Term() || time.Since(began) > 50*time.Millisecond {
			t.Errorf("an observer sees %v after %v", got, time.Since(began))
		}
		synctest.Wait()

		end()
		synctest.Wait()
		snapshot, err := locker.Snapshot(t.Context(), office)
		if err != nil || len(snapshot.Waiters) != 0 || len(snapshot.Holders) != 1 {
			t.Errorf("after the end of the observer: %v, %v", snapshot, err)
		}
		resign(t, c)
	})
}

// Observers that hang with what they were granted delay no election, not even one of the same
// candidate.
func TestObserve_delaysNoElection(t *testing.T) {
	onAStore(t, func(t *testing.T, store pathlock.Store) {
		free := make(chan struct{})
		stuck := &fake{Store: store}
		stuck.set(func(_ context.Context, call string) error {
			if call == "release" {
				<-free
			}
			return nil
		})
		candidate := process(store)
		leader := campaign(t.Context(), t, candidate, "term 0")
		var all []<-chan seen
		for range 3 {
			leaders, _ := watch(t.Context(), t, process(stuck).Observe)
			all = append(all, leaders)
		}
		for term := range 3 {
			for _, leaders := range all {
				if got := within(t, "an observer", leaders); got.leader.Value != leader.Value() {
					t.Fatalf("an observer sees %v, want %s", got, leader.Value())
				}
			}
			next := inBackground(t, store, fmt.Sprintf("term %d", term+1))
			resign(t, leader)
			leader = within(t, "the next leader", next)
		}
		resign(t, leader)
		ctx, stop := context.WithTimeout(t.Context(), patience)
		defer stop()
		resign(t, campaign(ctx, t, candidate, "again"))
		close(free)
	})
}

// An observer reports that the store does not answer, goes on, and says who leads when it knows
// again. It ends when the store was closed.
func TestObserve_outlivesAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &fake{Store: memstore.New()}
		fail := func(err error) {
			store.set(func(_ context.Context, call string) error {
				if call == "snapshot" || call == "acquire" {
					return err
				}
				return nil
			})
		}
		e, _ := newProcess(store)
		a := campaign(t.Context(), t, e, "a")
		fail(fmt.Errorf("%w: an outage", pathlock.ErrUnavailable))
		leaders, _ := watch(t.Context(), t, e.Observe)
		for _, term := range []uint64{a.Term(), 0} {
			for range 3 {
				if got := <-leaders; !errors.Is(got.err, pathlock.ErrUnavailable) || !got.leader.IsZero() {
					t.Fatalf("during the outage: %v", got)
				}
			}
			store.set(nil)
			got := <-leaders
			for got.err != nil {
				got = <-leaders
			}
			if got.leader.Term != term {
				t.Errorf("after the outage: %v, want the term %d", got, term)
			}
			if term != 0 {
				resign(t, a)
				<-leaders // nobody leads, and observers look now and then
			}
			fail(fmt.Errorf("%w: an outage", pathlock.ErrUnavailable))
		}
		fail(fmt.Errorf("%w: closed: %w", pathlock.ErrUnavailable, pathlock.ErrClosed))
		if got := <-leaders; !errors.Is(got.err, pathlock.ErrClosed) {
			t.Errorf("after the close: %v", got)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(leaders) != 0 {
			t.Errorf("more after the close: %v", <-leaders)
		}
	})
}

// Where no more may wait, an observer looks from time to time.
func TestObserve_goesOnWhereTheQueueIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		full := &fake{Store: store}
		full.set(func(_ context.Context, call string) error {
			if call == "acquire" {
				return pathlock.ErrConflict
			}
			return nil
		})
		candidates, _ := newProcess(store)
		observer, _ := newProcess(full)
		a := campaign(t.Context(), t, candidates, "a")
		leaders, _ := watch(t.Context(), t, observer.Observe)
		if got := <-leaders; got.leader.Term != a.Term() {
			t.Errorf("an observer sees %v", got)
		}
		resign(t, a)
		b := campaign(t.Context(), t, candidates, "b")
		elected := time.Now()
		if got := <-leaders; got.leader.Term != b.Term() || time.Since(elected) > time.Second {
			t.Errorf("an observer sees %v after %v", got, time.Since(elected))
		}
		resign(t, b)
	})
}
