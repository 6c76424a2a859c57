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

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
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
	line := strings.TrimSpace(what + " " + testlock.Text(e.Claims))
	if e.Gate {
		line += " gate"
	}
	if e.Reentrant {
		line += " (re-entrant)"
	} else if e.Origin.Trace == "" && what != "acquiring" {
		line += " (untraced)"
	}
	if e.Degraded {
		line += " (degraded)"
	}
	if e.Err != nil {
		line += ": error"
	}
	j.events = append(j.events, line)
}

// since returns what was written down since the last time.
func (j *journal) since() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	events := j.events
	j.events = nil
	return events
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

// calling is an observer that calls fail in one of its methods.
type calling struct {
	pathlock.NopObserver
	method string
	fail   func()
}

func (o calling) at(method string) {
	if o.method == method {
		o.fail()
	}
}

func (o calling) Acquiring(ctx context.Context, _ pathlock.Event) context.Context {
	o.at("Acquiring")
	return ctx
}
func (o calling) Waiting(context.Context, pathlock.Event)  { o.at("Waiting") }
func (o calling) Granted(context.Context, pathlock.Event)  { o.at("Granted") }
func (o calling) Refused(context.Context, pathlock.Event)  { o.at("Refused") }
func (o calling) Lost(context.Context, pathlock.Event)     { o.at("Lost") }
func (o calling) Released(context.Context, pathlock.Event) { o.at("Released") }
func (o calling) Step(ctx context.Context, _ pathlock.Step) (context.Context, func(error)) {
	o.at("Step")
	return ctx, func(error) { o.at("done") }
}

// Whichever method of an observer panics, the lock is still granted and given back.
func TestObserverThatPanicsKeepsNothingLocked(t *testing.T) {
	for _, method := range []string{"Acquiring", "Waiting", "Granted", "Refused", "Released", "Step", "done"} {
		l, store := newLocker(pathlock.WithObserver(calling{method: method, fail: func() { panic("in an observer") }}))
		outer := acquire(t.Context(), t, l, "X /a")
		release(t, acquire(outer.Context(), t, l, "X /a/b"))
		free(t, l, "X /a", false)
		outer.ReleaseInBackground(t.Context())
		testerr.None(t, l.Shutdown(t.Context()))
		free(t, pathlock.New(store.Store, quiet), "X /", true)
	}
}

// A program that leaves its log or its metrics out meets no panic when a lock is lost.
func TestNew_ignoresANilLogAndANilObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		l := pathlock.New(memstore.New(), pathlock.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), pathlock.WithLogger(nil), pathlock.WithObserver(nil))
		lock := acquire(t.Context(), t, l, "X /a")
		testerr.Must(t, l.ForceRelease(t.Context(), lock.Tree(), l.Scope(lock.Context()).Owner()))
		<-lock.Context().Done()
		synctest.Wait() // the loss is logged after the context has ended
		testerr.MustBe(t, "release", lock.Release(t.Context()), pathlock.ErrLost)
		if text := log.String(); strings.Contains(text, "panic") || !strings.Contains(text, "released by force") {
			t.Error(text)
		}
	})
}

func TestServesKnowsWhoseHandlersRun(t *testing.T) {
	l, _ := newLocker()
	lock := acquire(t.Context(), t, l, "X /a")
	owner := l.Scope(lock.Context()).Owner()
	var ends []func(error)
	begin := func(ctx context.Context, kind pathlock.StepKind) {
		_, done := l.Step(ctx, pathlock.Step{Kind: kind})
		ends = append(ends, done)
	}
	begin(lock.Context(), pathlock.StepAssert)
	begin(t.Context(), pathlock.StepHandler) // of a request without locks
	if l.Serves(owner) {
		t.Error("served before the handler")
	}
	begin(lock.Context(), pathlock.StepHandler)
	begin(lock.Context(), pathlock.StepHandler) // of a nested route
	for _, end := range ends {
		if !l.Serves(owner) {
			t.Error("not served though a handler runs")
		}
		end(nil)
	}
	if l.Serves(owner) || l.Serves("somebody else") {
		t.Error("served after the last handler")
	}
	release(t, lock)
}
