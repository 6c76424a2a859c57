package quorum_test

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/quorum"
)

// nemesis mends all links and cuts random ones anew, again and again, until enough returns true. No
// process ever misses more members than the given number. Processes may miss different ones.
func nemesis(ctx context.Context, processes []process, most int, every time.Duration, enough func(cuts int) bool) (cuts int) {
	modes := []mode{refusing, hanging, deaf}
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for !enough(cuts) {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return cuts
		}
		heal(processes)
		for _, p := range processes {
			if mathrand.IntN(4) == 0 {
				continue // it misses nobody
			}
			for _, i := range mathrand.Perm(len(p.links))[:most] {
				p.links[i].set(modes[mathrand.IntN(len(modes))])
				cuts++
			}
		}
	}
	return cuts
}

// crowd is what a writer counts as among the users of a node. A reader counts as one.
const crowd = 1000

// TestExclusion_noTwoHolders: while fewer than half of the members fail, no two conflicting owners
// hold at once, and work goes on. Each process loses and finds other members than the others at
// times.
func TestExclusion_noTwoHolders(t *testing.T) {
	for _, tt := range []struct{ members, failing int }{{3, 1}, {5, 2}} {
		t.Run(fmt.Sprintf("%d of %d fail", tt.failing, tt.members), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { excludes(t, tt.members, tt.failing) })
		})
	}
}

// excludes is the test in virtual time.
func excludes(t *testing.T, members, failing int) {
	t.Helper()
	processes := newProcesses(t, 3, memstores(members), quorum.WithTimeout(100*time.Millisecond))
	tree := testlock.Tree(t)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	start := time.Now()
	var nodes [3]atomic.Int64 // the users of each
	var grants, refusals atomic.Int64
	var working sync.WaitGroup
	for i := range 12 {
		p := processes[i%len(processes)]
		working.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				at, mode := n%len(nodes), pathlock.ModeX
				weight := int64(crowd)
				if n%3 == 0 {
					mode, weight = pathlock.ModeS, 1
				}
				req := testlock.Ask(tree, pathlock.Claim{Path: pathlock.MustParsePath(fmt.Sprintf("/dir/%d", at)), Mode: mode})
				req.Lease, req.Wait = 30*time.Second, 2*time.Second
				_, err := p.store.Acquire(ctx, req)
				if err != nil {
					if refusals.Add(1); !errors.Is(err, pathlock.ErrUnavailable) && !errors.Is(err, pathlock.ErrConflict) && ctx.Err() == nil {
						t.Errorf("%v: %v", req.Claims, err)
					}
					time.Sleep(time.Millisecond)
					continue
				}
				grants.Add(1)
				users := nodes[at].Add(weight)
				if users >= crowd && users != crowd {
					t.Errorf("%d writers and %d readers hold %d at once", users/crowd, users%crowd, at)
				}
				time.Sleep(time.Duration(1+mathrand.IntN(10)) * time.Millisecond) // work
				nodes[at].Add(-weight)
				// A release that no majority confirms has been given up, and goes on in the
				// background.
				if err := p.store.Release(ctx, tree, req.Owner, req.Grant); err != nil && !errors.Is(err, pathlock.ErrUnavailable) && !errors.Is(err, pathlock.ErrNotHeld) && ctx.Err() == nil {
					t.Errorf("release: %v", err)
				}
			}
		})
	}
	cuts := nemesis(ctx, processes, failing, 60*time.Millisecond, func(cuts int) bool {
		return time.Since(start) > 15*time.Second && grants.Load() >= 50 && cuts >= 20
	})
	stop()
	working.Wait()
	heal(processes)
	t.Logf("%d grants, %d refusals, %d cuts", grants.Load(), refusals.Load(), cuts)
	if grants.Load() < 50 || cuts < 20 {
		t.Errorf("%d grants and %d cuts show nothing", grants.Load(), cuts)
	}
	// Everything works again, and nothing is left behind.
	for _, p := range processes {
		testserver.Await(t, "a majority serves", func() bool { return p.store.Ping(t.Context()) == nil })
		req := testlock.Ask(tree, x("/"))
		req.Wait = generous
		testlock.Take(t, p.store, req)
		testlock.Release(t, p.store, req)
	}
}
