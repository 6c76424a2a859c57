package memstore

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Of 500 who queue for one node each is watched by one at most, so that a release looks at the next
// one alone: 500 hand-overs, not 500 x 500.
func TestQueueForOneNodeIsAChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const crowd = 500
		store := New()
		tree, err := pathlock.NewTree("test", "plan")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, crowd+1)
		for i := range crowd + 1 {
			req := pathlock.Acquisition{
				Tree: tree, Owner: pathlock.Owner(fmt.Sprint(i)), Grant: "1",
				Claims: pathlock.Normalize(pathlock.X(pathlock.MustParsePath("/a/b"))),
				Lease:  time.Second, Wait: time.Hour,
			}
			go func() {
				_, err := store.Acquire(t.Context(), req)
				served <- err
			}()
			synctest.Wait()
		}
		table := store.use(tree)
		table.mu.Lock()
		requests, waiting := table.allRequests()
		if len(waiting) != crowd {
			t.Errorf("%d wait, want %d", len(waiting), crowd)
		}
		for r := range requests {
			if watched := len(slices.Collect(r.watchers)); watched > 1 {
				t.Errorf("request %s is watched by %d", r.owner.id, watched)
			}
		}
		table.mu.Unlock()
		store.unuse(table)
		for range crowd + 1 {
			if err := <-served; err != nil {
				t.Error(err)
			}
		}
	})
}
