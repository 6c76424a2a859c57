package otelobserver_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// slow is a store whose snapshots end with their context, or panic.
type slow struct {
	pathlock.Store
	panics  bool
	running atomic.Int32
	most    atomic.Int32
}

func (s *slow) Snapshot(ctx context.Context, _ pathlock.Tree) (pathlock.Snapshot, error) {
	if s.panics {
		panic("in the store")
	}
	s.most.Store(max(s.most.Load(), s.running.Add(1)))
	defer s.running.Add(-1)
	<-ctx.Done()
	return pathlock.Snapshot{}, ctx.Err()
}

// waiting has n requests wait until the returned function is called.
func waiting(t *testing.T, p *process, n int) (end func()) {
	t.Helper()
	holder, err := p.Acquire(t.Context(), exclusive("/a", 0))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	for range n {
		go func() {
			_, _ = p.Acquire(ctx, exclusive("/a", time.Hour))
			ended <- struct{}{}
		}()
	}
	synctest.Wait()
	return func() {
		cancel()
		for range n {
			<-ended
		}
		if err := holder.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestSearchesForBlockersAreFewAndEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slow{Store: memstore.New()}
		p := newProcess(t, store)
		end := waiting(t, p, 10)
		if got := store.running.Load(); got != 4 {
			t.Errorf("%d searches run at once, want 4", got)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := store.running.Load(); got != 0 {
			t.Errorf("%d searches run after a second", got)
		}
		end()

		end = waiting(t, p, 1)
		if got := store.running.Load(); got != 1 {
			t.Errorf("%d searches run for one wait", got)
		}
		end()
		synctest.Wait()
		if got := store.running.Load(); got != 0 {
			t.Errorf("%d searches outlive their wait", got)
		}

		end = waiting(t, p, 2)
		stop(t, p)
		if got := store.running.Load(); got != 0 {
			t.Errorf("%d searches outlive the observer", got)
		}
		end()
		end = waiting(t, p, 1)
		if got := store.running.Load(); got != 0 {
			t.Errorf("%d searches begin after the shutdown", got)
		}
		end()
		if got := store.most.Load(); got != 4 {
			t.Errorf("at most %d searches ran at once, want 4", got)
		}
	})
}

func TestAStoreThatPanicsCostsOnlyTheLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProcess(t, &slow{Store: memstore.New(), panics: true})
		waiting(t, p, 1)()
		stop(t, p)
	})
}
