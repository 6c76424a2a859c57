package topology

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testredis"
)

// TestSubscriptionsKilled: messages are lost with the connection that they would have come by, and
// the waiter asks again.
func TestSubscriptionsKilled(t *testing.T) {
	forEach(t, func(t *testing.T, d *deployment) {
		ours, theirs, tree := d.store(t), d.store(t), newTree(t)
		for range 3 {
			held := ask(tree, x("/a"))
			first := take(t, ours, held)
			w := queue(t, theirs, ask(tree, x("/a")))
			d.everywhere("CLIENT", "KILL", "TYPE", "pubsub")
			release(t, ours, held)
			rises(t, first, w.granted(patience))
			release(t, theirs, w.req)
		}
	})
}

// TestTreesShareAConnection: a process subscribes on one connection, however many trees it waits
// in, and whichever nodes of a cluster they are on.
func TestTreesShareAConnection(t *testing.T) {
	const trees = 40
	for name, start := range map[string]func(testing.TB) *deployment{
		"single":  func(t testing.TB) *deployment { return single(t, testredis.Redis) },
		"cluster": func(t testing.TB) *deployment { return cluster(testredis.StartCluster(t, testredis.Redis)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := start(t)
			ours, theirs := d.store(t), d.store(t)
			var waiters []*waiting
			var held []pathlock.Acquisition
			for range trees {
				tree := newTree(t)
				held = append(held, ask(tree, x("/a")))
				take(t, ours, held[len(held)-1])
				waiters = append(waiters, queue(t, theirs, ask(tree, x("/a"))))
			}
			connections := 0
			for _, s := range d.servers {
				connections += strings.Count(s.Text("CLIENT", "LIST", "TYPE", "pubsub"), "\n")
			}
			if connections != 1 {
				t.Errorf("%d connections that subscribe for waiters in %d trees, want one", connections, trees)
			}
			for i, w := range waiters {
				release(t, ours, held[i])
				w.granted(patience)
				release(t, theirs, w.req)
			}
		})
	}
}
