package contention_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/contention"
	"github.com/pathlock-go/pathlock/election"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
)

// in runs a test in virtual time.
func in(t *testing.T, config contention.Config, test func(f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newFixture(t, config)) })
}

// Each way a wait ends, with who was in the way: a snapshot tells it of those that are granted, and
// the error of those that are refused.
func TestRecorder_remembersWaits(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		lock := f.hold(f.by("POST /import"), "/Dir1", "import")
		began := time.Now()
		leaving, leave := context.WithCancel(f.by("GET /export"))
		f.wait(f.by("PATCH /suites/:id"), "/Dir1", "rename", time.Minute)
		f.wait(f.by("DELETE /suites/:id"), "/dir1/sub", "delete", 2*time.Second)
		f.wait(leaving, "/dir1", "export", time.Minute)
		time.Sleep(3 * time.Second) // virtual
		leave()
		time.Sleep(2 * time.Second) // virtual
		f.release(lock)
		f.waiting.Wait()

		h := f.recorder.History()
		if h.Dropped != 0 || h.Capacity != 256 || !h.Since.Equal(began) {
			f.Errorf("%+v", h)
		}
		var got []string
		for _, w := range h.Waits {
			got = append(got, fmt.Sprint(w.Note, " by ", w.Origin.Route, ": ", w.Outcome, " after ", w.Ended.Sub(w.Began), " for ", w.Mode, " ", w.Path, " in ", w.Tree))
			b := w.Blocker
			if b.Owner != f.locker.Scope(lock.Context()).Owner() || b.Note != "import" || b.Origin != (pathlock.Origin{Route: "POST /import", Instance: "web-1"}) ||
				b.Waiting || b.Mode != pathlock.ModeX || b.Since.IsZero() || w.Gate || !w.Began.Equal(began) {
				f.Errorf("in the way of %+v was %+v", w, b)
			}
		}
		want := []string{
			"rename by PATCH /suites/:id: granted after 5s for X /dir1 in testplan/7",
			"export by GET /export: cancelled after 3s for X /dir1 in testplan/7",
			"delete by DELETE /suites/:id: timed-out after 2s for IX /dir1 in testplan/7",
		}
		if !slices.Equal(got, want) {
			f.Errorf("got %q, want %q", got, want)
		}
		if n := f.looks(); n != 1 {
			f.Errorf("%d looks for three waits that began together, want 1", n)
		}
	})
}

func TestRecorder_leavesOutWaitsBelowTheThreshold(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		lock := f.hold(f.Context(), "/a", "")
		f.wait(f.Context(), "/a", "", time.Minute)
		time.Sleep(50*time.Millisecond - time.Millisecond) // virtual
		f.release(lock)
		f.waiting.Wait()
		time.Sleep(time.Minute) // virtual
		if h := f.recorder.History(); len(h.Waits) > 0 || f.looks() > 0 {
			f.Errorf("%d waits, %d looks; want none", len(h.Waits), f.looks())
		}
	})
}

func TestRecorder_waitersBlockThoseBehindThem(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		lock := f.hold(f.by("reader"), "/a/b", "")
		f.wait(f.by("writer"), "/a", "export", time.Minute)
		synctest.Wait()
		f.wait(f.by("late"), "/a/c", "late", time.Minute)
		time.Sleep(time.Second) // virtual
		f.release(lock)
		f.waiting.Wait()
		for _, w := range f.recorder.History().Waits {
			if w.Note == "late" && (!w.Blocker.Waiting || w.Blocker.Origin.Route != "writer") {
				f.Errorf("in the way was %+v, want the writer, which waited", w.Blocker)
			}
		}
	})
}

func TestRecorder_keepsTheLastWaits(t *testing.T) {
	in(t, contention.Config{Capacity: 3, Threshold: time.Second}, func(f *fixture) {
		for i := range 5 {
			lock, err := f.locker.Acquire(f.Context(), pathlock.Request{Tree: plan(f, "7"), Gate: true})
			testerr.Must(f, err)
			f.wait(f.Context(), "/a", fmt.Sprint(i), time.Minute)
			time.Sleep(2 * time.Second) // virtual
			f.release(lock)
			f.waiting.Wait()
		}
		h := f.recorder.History()
		var kept []string
		for _, w := range h.Waits {
			kept = append(kept, w.Note)
			if !w.Gate || !w.Path.IsRoot() || !w.Blocker.Gate {
				f.Errorf("%+v, want a wait for the holder of the gate", w)
			}
		}
		if fmt.Sprint(kept) != "[4 3 2]" || h.Dropped != 2 || h.Capacity != 3 {
			f.Errorf("kept %v, dropped %d of %d", kept, h.Dropped, h.Capacity)
		}
	})
}

// While many wait in dozens of trees, the store is asked once for each tree, 20 times a second at
// most.
func TestRecorder_looksAreFew(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		ctx, leave := context.WithCancel(f.Context())
		for i := range 60 {
			gate := pathlock.Request{Tree: plan(f, fmt.Sprint(i)), Gate: true, Wait: time.Hour}
			lock, err := f.locker.Acquire(f.Context(), gate)
			testerr.Must(f, err)
			defer f.release(lock)
			for range 3 {
				f.waiting.Go(func() { _, _ = f.locker.Acquire(ctx, gate) })
			}
		}
		time.Sleep(2 * time.Second) // virtual
		if n := f.looks(); n < 35 || n > 40 {
			f.Errorf("%d looks in 2 seconds, want almost 40", n)
		}
		time.Sleep(10 * time.Minute) // virtual
		if n := f.looks(); n != 60 {
			f.Errorf("%d looks, want one for each of 60 trees", n)
		}
		leave()
		f.waiting.Wait()
	})
}

// Without a snapshot, as when the recorder is closed, a refusal still tells who was in the way, and
// a grant counts.
func TestRecorder_withoutASnapshot(t *testing.T) {
	for name, prepare := range map[string]func(f *fixture){
		"closed": func(f *fixture) { f.recorder.Close() }, "the store gives none": func(f *fixture) { f.store.Set(testlock.Failing(errors.New("no"), "snapshot")) },
	} {
		in(t, contention.Config{}, func(f *fixture) {
			prepare(f)
			lock := f.hold(f.by("POST /import"), "/a", "import")
			f.wait(f.Context(), "/a", "granted", time.Minute)
			f.wait(f.Context(), "/a/b", "refused", time.Second)
			time.Sleep(2 * time.Second) // virtual
			f.release(lock)
			f.waiting.Wait()
			h := f.recorder.History().Waits
			if len(h) != 2 || !h[0].Blocker.IsZero() || h[0].Path.String() != "/a" || h[0].Mode != pathlock.ModeX || h[1].Blocker.Note != "import" {
				f.Errorf("%s: %+v", name, h)
			}
			if name == "closed" && f.looks() > 0 {
				f.Error("a closed recorder looks")
			}
		})
	}
}

// A candidate waits for as long as all is well.
func TestRecorder_electionsAreNoStalls(t *testing.T) {
	in(t, contention.Config{}, func(f *fixture) {
		e := election.New(f.locker, "leader")
		leader, err := e.Campaign(f.Context(), "a")
		testerr.Must(f, err)
		ctx, cancel := context.WithTimeout(f.Context(), time.Second)
		defer cancel()
		testerr.Is(f, "a second leader", testerr.Of(e.Campaign(ctx, "b")), pathlock.ErrConflict)
		testerr.None(f, leader.Resign(f.Context()))
		if h := f.recorder.History(); len(h.Waits) > 0 || f.looks() > 0 {
			f.Errorf("%d looks, and the waits %+v", f.looks(), h.Waits)
		}
	})
}
