package quorum_test

import (
	"context"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/quorum"
)

// ahead is a member whose clock is ahead.
type ahead struct {
	pathlock.Store
	by time.Duration
}

func (a ahead) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	g, err := a.Store.Acquire(ctx, req)
	if err == nil {
		g.Fence += uint64(a.by / time.Microsecond)
	}
	return g, err
}

// TestFence_grows: whichever majority grants, the next one's fence is greater, if the clocks of the
// members agree or are a few milliseconds apart. Each process misses another member.
func TestFence_grows(t *testing.T) {
	for _, apart := range []time.Duration{0, 3 * time.Millisecond} {
		var stores []pathlock.Store
		for _, by := range []time.Duration{2 * apart, 0, apart} {
			stores = append(stores, ahead{memstore.New(), by})
		}
		processes := newProcesses(t, 3, stores, quorum.WithTimeout(generous))
		for i, p := range processes {
			p.links[i].set(refusing)
			testerr.Must(t, p.store.Ping(t.Context()))
		}
		tree := testlock.Tree(t)
		var last uint64
		for i := range 60 {
			req := testlock.Ask(tree, x("/a"))
			req.Wait = generous
			s := processes[i%3].store
			g := testlock.Take(t, s, req)
			testlock.Release(t, s, req)
			if g.Fence <= last {
				t.Errorf("clocks that are %v apart: the fence %d after %d", apart, g.Fence, last)
			}
			last = g.Fence
		}
	}
}
