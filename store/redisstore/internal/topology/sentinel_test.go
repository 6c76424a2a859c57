package topology

import (
	"errors"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testredis"
)

// TestHostOfPrimaryAndSentinelHangs: with the primary, sentinels hang that the clients have asked
// so far. A store of Open comes back while they hang, whichever of the sentinels it is, and its
// waiters are woken by the new primary.
func TestHostOfPrimaryAndSentinelHangs(t *testing.T) {
	for i, name := range []string{"the first that is named", "the second", "the last"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testredis.StartSentinel(t, testredis.Redis)
			store, tree := opened(t, sentinel(s).url), newTree(t)
			held := ask(tree, x("/a"))
			first := take(t, store, held)
			w := queue(t, store, ask(tree, x("/a")))
			primary := s.Primary()
			testredis.AwaitReplicated(primary, s.Replicas()...)
			primary.Pause()
			s.Sentinels[i].Pause()
			began := time.Now()

			renew(t, store, held, false)
			t.Logf("it served again after %v", time.Since(began))
			err := persist(t, func() error { return store.Release(t.Context(), tree, held.Owner, held.Grant) })
			if err != nil && !errors.Is(err, pathlock.ErrNotHeld) { // carried out, and sent again
				t.Fatalf("release: %v", err)
			}
			rises(t, first, w.granted(patience))
			if primary.Running() {
				t.Fatal("the old primary runs: the test proves nothing")
			}
			release(t, store, w.req)
			primary.Resume()
			s.Sentinels[i].Resume()
		})
	}
}
