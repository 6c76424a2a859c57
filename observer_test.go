package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// journal writes down what it is told.
type journal struct {
	pathlock.NopObserver
	mu     sync.Mutex
	events []string
}

func (j *journal) add(what string, e pathlock.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	line := what + " " + written(e.Claims)
	if e.Reentrant {
		line += " (re-entrant)"
	}
	if e.Err != nil {
		line += ": error"
	}
	j.events = append(j.events, line)
}

// count returns how much has been written down.
func (j *journal) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.events)
}

func (j *journal) Acquiring(ctx context.Context, e pathlock.Event) context.Context {
	j.add("acquiring", e)
	return ctx
}

func (j *journal) Waiting(_ context.Context, e pathlock.Event) { j.add("waiting", e) }

func (j *journal) Granted(_ context.Context, e pathlock.Event) { j.add("granted", e) }

func (j *journal) Refused(_ context.Context, e pathlock.Event) { j.add("refused", e) }

func (j *journal) Released(_ context.Context, e pathlock.Event) { j.add("released", e) }

func (j *journal) Lost(_ context.Context, e pathlock.Event) { j.add("lost", e) }

func TestObserversSeeEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		l, _ := newLocker(pathlock.WithObserver(j), pathlock.WithObserver(pathlock.NopObserver{}))
		lock := acquire(t.Context(), t, l, "X /a")
		inner := acquire(lock.Context(), t, l, "S /a")
		_, _ = l.Acquire(t.Context(), request(t, "X /a"))
		waited := request(t, "IX /a")
		waited.Wait = time.Second
		_, _ = l.Acquire(t.Context(), waited)
		release(t, inner)
		release(t, lock)
		lost := acquire(t.Context(), t, l, "X /b")
		if err := l.ForceRelease(t.Context(), lost.Tree(), l.Scope(lost.Context()).Owner()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(pathlock.DefaultLease)
		_ = lost.Release(t.Context())

		want := []string{
			"acquiring X /a", "granted X /a", "granted S /a (re-entrant)",
			"acquiring X /a", "refused X /a: error",
			"acquiring IX /a", "waiting IX /a", "refused IX /a: error",
			"released S /a (re-entrant)", "released X /a",
			"acquiring X /b", "granted X /b", "lost X /b: error", "released X /b: error",
		}
		if !slices.Equal(j.events, want) {
			t.Errorf("seen:\n\t%s\nwant:\n\t%s", strings.Join(j.events, "\n\t"), strings.Join(want, "\n\t"))
		}
	})
}

// stopwatch writes down what it is told to have elapsed.
type stopwatch struct {
	pathlock.NopObserver
	mu     sync.Mutex
	events []string
}

func (s *stopwatch) add(what string, e pathlock.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, fmt.Sprintf("%s after %v", what, e.Elapsed))
}

func (s *stopwatch) Waiting(_ context.Context, e pathlock.Event)  { s.add("waiting", e) }
func (s *stopwatch) Granted(_ context.Context, e pathlock.Event)  { s.add("granted", e) }
func (s *stopwatch) Refused(_ context.Context, e pathlock.Event)  { s.add("refused", e) }
func (s *stopwatch) Released(_ context.Context, e pathlock.Event) { s.add("released", e) }

func TestObserversAndTheLogLearnHowLongItTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := &stopwatch{}, &strings.Builder{}
		debug := pathlock.WithLogger(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
		watched := pathlock.New(memstore.New(), quiet, pathlock.WithObserver(s))
		for _, l := range []*pathlock.Locker{watched, pathlock.New(memstore.New(), debug)} {
			lock := acquire(t.Context(), t, l, "X /a")
			inner := acquire(lock.Context(), t, l, "X /a")
			time.Sleep(2 * time.Second)
			release(t, inner)
			time.AfterFunc(3*time.Second, func() { release(t, lock) })
			next := request(t, "X /a")
			next.Wait = time.Second
			if _, err := l.Acquire(t.Context(), next); !errors.Is(err, pathlock.ErrConflict) {
				t.Fatal(err)
			}
			next.Wait = time.Minute
			lock, err := l.Acquire(t.Context(), next)
			if err != nil {
				t.Fatal(err)
			}
			release(t, lock)
			synctest.Wait() // the first release tells of itself when it has let the second lock in
		}
		want := []string{
			"granted after 0s", "granted after 0s", "granted after 2s", "refused after 1s",
			"released after 0s", "released after 2s", "released after 5s", "waiting after 0s", "waiting after 0s",
		}
		// Whoever releases and whoever is let in are told at the same time.
		slices.Sort(s.events)
		if !slices.Equal(s.events, want) {
			t.Errorf("seen %q, want %q", s.events, want)
		}
		for _, held := range []string{"held=2s", "held=5s"} {
			if !strings.Contains(log.String(), held) {
				t.Errorf("not in the log: %s\n%s", held, log)
			}
		}
	})
}

func TestOwnersAreNeverShownWhole(t *testing.T) {
	var log strings.Builder
	l := pathlock.New(memstore.New(), pathlock.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	req := request(t, "X /a")
	req.Note = ""
	lock, err := l.Acquire(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	_, conflict := l.Acquire(t.Context(), req)
	owner := l.Scope(lock.Context()).Owner()
	release(t, lock)
	if shown := log.String() + conflict.Error(); strings.Contains(shown, string(owner)) || !strings.Contains(shown, owner.Short()) {
		t.Errorf("the owner %s is shown whole, or not at all, in:\n%s", owner, shown)
	}
}
