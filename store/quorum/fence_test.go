package quorum_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/quorum"
)

// wrong is a member whose clock is wrong: it is ahead by so much, and runs at another pace.
type wrong struct {
	pathlock.Store
	ahead time.Duration
	// pace is how long a lease lasts there of what it should, 0 for all of it.
	pace float64
}

func (w wrong) lease(d time.Duration) time.Duration {
	if w.pace == 0 {
		return d
	}
	return max(1, time.Duration(float64(d)*w.pace))
}

func (w wrong) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	req.Lease = w.lease(req.Lease)
	g, err := w.Store.Acquire(ctx, req)
	if err == nil {
		g.Fence += uint64(w.ahead / time.Microsecond)
	}
	return g, err
}

func (w wrong) Renew(ctx context.Context, tree pathlock.Tree, leases []pathlock.Lease) ([]pathlock.Owner, error) {
	leases = slices.Clone(leases)
	for i := range leases {
		leases[i].For = w.lease(leases[i].For)
	}
	return w.Store.Renew(ctx, tree, leases)
}

// fencing grants one after the other, each to a majority that differs from the one before.
func fencing(t *testing.T, ahead ...time.Duration) (fell int) {
	var stores []pathlock.Store
	for _, d := range ahead {
		stores = append(stores, wrong{Store: memstore.New(), ahead: d})
	}
	processes := newProcesses(t, 3, stores, quorum.WithTimeout(timeout))
	for i, p := range processes {
		p.links[i].set(refusing) // each process misses another member
		if err := p.store.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	tree := newTree(t)
	var last uint64
	for i := range 60 {
		req := ask(tree, x("/a"))
		req.Wait = generous
		s := processes[i%3].store
		g := take(t, s, req)
		release(t, s, req)
		if g.Fence <= last {
			fell++
		}
		last = g.Fence
	}
	return fell
}

// TestFencesGrow: whichever majority grants, the next one's fence is greater, where the clocks of
// the members are a few milliseconds apart.
func TestFencesGrow(t *testing.T) {
	if fell := fencing(t, 0, 0, 0); fell > 0 {
		t.Errorf("of clocks that agree, %d of 60 fences were not greater than the one before", fell)
	}
	if fell := fencing(t, 7*time.Millisecond, 0, 3*time.Millisecond); fell > 0 {
		t.Errorf("of clocks that are a few milliseconds apart, %d of 60 fences were not greater than the one before", fell)
	}
}

// TestLyingClock: one member at which leases end at once lets no second owner in.
func TestLyingClock(t *testing.T) {
	for liar := range 3 {
		stores := memstores(3)
		stores[liar] = wrong{Store: stores[liar], pace: 1e-9}
		processes := newProcesses(t, 2, stores, quorum.WithTimeout(generous))
		held := ask(newTree(t), x("/a"))
		take(t, processes[0].store, held)
		for range 20 {
			if _, err := processes[1].store.Acquire(t.Context(), ask(held.Tree, x("/a"))); err == nil {
				t.Errorf("the clock of member %d lets a second owner in", liar+1)
				break
			}
		}
		if lost, err := processes[0].store.Renew(t.Context(), held.Tree, []pathlock.Lease{{Owner: held.Owner, For: time.Minute}}); err != nil || len(lost) > 0 {
			t.Errorf("Renew: lost %v, %v", lost, err)
		}
		release(t, processes[0].store, held)
	}
}
