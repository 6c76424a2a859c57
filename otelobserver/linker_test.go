package otelobserver_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// slow is a store whose snapshots end with their context.
type slow struct {
	pathlock.Store
	running atomic.Int32
}

func (s *slow) Snapshot(ctx context.Context, _ pathlock.Tree) (pathlock.Snapshot, error) {
	s.running.Add(1)
	defer s.running.Add(-1)
	<-ctx.Done()
	return pathlock.Snapshot{}, ctx.Err()
}

func TestObserver_searchesForBlockersAreFewAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slow{Store: memstore.New()}
		p := newProcess(t, store)
		holder, err := p.Acquire(t.Context(), exclusive("/a", 0))
		testerr.Must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		expect := func(when string, waits, want int32) {
			t.Helper()
			for range waits {
				go func() { _, _ = p.Acquire(ctx, exclusive("/a", time.Hour)) }()
			}
			synctest.Wait()
			if got := store.running.Load(); got != want {
				t.Errorf("%s: %d searches run, want %d", when, got, want)
			}
		}
		expect("ten waits", 10, 4)
		time.Sleep(time.Second)
		expect("a second later", 0, 0)
		expect("another wait", 1, 1)
		cancel()
		expect("after its end", 0, 0)
		testerr.None(t, holder.Release(t.Context()))
	})
}
