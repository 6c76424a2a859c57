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
	"github.com/pathlock-go/pathlock/internal/test/testlock"
)

// While somebody leads, an observer asks the store nothing, and hears of the end at once. While
// nobody does, it asks at most once a second after a while.
func TestObserve_doesNotPollALeader(t *testing.T) {
	in(t, func(f *fixture) {
		candidates := f.office()
		observer, locker := process(f.cut)
		leaders, end := f.watch(f.Context(), observer.Observe)
		// sees says whom the observer sees, at the latest after some time.
		sees := func(want election.Leader, within time.Duration) {
			f.Helper()
			began := time.Now()
			if got := <-leaders; got != (seen{leader: want}) || time.Since(began) > within {
				f.Errorf("an observer sees %v after %v, want %v", got, time.Since(began), want)
			}
		}
		led := func(l *election.Leadership) election.Leader {
			return election.Leader{Value: l.Value(), Term: l.Term(), Since: time.Now()}
		}
		sees(election.Leader{}, 0)
		time.Sleep(time.Minute)
		f.calls()
		time.Sleep(time.Hour)
		if n := strings.Count(f.calls(), "snapshot"); n < 3600 || n > 2*3600 {
			f.Errorf("%d looks in an hour without a leader, want one in half a second to a second", n)
		}

		a := f.campaign(f.Context(), candidates, "a")
		sees(led(a), time.Second)
		// A leader can observe itself: it is woken as any other is, and does not hold up itself.
		own, endOwn := f.watch(a.Context(), observer.Observe)
		if got := <-own; got.leader.Term != a.Term() {
			f.Errorf("the leader sees %v", got)
		}
		f.calls()
		time.Sleep(24 * time.Hour)
		if made := f.calls(); made != "" {
			f.Errorf("a day of a leader costs observers %q", made)
		}
		endOwn()
		next := f.queue("b")
		f.resign(a)
		b := now(f, "the next leader", next)
		sees(led(b), 0)
		if made := f.calls(); made != "acquire release snapshot" {
			f.Errorf("another leader costs an observer %q", made)
		}
		f.resign(b)
		sees(election.Leader{}, 0)
		c := f.campaign(f.Context(), candidates, "c")
		sees(led(c), 50*time.Millisecond)

		end()
		synctest.Wait()
		trees, err := locker.Trees(f.Context())
		testerr.Must(f, err)
		if snapshot, err := locker.Snapshot(f.Context(), trees[0]); err != nil || len(snapshot.Waiters) != 0 || len(snapshot.Holders) != 1 {
			f.Errorf("after the end of the observer: %v, %v", snapshot, err)
		}
		f.resign(c)
	})
}

// Observers that hang with what they were granted delay no election, not even one of the same
// candidate.
func TestObserve_delaysNoElection(t *testing.T) {
	in(t, func(f *fixture) {
		free := make(chan struct{})
		f.cut.Set(func(_ context.Context, call string) error {
			if call == "release" {
				<-free
			}
			return nil
		})
		candidate := f.office()
		leader := f.campaign(f.Context(), candidate, "term 0")
		var all []<-chan seen
		var ends []func()
		for range 3 {
			stuck, _ := process(f.cut)
			leaders, end := f.watch(f.Context(), stuck.Observe)
			all, ends = append(all, leaders), append(ends, end)
		}
		for term := range 3 {
			for _, leaders := range all {
				if got := now(f, "an observer", leaders); got.leader.Value != leader.Value() {
					f.Fatalf("an observer sees %v, want %s", got, leader.Value())
				}
			}
			next := f.queue(fmt.Sprintf("term %d", term+1))
			f.resign(leader)
			leader = now(f, "the next leader", next)
		}
		f.resign(leader)
		began := time.Now()
		f.resign(f.campaign(f.Context(), candidate, "again"))
		if took := time.Since(began); took != 0 {
			f.Errorf("elected after %v", took)
		}
		close(free)
		for _, end := range ends {
			end()
		}
	})
}

// An observer reports that the store does not answer, goes on, and says who leads when it knows
// again. It ends when the store was closed.
func TestObserve_outlivesAnOutage(t *testing.T) {
	in(t, func(f *fixture) {
		outage := testlock.Failing(fmt.Errorf("%w: an outage", pathlock.ErrUnavailable), "snapshot", "acquire")
		e, _ := process(f.cut)
		a := f.campaign(f.Context(), e, "a")
		f.cut.Set(outage)
		leaders, _ := f.watch(f.Context(), e.Observe)
		for _, term := range []uint64{a.Term(), 0} {
			for range 3 {
				if got := <-leaders; !errors.Is(got.err, pathlock.ErrUnavailable) || !got.leader.IsZero() {
					f.Fatalf("during the outage: %v", got)
				}
			}
			f.cut.Set(nil)
			got := <-leaders
			for got.err != nil {
				got = <-leaders
			}
			if got.leader.Term != term {
				f.Errorf("after the outage: %v, want the term %d", got, term)
			}
			if term != 0 {
				f.resign(a)
				<-leaders // nobody leads, and observers look now and then
			}
			f.cut.Set(outage)
		}
		f.cut.Set(testlock.Failing(fmt.Errorf("%w: closed: %w", pathlock.ErrUnavailable, pathlock.ErrClosed), "snapshot", "acquire"))
		for got := range leaders { // which ends
			if !errors.Is(got.err, pathlock.ErrClosed) {
				f.Errorf("after the close: %v", got)
			}
		}
	})
}

// If no more may wait, an observer looks from time to time.
func TestObserve_goesOnWhereTheQueueIsFull(t *testing.T) {
	in(t, func(f *fixture) {
		f.cut.Set(testlock.Failing(pathlock.ErrConflict, "acquire"))
		observer, _ := process(f.cut)
		leaders, end := f.watch(f.Context(), observer.Observe)
		<-leaders
		for _, value := range []string{"a", "b"} {
			l := f.campaign(f.Context(), f.office(), value)
			elected := time.Now()
			got := <-leaders
			for got.leader.IsZero() {
				got = <-leaders
			}
			if got.leader.Term != l.Term() || time.Since(elected) > time.Second {
				f.Errorf("an observer sees %v after %v", got, time.Since(elected))
			}
			f.resign(l)
		}
		end()
	})
}
