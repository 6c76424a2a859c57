package quorum_test

import (
	"testing"
	"testing/synctest"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/quorum"
)

// TestOrderWhileOthersFail: waiters are served in the order of their arrival, whatever happens to a
// member that is not the first, and newcomers wait behind them.
func TestOrderWhileOthersFail(t *testing.T) {
	for _, down := range []int{1, 2} {
		t.Run([]string{1: "the second", 2: "the third"}[down], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				processes := newProcesses(t, 3, memstores(3), quorum.WithTimeout(timeout))
				tree := testlock.Tree(t)
				held := testlock.Ask(tree, x("/a"))
				testlock.Take(t, processes[0].store, held)
				var line []*testlock.Waiting
				for i := range 12 {
					line = append(line, testlock.Queue(t, processes[i%3].store, testlock.Ask(tree, x("/a"))))
				}
				testlock.Release(t, processes[0].store, held)
				for i, w := range line {
					for _, p := range processes {
						p.links[down].set([]mode{refusing, hanging, open, deaf}[i%4])
					}
					w.Granted() // one that is let in too early keeps this one out
					if _, err := processes[(i+1)%3].store.Acquire(t.Context(), testlock.Ask(tree, x("/a"))); err == nil {
						t.Fatalf("a newcomer is granted what waiter %d holds", i)
					}
					testlock.Release(t, processes[i%3].store, w.Acquisition)
				}
			})
		})
	}
}

// TestLeadFallsSilent: a request that waits in the queue of a member that falls silent waits in
// that of the next one, and its caller is told once that it waits.
func TestLeadFallsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memstores(3)
		processes := newProcesses(t, 2, members, quorum.WithTimeout(timeout))
		held := testlock.Ask(testlock.Tree(t), x("/a"))
		testlock.Take(t, processes[0].store, held)
		// A second call of Waiting would close a closed channel.
		w := testlock.Queue(t, processes[1].store, testlock.Ask(held.Tree, x("/a")))
		for _, p := range processes {
			p.links[0].set(hanging)
		}
		testserver.Await(t, "it waits with the next member", func() bool {
			snap, err := members[1].Snapshot(t.Context(), held.Tree) // which tells the process nothing
			return err == nil && len(snap.Waiters) == 1
		})
		testlock.Release(t, processes[0].store, held)
		w.Granted()
		testlock.Release(t, processes[1].store, w.Acquisition)
	})
}

// TestNewRefuses: an even number, and what is not an independent store.
func TestNewRefuses(t *testing.T) {
	for name, stores := range map[string][]pathlock.Store{
		"none":      nil,
		"two":       memstores(2),
		"seventeen": memstores(17),
		"nil":       {nil, memstores(1)[0], memstores(1)[0]},
	} {
		testerr.Is(t, name, testerr.Of(quorum.New(stores)), quorum.ErrMembers)
	}
}
