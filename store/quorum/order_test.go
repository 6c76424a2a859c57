package quorum_test

import (
	"testing"
	"testing/synctest"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
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
