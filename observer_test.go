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
	"github.com/pathlock-go/pathlock/internal/test/testerr"
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
	} else if e.Origin.Trace == "" && what != "acquiring" {
		line += " (untraced)"
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
	return pathlock.WithOrigin(ctx, pathlock.Origin{Trace: "begun here"})
}

func (j *journal) Waiting(_ context.Context, e pathlock.Event) { j.add("waiting", e) }

func (j *journal) Granted(_ context.Context, e pathlock.Event) { j.add("granted", e) }

func (j *journal) Refused(_ context.Context, e pathlock.Event) { j.add("refused", e) }

func (j *journal) Released(_ context.Context, e pathlock.Event) { j.add("released", e) }

func (j *journal) Lost(_ context.Context, e pathlock.Event) { j.add("lost", e) }

func TestObserver_seesEverything(t *testing.T) {
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
		testerr.Must(t, l.ForceRelease(t.Context(), lost.Tree(), l.Scope(lost.Context()).Owner()))
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

// A loss that a release finds is a loss as any other, and one report of it.
func TestObserver_hearsOfALossThatReleaseFinds(t *testing.T) {
	for name, release := range map[string]func(context.Context, *pathlock.Lock) error{
		"Release": func(ctx context.Context, k *pathlock.Lock) error { return k.Release(ctx) },
		"ReleaseInBackground": func(ctx context.Context, k *pathlock.Lock) error {
			k.ReleaseInBackground(ctx)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			j, log := &journal{}, &strings.Builder{}
			l, store := newLocker(pathlock.WithObserver(j), pathlock.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
			lock := acquire(t.Context(), t, l, "X /a")
			testerr.Must(t, store.ForceRelease(t.Context(), lock.Tree(), l.Scope(lock.Context()).Owner()))
			if err := release(t.Context(), lock); err != nil && !errors.Is(err, pathlock.ErrLost) {
				t.Errorf("release: %v, want ErrLost", err)
			}
			testerr.None(t, l.Shutdown(t.Context()))
			if want := []string{"acquiring X /a", "granted X /a", "lost X /a: error", "released X /a: error"}; !slices.Equal(j.events, want) {
				t.Errorf("seen %q, want %q", j.events, want)
			}
			if s := log.String(); strings.Count(s, "level=WARN") != 1 || !strings.Contains(s, "lock lost") {
				t.Errorf("logged: %s", s)
			}
		})
	}
}

func TestToken_isNeverShownWhole(t *testing.T) {
	var log strings.Builder
	l := pathlock.New(memstore.New(), pathlock.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	req := request(t, "X /a")
	req.Note = ""
	lock, err := l.Acquire(t.Context(), req)
	testerr.Must(t, err)
	_, conflict := l.Acquire(t.Context(), req)
	owner := l.Scope(lock.Context()).Owner()
	token, err := lock.Detach(t.Context())
	testerr.Must(t, err)
	slog.New(slog.NewTextHandler(&log, nil)).Info("", "owner", owner, "token", token)
	shown := log.String() + conflict.Error()
	if strings.Contains(shown, string(owner)) || strings.Contains(shown, string(token)) || !strings.Contains(shown, "owner "+owner.Short()+", which has X since 2") {
		t.Errorf("the owner %s or the token %s is shown whole, or not at all, in:\n%s", owner, token, shown)
	}
}

// pace is the context key under which a stepping observer finds those outside of it.
type pace struct{}

// stepping writes down the steps that it sees, and who was told before it.
type stepping struct {
	pathlock.NopObserver
	name  string
	lines *[]string
}

func (o stepping) Step(ctx context.Context, s pathlock.Step) (context.Context, func(error)) {
	outer, _ := ctx.Value(pace{}).(string)
	*o.lines = append(*o.lines, fmt.Sprintf("%s%s begins %s %d", outer, o.name, s.Kind, s.Attempt))
	return context.WithValue(ctx, pace{}, outer+o.name+" > "), func(err error) {
		*o.lines = append(*o.lines, fmt.Sprintf("%s ends %s: %v", o.name, s.Kind, err))
	}
}

func TestStep_nestsAsTheObserversDo(t *testing.T) {
	var lines []string
	l := pathlock.New(memstore.New(), quiet,
		pathlock.WithObserver(stepping{name: "first", lines: &lines}),
		pathlock.WithObserver(pathlock.NopObserver{}),
		pathlock.WithObserver(calling{method: "Step", fail: func() { panic("in an observer") }}),
		pathlock.WithObserver(calling{method: "done", fail: func() { panic("in an observer") }}),
		pathlock.WithObserver(stepping{name: "last", lines: &lines}))
	work, done := l.Step(t.Context(), pathlock.Step{Kind: pathlock.StepRetry, Attempt: 3})
	lines = append(lines, fmt.Sprint(work.Value(pace{})))
	done(errors.New("failed"))
	_, done = l.Step(t.Context(), pathlock.Step{Kind: pathlock.StepCommit})
	done(nil)
	want := []string{
		"first begins retry 3", "first > last begins retry 3",
		"first > last > ",
		"last ends retry: failed", "first ends retry: failed",
		"first begins commit 1", "first > last begins commit 1", "last ends commit: <nil>", "first ends commit: <nil>",
	}
	if !slices.Equal(lines, want) {
		t.Errorf("seen:\n\t%s\nwant:\n\t%s", strings.Join(lines, "\n\t"), strings.Join(want, "\n\t"))
	}
}
