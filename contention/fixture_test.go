package contention_test

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/contention"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a recorder with its locker, in a bubble of virtual time.
type fixture struct {
	*testing.T
	store    *testlock.Watched
	looked   int
	recorder contention.Recorder
	locker   *pathlock.Locker
	waiting  sync.WaitGroup
}

func newFixture(t *testing.T, config contention.Config) *fixture {
	f := &fixture{T: t, store: &testlock.Watched{Store: memstore.New()}}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	config.Log = quiet
	f.recorder = contention.New(f.store, config)
	f.locker = pathlock.New(f.store, pathlock.WithObserver(f.recorder), pathlock.WithLogger(quiet),
		pathlock.WithInstance("web-1"), pathlock.WithWait(time.Minute))
	t.Cleanup(func() {
		f.waiting.Wait()
		f.recorder.Close()
	})
	return f
}

// looks returns how often the store was asked for a snapshot.
func (f *fixture) looks() int {
	for _, call := range f.store.Calls() {
		if call == "snapshot" {
			f.looked++
		}
	}
	return f.looked
}

func plan(t testing.TB, id string) pathlock.Tree {
	t.Helper()
	tree, err := pathlock.NewTree("testplan", id)
	testerr.Must(t, err)
	return tree
}

func x(path string) []pathlock.Claim {
	return []pathlock.Claim{pathlock.X(pathlock.MustParsePath(path))}
}

// by returns a context of a request by a route.
func (f *fixture) by(route string) context.Context {
	return pathlock.WithOrigin(f.Context(), pathlock.Origin{Route: route})
}

// hold takes a lock that nobody is in the way of.
func (f *fixture) hold(ctx context.Context, path, note string) *pathlock.Lock {
	f.Helper()
	lock, err := f.locker.Acquire(ctx, pathlock.Request{Tree: plan(f, "7"), Claims: x(path), Note: note, Wait: pathlock.NoWait})
	testerr.Must(f, err)
	return lock
}

// wait waits for a lock in the background, for at most patience, and gives it back at once.
func (f *fixture) wait(ctx context.Context, path, note string, patience time.Duration) {
	f.waiting.Go(func() {
		lock, err := f.locker.Acquire(ctx, pathlock.Request{Tree: plan(f, "7"), Claims: x(path), Note: note, Wait: patience})
		if err == nil {
			testerr.None(f, lock.Release(ctx))
		}
	})
}

func (f *fixture) release(lock *pathlock.Lock) {
	f.Helper()
	testerr.Must(f, lock.Release(context.WithoutCancel(f.Context())))
}
