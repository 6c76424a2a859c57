package pathlock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

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

func TestStepsNestAsTheObserversDo(t *testing.T) {
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

func TestReleaseIsAStepWhereTheStoreIsAsked(t *testing.T) {
	var lines []string
	l := pathlock.New(memstore.New(), quiet, pathlock.WithObserver(stepping{name: "it", lines: &lines}))
	outer := acquire(t.Context(), t, l, "X /a")
	release(t, acquire(outer.Context(), t, l, "X /a/b"))
	if len(lines) > 0 {
		t.Errorf("the end of a re-entrant lock is %q", lines)
	}
	release(t, outer)
	if want := []string{"it begins release 1", "it ends release: <nil>"}; !slices.Equal(lines, want) {
		t.Errorf("the release is %q, want %q", lines, want)
	}
}

func TestStepsCostNothingWithoutObservers(t *testing.T) {
	l := pathlock.New(memstore.New(), quiet)
	allocations := testing.AllocsPerRun(100, func() {
		work, done := l.Step(t.Context(), pathlock.Step{Kind: pathlock.StepHandler})
		if work != t.Context() {
			t.Fatal("the step has a context of its own")
		}
		done(nil)
	})
	if allocations > 0 {
		t.Errorf("a step that nobody observes allocates %v times", allocations)
	}
}
