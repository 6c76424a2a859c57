package contention_test

import (
	"context"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/contention"
	"github.com/pathlock-go/pathlock/election"
)

// queue has waits at a path last so long, one after the other, behind a holder each, without a
// pause between them.
func (f *fixture) queue(path string, waits ...time.Duration) {
	f.Helper()
	for _, wait := range waits {
		lock := f.hold(f.by("holder of "+path), path, "")
		f.wait(f.by("waiter for "+path), path, wait.String(), time.Minute)
		time.Sleep(wait) // virtual
		f.release(lock)
		f.waiting.Wait()
	}
}

// The sums are those of all waits, in whichever order they end, and whichever began first.
func TestSumsDoNotDependOnTheOrder(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		f.queue("/a", 200*time.Millisecond, 900*time.Millisecond, 300*time.Millisecond)
		e := f.only()
		if e.Waits != 3 || e.Longest != 900*time.Millisecond || e.Waited != 1400*time.Millisecond || e.MostWaiting != 1 {
			f.Errorf("%d waits, the longest %v, %v in all, %d at once", e.Waits, e.Longest, e.Waited, e.MostWaiting)
		}
	})
}

// The most that wait at once are not the last ones.
func TestTheMostThatWaitAtOnce(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		lock := f.hold(f.Context(), "/a", "")
		for range 3 {
			f.wait(f.Context(), "/a", "", time.Second)
		}
		time.Sleep(1500 * time.Millisecond) // virtual
		f.wait(f.Context(), "/a", "", time.Second)
		time.Sleep(2 * time.Second) // virtual
		f.release(lock)
		f.waiting.Wait()
		if e := f.only(); e.Waits != 4 || e.MostWaiting != 3 {
			f.Errorf("%d waits, at most %d at once, want 4 and 3", e.Waits, e.MostWaiting)
		}
	})
}

// Of many waits, the longest are kept, whether they ended first or last.
func TestTheLongestWaitsAreKept(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		waits := []time.Duration{800 * time.Millisecond}
		for i := range 20 {
			waits = append(waits, time.Duration(100+10*i)*time.Millisecond)
		}
		f.queue("/a", append(waits, 700*time.Millisecond)...)
		e := f.only()
		if len(e.Waiters) != 16 || e.Waiters[0].Note != "800ms" || e.Waiters[1].Note != "700ms" || e.Waiters[15].Note != "160ms" {
			f.Errorf("%d waiters are kept: %+v", len(e.Waiters), e.Waiters)
		}
	})
}

// An episode begins with its first wait, which need not be the first that a look explains.
func TestAnEpisodeBeginsWithItsFirstWait(t *testing.T) {
	in(t, contention.Config{Threshold: 100 * time.Millisecond}, func(f *fixture) {
		lock := f.hold(f.Context(), "/a", "")
		began := time.Now()
		// The look at 100 ms has no answer; that of the second wait finds both.
		f.store.mu.Lock()
		f.store.fail = pathlock.ErrUnavailable
		f.store.mu.Unlock()
		f.wait(f.Context(), "/a", "first", time.Minute)
		time.Sleep(500 * time.Millisecond) // virtual
		f.wait(f.Context(), "/a", "second", 400*time.Millisecond)
		// The second is refused, which tells where it waited, before a look tells it of the first.
		time.Sleep(450 * time.Millisecond) // virtual
		f.store.mu.Lock()
		f.store.fail = nil
		f.store.mu.Unlock()
		time.Sleep(time.Minute / 2) // virtual
		f.release(lock)
		f.waiting.Wait()
		if e := f.only(); !e.Began.Equal(began) || e.Waits != 2 {
			f.Errorf("%d waits since %v, want 2 since %v", e.Waits, e.Began.Sub(began), 0)
		}
	})
}

// Whoever is refused because of the gate waited for the gate, at whatever path.
func TestARefusalBecauseOfTheGateIsAtTheGate(t *testing.T) {
	in(t, contention.Config{LookEvery: time.Hour}, func(f *fixture) {
		f.store.mu.Lock()
		f.store.fail = pathlock.ErrUnavailable
		f.store.mu.Unlock()
		gate, err := f.locker.Acquire(f.Context(), pathlock.Request{Tree: plan(f, "7"), Gate: true, Note: "export"})
		if err != nil {
			f.Fatal(err)
		}
		f.wait(f.Context(), "/a/b", "", time.Second)
		f.waiting.Wait()
		f.release(gate)
		if e := f.only(); !e.Gate || !e.Path.IsRoot() || e.TimedOut != 1 || len(e.Blockers) != 1 || e.Blockers[0].Note != "export" {
			f.Errorf("the episode is %+v", e)
		}
	})
}

// slow is a store whose snapshots take a while.
type slow struct {
	pathlock.Store
	by time.Duration
}

func (s *slow) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	snapshot, err := s.Store.Snapshot(ctx, tree)
	time.Sleep(s.by) // virtual
	return snapshot, err
}

// What a look finds about a wait that has ended meanwhile is dropped: the wait has been counted.
func TestALookThatComesLateChargesNobody(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		late := &slow{Store: f.store, by: 300 * time.Millisecond}
		recorder := contention.New(late, contention.Config{})
		defer recorder.Close()
		locker := pathlock.New(f.store, pathlock.WithObserver(recorder), pathlock.WithWait(time.Minute))
		lock, err := locker.Acquire(f.by("holder"), pathlock.Request{Tree: plan(f, "8"), Claims: x("/a")})
		if err != nil {
			f.Fatal(err)
		}
		f.waiting.Go(func() {
			lock, err := locker.Acquire(f.by("waiter"), pathlock.Request{Tree: plan(f, "8"), Claims: x("/a")})
			if err != nil {
				f.Error(err)
				return
			}
			f.release(lock)
		})
		time.Sleep(100 * time.Millisecond) // virtual; the look has begun at 50 ms
		f.release(lock)
		f.waiting.Wait()
		time.Sleep(time.Second) // virtual
		h := recorder.History()
		if len(h.Episodes) != 1 || h.Episodes[0].Waits != 1 || h.Episodes[0].Ended.IsZero() || h.Episodes[0].Waited != 100*time.Millisecond || len(h.Episodes[0].Blockers) > 0 {
			f.Errorf("the history is %+v", h.Episodes)
		}
	})
}

// A look explains at most so many waits: those first of which nothing is known.
func TestWaitsOfWhichNothingIsKnownAreExplainedFirst(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		lock := f.hold(f.Context(), "/a", "old")
		for range 300 {
			f.wait(f.Context(), "/a", "", time.Hour)
		}
		time.Sleep(20 * time.Second) // virtual: all of them are explained
		other := f.hold(f.Context(), "/b", "new")
		f.wait(f.by("of the new one"), "/b", "", time.Hour)
		time.Sleep(35 * time.Second) // virtual: one more look at least
		found := false
		for _, e := range f.recorder.History().Episodes {
			found = found || e.Path.String() == "/b" && len(e.Blockers) == 1 && e.Blockers[0].Note == "new"
		}
		if !found {
			f.Errorf("the wait at /b is unexplained: %+v", f.recorder.History().Episodes)
		}
		f.release(other)
		f.release(lock)
	})
}

// Each order puts another episode first, and with it its place and the route that waited there.
func TestOrders(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		pause := func() { time.Sleep(time.Minute) } // virtual; the next wait is another episode
		f.queue("/longest", 5*time.Second, 100*time.Millisecond)
		pause()
		f.queue("/most", 600*time.Millisecond, 600*time.Millisecond, 600*time.Millisecond, 600*time.Millisecond)
		pause()
		f.queue("/waited", 2*time.Second, 2*time.Second, 2*time.Second)
		pause()
		f.queue("/last", 100*time.Millisecond)
		h := f.recorder.History()
		for order, want := range map[contention.Order]string{
			contention.Last: "/last /waited /most /longest", contention.Longest: "/longest /waited /most /last",
			contention.MostWaited: "/waited /longest /most /last", contention.MostWaits: "/most /waited /longest /last",
		} {
			h.Sort(order)
			episodes, places, routes := "", "", ""
			for _, e := range h.Episodes {
				episodes += " " + e.Path.String()
			}
			for _, p := range h.ByPlace(order) {
				places += " " + p.Path.String()
			}
			for _, r := range h.ByRoute(order) {
				if r.Waits > 0 {
					routes += " " + r.Name[len("waiter for "):]
				}
			}
			if episodes != " "+want || places != episodes || routes != episodes {
				f.Errorf("%s: episodes%s, places%s, routes%s; want %s", order, episodes, places, routes, want)
			}
		}
	})
}

// A candidate waits for as long as all is well, and so does who observes: neither is a stall.
func TestElectionsAreNoStalls(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		e := election.New(f.locker, "nightly")
		first, err := e.Campaign(f.Context(), "host-1")
		if err != nil {
			f.Fatal(err)
		}
		f.waiting.Go(func() {
			second, err := e.Campaign(f.Context(), "host-2")
			if err == nil {
				err = second.Resign(f.Context())
			}
			if err != nil {
				f.Error(err)
			}
		})
		time.Sleep(time.Hour) // virtual
		if err := first.Resign(f.Context()); err != nil {
			f.Error(err)
		}
		f.waiting.Wait()
		if h := f.recorder.History(); len(h.Episodes) > 0 || f.store.count() > 0 {
			f.Errorf("%d looks, and episodes %+v", f.store.count(), h.Episodes)
		}
	})
}
