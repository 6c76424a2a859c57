package election_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/election"
	"github.com/pathlock-go/pathlock/store/memstore"
)

const (
	// long is a lease that no test sees the end of.
	long = time.Minute
	// patience is how long a test waits for what has to happen. It is shorter than the third of a
	// long lease after which a waiter asks again by itself.
	patience = 10 * time.Second
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// office is the tree of the election that the tests hold.
var office = func() pathlock.Tree {
	tree, err := pathlock.NewTree("election", "office")
	if err != nil {
		panic(err)
	}
	return tree
}()

// onAStore runs a test on a store in memory, in virtual time.
func onAStore(t *testing.T, test func(t *testing.T, store pathlock.Store)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, memstore.New()) })
}

// newProcess returns an election as a process of its own sees it.
func newProcess(store pathlock.Store, opts ...pathlock.Option) (*election.Election, *pathlock.Locker) {
	opts = append([]pathlock.Option{pathlock.WithLease(long), pathlock.WithLogger(slog.New(slog.DiscardHandler))}, opts...)
	locker := pathlock.New(store, opts...)
	return election.New(locker, "office"), locker
}

// process is newProcess where nothing is asked of the locker.
func process(store pathlock.Store) *election.Election {
	e, _ := newProcess(store)
	return e
}

func campaign(ctx context.Context, t *testing.T, e *election.Election, value string) *election.Leadership {
	t.Helper()
	leadership, err := e.Campaign(ctx, value)
	if err != nil {
		t.Fatalf("%s campaigns: %v", value, err)
	}
	return leadership
}

func resign(t *testing.T, l *election.Leadership) {
	t.Helper()
	if err := l.Resign(t.Context()); err != nil {
		t.Errorf("%s resigns: %v", l.Value(), err)
	}
}

// within returns what comes from a channel in time.
func within[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%s: nothing after %v", what, patience)
		panic("unreachable")
	}
}

// inBackground campaigns in another goroutine, and returns when the candidate waits.
func inBackground(t *testing.T, store pathlock.Store, value string) <-chan *election.Leadership {
	t.Helper()
	waits := make(chan struct{})
	e, _ := newProcess(store, pathlock.WithObserver(&waiting{do: func() { close(waits) }}))
	won := make(chan *election.Leadership, 1)
	go func() {
		leadership, err := e.Campaign(t.Context(), value)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		won <- leadership
	}()
	within(t, value+" queues", waits)
	return won
}

// waiting does something when a request begins to wait.
type waiting struct {
	pathlock.NopObserver
	do func()
}

func (w *waiting) Waiting(context.Context, pathlock.Event) { w.do() }

// seen is what an observer yields.
type seen struct {
	leader election.Leader
	err    error
}

// watch passes on what an observer sees, until the returned function is called.
func watch(ctx context.Context, t *testing.T, leaders func(context.Context) iter.Seq2[election.Leader, error]) (<-chan seen, func()) {
	t.Helper()
	ctx, stop := context.WithCancel(ctx)
	all, over := make(chan seen, 100), make(chan struct{})
	go func() {
		defer close(over)
		for leader, err := range leaders(ctx) {
			all <- seen{leader, err}
		}
	}()
	end := sync.OnceFunc(func() {
		stop()
		within(t, "the observer ends", over)
	})
	t.Cleanup(end)
	return all, end
}

// fake is a store in another process: it records what it is asked, and fails or hangs as it is
// told.
type fake struct {
	pathlock.Store
	mu    sync.Mutex
	calls []string
	fails func(ctx context.Context, call string) error
}

func (*fake) Local() bool { return false }

// set has calls fail as a function says, which may wait before.
func (f *fake) set(fails func(ctx context.Context, call string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fails = fails
}

// since returns the calls since the last time but renewals, sorted: releases are made in the
// background.
func (f *fake) since() (calls string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.Sort(f.calls)
	calls, f.calls = strings.Join(f.calls, " "), nil
	return calls
}

func (f *fake) call(ctx context.Context, call string) error {
	f.mu.Lock()
	fails := f.fails
	if call != "renew" {
		f.calls = append(f.calls, call)
	}
	f.mu.Unlock()
	if fails == nil {
		return nil
	}
	return fails(ctx, call)
}

func (f *fake) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if err := f.call(ctx, "acquire"); err != nil {
		return pathlock.Grant{}, err
	}
	return f.Store.Acquire(ctx, req)
}

func (f *fake) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	if err := f.call(ctx, "release"); err != nil {
		return err
	}
	return f.Store.Release(ctx, tree, owner, id)
}

func (f *fake) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	if err := f.call(ctx, "renew"); err != nil {
		return nil, err
	}
	return f.Store.Renew(ctx, tree, leases)
}

func (f *fake) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	if err := f.call(ctx, "snapshot"); err != nil {
		return pathlock.Snapshot{}, err
	}
	return f.Store.Snapshot(ctx, tree)
}
