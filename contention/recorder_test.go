package contention_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/contention"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// in runs a test in virtual time.
func in(t *testing.T, config contention.Config, test func(f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newFixture(t, config)) })
}

func TestAStallThatIsOverCanStillBeSeen(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		lock := f.hold(f.by("POST /import"), "/Dir1", "import")
		began := time.Now()
		for range 3 {
			f.wait(f.by("PATCH /suites/:id"), "/Dir1", "rename", time.Minute)
		}
		f.wait(f.by("DELETE /suites/:id"), "/dir1/sub", "delete", 2*time.Second)
		time.Sleep(5 * time.Second) // virtual
		f.release(lock)
		f.waiting.Wait()
		time.Sleep(time.Hour) // virtual

		e := f.only()
		if e.Tree != plan(f, "7") || e.Path.String() != "/dir1" || e.Mode != pathlock.ModeX || e.Gate {
			f.Errorf("the place is %s %s %s, gate %v", e.Tree, e.Path, e.Mode, e.Gate)
		}
		if !e.Began.Equal(began) || e.Ended.Sub(began) != 5*time.Second {
			f.Errorf("began %v, ended %v later; want %v and 5s", e.Began, e.Ended.Sub(e.Began), began)
		}
		if e.Waits != 4 || e.MostWaiting != 4 || e.TimedOut != 1 || e.Longest != 5*time.Second || e.Waited != 17*time.Second {
			f.Errorf("%d waits, at most %d at once, %d in vain, the longest %v, %v in all; want 4, 4, 1, 5s, 17s",
				e.Waits, e.MostWaiting, e.TimedOut, e.Longest, e.Waited)
		}
		if len(e.Blockers) != 1 {
			f.Fatalf("blockers %+v, want one", e.Blockers)
		}
		b := e.Blockers[0]
		if b.Owner != f.locker.Scope(lock.Context()).Owner() || b.Note != "import" || b.Origin.Route != "POST /import" ||
			b.Origin.Instance != "web-1" || b.Waiting || b.Waits != 4 || b.Waited != 17*time.Second || b.Fence != lock.Fence() {
			f.Errorf("the blocker is %+v", b)
		}
		outcomes := map[contention.Outcome]int{}
		for _, w := range e.Waiters {
			outcomes[w.Outcome]++
		}
		if outcomes[contention.Granted] != 3 || outcomes[contention.TimedOut] != 1 {
			f.Errorf("outcomes %v, want 3 granted and 1 timed out", outcomes)
		}
		if last := e.Waiters[len(e.Waiters)-1]; last.Note != "delete" || last.Waited != 2*time.Second || last.Origin.Route != "DELETE /suites/:id" {
			f.Errorf("the shortest wait is %+v, want the delete of 2s", last)
		}
	})
}

func TestAWaitBelowTheThresholdLeavesNothing(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		for range 100 {
			lock := f.hold(f.Context(), "/a", "")
			f.wait(f.Context(), "/a", "", time.Minute)
			time.Sleep(contention.DefaultThreshold - time.Millisecond) // virtual
			f.release(lock)
			f.waiting.Wait()
		}
		time.Sleep(time.Minute) // virtual
		if h := f.recorder.History(); len(h.Episodes) > 0 || h.Version > 0 || f.store.count() > 0 {
			f.Errorf("%d episodes, version %d, %d looks; want none", len(h.Episodes), h.Version, f.store.count())
		}
	})
}

func TestAnEpisodeShowsWhileItGoesOn(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		lock := f.hold(f.by("POST /import"), "/a", "import")
		f.wait(f.by("PATCH /suites/:id"), "/a", "rename", time.Minute)
		time.Sleep(10 * time.Second) // virtual
		e := f.only()
		if !e.Ended.IsZero() || e.Waited != 10*time.Second || e.Longest != 10*time.Second || e.Blockers[0].Waited != 10*time.Second {
			f.Errorf("ended %v, waited %v, longest %v, because of the blocker %v; want an open one of 10s each",
				e.Ended, e.Waited, e.Longest, e.Blockers[0].Waited)
		}
		if w := e.Waiters[0]; w.Outcome != contention.Waits || w.Waited != 10*time.Second {
			f.Errorf("the waiter %+v, want one that waits for 10s", w)
		}
		routes := f.recorder.History().ByRoute(contention.MostWaited)
		if len(routes) != 2 || routes[0].Name != "PATCH /suites/:id" || routes[0].Waited != 10*time.Second ||
			routes[1].Name != "POST /import" || routes[1].Caused != 10*time.Second || routes[1].CausedWaits != 1 {
			f.Errorf("by route: %+v", routes)
		}
		f.release(lock)
	})
}

func TestTheTimeIsChargedToWhoIsInTheWayAtTheTime(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		first := f.hold(f.by("first"), "/a", "")
		second := make(chan *pathlock.Lock)
		go func() {
			lock, err := f.locker.Acquire(f.by("second"), pathlock.Request{Tree: plan(f, "7"), Claims: x("/a")})
			if err != nil {
				f.Error(err)
			}
			second <- lock
		}()
		synctest.Wait()
		f.wait(f.by("third"), "/a", "", time.Minute)
		// The looks are 50 ms, then 1 s, 2 s, 4 s apart.
		time.Sleep(2 * time.Second) // virtual
		f.release(first)
		lock := <-second
		time.Sleep(10 * time.Second) // virtual
		f.release(lock)
		f.waiting.Wait()
		charged := map[string]time.Duration{}
		for _, b := range f.only().Blockers {
			charged[b.Origin.Route] += b.Waited
		}
		// The second waited for 2 s and the third for 12 s. The look at 3.05 s shows the change.
		if charged["first"] != 2*time.Second+3*time.Second+50*time.Millisecond || charged["second"] != 9*time.Second-50*time.Millisecond {
			f.Errorf("charged %v", charged)
		}
	})
}

func TestWhoWaitsBehindAWaiterIsBlockedByIt(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		lock := f.hold(f.by("reader"), "/a/b", "")
		f.wait(f.by("writer"), "/a", "export", time.Minute)
		synctest.Wait()
		f.wait(f.by("late"), "/a/c", "", time.Minute)
		time.Sleep(time.Second) // virtual
		var waiting []string
		for _, e := range f.recorder.History().Episodes {
			for _, b := range e.Blockers {
				if b.Waiting {
					waiting = append(waiting, b.Origin.Route)
				}
			}
		}
		if len(waiting) != 1 || waiting[0] != "writer" {
			f.Errorf("blockers that wait: %q, want the writer", waiting)
		}
		f.release(lock)
	})
}

func TestWaitsSoonAfterBelongToTheSameEpisode(t *testing.T) {
	for pause, episodes := range map[time.Duration]int{900 * time.Millisecond: 1, 1100 * time.Millisecond: 2} {
		t.Run(pause.String(), func(t *testing.T) {
			in(t, contention.Config{}, func(f *fixture) {
				for range 2 {
					lock := f.hold(f.Context(), "/a", "")
					f.wait(f.Context(), "/a", "", time.Minute)
					time.Sleep(time.Second) // virtual
					f.release(lock)
					f.waiting.Wait()
					time.Sleep(pause) // virtual
				}
				h := f.recorder.History()
				places := h.ByPlace(contention.Last)
				if len(h.Episodes) != episodes || len(places) != 1 || places[0].Episodes != episodes || places[0].Waits != 2 || places[0].Waited != 2*time.Second {
					f.Errorf("%d episodes, places %+v; want %d episodes at one place with 2 waits of 2s", len(h.Episodes), places, episodes)
				}
			})
		})
	}
}

func TestTheOldestEpisodesMakeRoom(t *testing.T) {
	in(t, contention.Config{Capacity: 3}, func(f *fixture) {
		// The first episode goes on all the while, so the next oldest ones go.
		stuck := f.hold(f.Context(), "/stuck", "")
		f.wait(f.Context(), "/stuck", "", time.Hour)
		time.Sleep(time.Second) // virtual
		for i := range 5 {
			path := fmt.Sprintf("/dir%d", i)
			lock := f.hold(f.Context(), path, "")
			f.wait(f.Context(), path, "", time.Minute)
			time.Sleep(time.Second) // virtual
			f.release(lock)
			time.Sleep(time.Second) // virtual
		}
		h := f.recorder.History()
		var paths []string
		for _, e := range h.Episodes {
			paths = append(paths, e.Path.String())
		}
		if got := fmt.Sprint(paths); got != "[/stuck /dir4 /dir3]" || h.Dropped != 3 || h.Capacity != 3 {
			f.Errorf("kept %s, dropped %d of a ring of %d", got, h.Dropped, h.Capacity)
		}
		f.release(stuck)
	})
}

// A refusal tells who was in the way, even if the store never gave a snapshot.
func TestARefusalTellsWhoWasInTheWay(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		f.store.fail = pathlock.ErrUnavailable
		lock := f.hold(f.by("POST /import"), "/a", "import")
		f.wait(f.by("PATCH /suites/:id"), "/a/b", "rename", time.Second)
		f.waiting.Wait()
		e := f.only()
		if len(e.Blockers) != 1 || e.Blockers[0].Note != "import" || e.Blockers[0].Origin.Route != "POST /import" || e.TimedOut != 1 {
			f.Errorf("%+v", e)
		}
		f.release(lock)
	})
}

func TestAWaitThatNoLookHasExplainedCounts(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		f.store.fail = errors.New("no")
		lock := f.hold(f.Context(), "/a", "")
		f.wait(f.Context(), "/a", "", time.Minute)
		time.Sleep(time.Second) // virtual
		f.release(lock)
		f.waiting.Wait()
		if e := f.only(); e.Path.String() != "/a" || e.Waited != time.Second || len(e.Blockers) > 0 {
			f.Errorf("%+v", e)
		}
	})
}

// While hundreds wait in dozens of trees, the store is asked for 20 snapshots a second at most, and
// for one tree less and less often.
func TestLooksAreFew(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		var locks []*pathlock.Lock
		for i := range 60 {
			tree := plan(f, fmt.Sprint(i))
			lock, err := f.locker.Acquire(f.Context(), pathlock.Request{Tree: tree, Gate: true})
			if err != nil {
				f.Fatal(err)
			}
			locks = append(locks, lock)
			for range 10 {
				f.waiting.Go(func() {
					if lock, err := f.locker.Acquire(f.Context(), pathlock.Request{Tree: tree, Claims: x("/a"), Wait: time.Hour}); err == nil {
						_ = lock.Release(f.Context())
					}
				})
			}
		}
		time.Sleep(10 * time.Second) // virtual
		if n := f.store.count(); n < 60 || n > 200 {
			f.Errorf("%d looks in 10 seconds, want 60 to 200", n)
		}
		before := f.store.count()
		time.Sleep(10 * time.Minute) // virtual
		if n := f.store.count() - before; n > 60*(10*60/30+5) {
			f.Errorf("%d looks in 10 minutes at 60 trees, want one per tree and 30 s", n)
		}
		if n := len(f.recorder.History().Episodes); n != 60 {
			f.Errorf("%d episodes, want 60", n)
		}
		for _, lock := range locks {
			f.release(lock)
		}
	})
}

func TestAClosedRecorderKeepsNothingMore(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		f.recorder.Close()
		lock := f.hold(f.Context(), "/a", "")
		f.wait(f.Context(), "/a", "", time.Second)
		f.waiting.Wait()
		f.release(lock)
		f.recorder.Close()
		if n := f.store.count(); n > 0 {
			f.Errorf("%d looks after the end", n)
		}
	})
}

// A grant that nobody is in the way of costs one allocation more with a recorder than with an
// observer that does nothing.
func TestARequestThatDoesNotWaitCostsOneAllocation(t *testing.T) {
	cost := func(o pathlock.Observer) float64 {
		locker := pathlock.New(memstore.New(), pathlock.WithObserver(o))
		request := pathlock.Request{Tree: plan(t, "7"), Claims: x("/a")}
		return testing.AllocsPerRun(200, func() {
			lock, err := locker.Acquire(context.Background(), request)
			if err == nil {
				err = lock.Release(context.Background())
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	recorder := contention.New(memstore.New(), contention.Config{})
	defer recorder.Close()
	if without, with := cost(pathlock.NopObserver{}), cost(recorder); with > without+1 {
		t.Errorf("%v allocations, %v without the recorder", with, without)
	}
}
