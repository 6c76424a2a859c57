package election_test

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/election"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a test in virtual time, with a store in memory.
type fixture struct {
	*testing.T
	store pathlock.Store
	// cut is the store as some processes see it, and can be made to fail.
	cut *testlock.Watched
}

func in(t *testing.T, test func(f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		test(&fixture{t, store, &testlock.Watched{Store: store}})
	})
}

// process returns the election of the office as a process of its own sees it, and its locker.
func process(store pathlock.Store) (*election.Election, *pathlock.Locker) {
	locker := pathlock.New(store, pathlock.WithLease(time.Minute), pathlock.WithLogger(slog.New(slog.DiscardHandler)))
	return election.New(locker, "office"), locker
}

// office returns the election as another process sees it.
func (f *fixture) office() *election.Election {
	e, _ := process(f.store)
	return e
}

func (f *fixture) campaign(ctx context.Context, e *election.Election, value string) *election.Leadership {
	f.Helper()
	leadership, err := e.Campaign(ctx, value)
	testerr.MustBe(f, value+" campaigns", err, nil)
	return leadership
}

func (f *fixture) resign(all ...*election.Leadership) {
	f.Helper()
	for _, l := range all {
		testerr.Is(f, l.Value()+" resigns", l.Resign(f.Context()), nil)
	}
}

// queue makes a candidate of another process wait its turn.
func (f *fixture) queue(value string) <-chan *election.Leadership {
	won := make(chan *election.Leadership, 1)
	go func() { won <- f.campaign(f.Context(), f.office(), value) }()
	synctest.Wait()
	return won
}

// now returns what has come from a channel without any time having passed.
func now[T any](f *fixture, what string, c <-chan T) (v T) {
	f.Helper()
	synctest.Wait()
	select {
	case v = <-c:
	default:
		f.Fatalf("%s: nothing has come", what)
	}
	return v
}

// nothingLeft checks that nobody leads, and nobody waits who could.
func (f *fixture) nothingLeft() {
	f.Helper()
	if trees, err := f.store.Trees(f.Context()); err != nil || len(trees) != 0 {
		f.Errorf("left behind: %v, %v", trees, err)
	}
}

// calls returns the calls of the processes whose store can be made to fail, except renewals,
// sorted: releases are made in the background.
func (f *fixture) calls() string {
	synctest.Wait()
	var calls []string
	for _, call := range f.cut.Calls() {
		if verb, _, _ := strings.Cut(call, " "); verb != "renew" {
			calls = append(calls, verb)
		}
	}
	slices.Sort(calls)
	return strings.Join(calls, " ")
}

// seen is what an observer yields.
type seen struct {
	leader election.Leader
	err    error
}

// watch passes on what an observer sees, until the returned function is called.
func (f *fixture) watch(ctx context.Context, leaders func(context.Context) iter.Seq2[election.Leader, error]) (<-chan seen, func()) {
	ctx, stop := context.WithCancel(ctx)
	all := make(chan seen, 100)
	go func() {
		defer close(all)
		for leader, err := range leaders(ctx) {
			all <- seen{leader, err}
		}
	}()
	return all, stop
}
