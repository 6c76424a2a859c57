package topology

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/internal/testserver"
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

// TestTreesShareConnections: a process subscribes on one connection for each node, however many
// trees it waits in.
func TestTreesShareConnections(t *testing.T) {
	const trees = 40
	for _, tt := range []struct {
		name  string
		start func(testing.TB) *deployment
		nodes int
	}{
		{"single", func(t testing.TB) *deployment { return single(t, testredis.Redis) }, 1},
		{"cluster", func(t testing.TB) *deployment { return cluster(testredis.StartCluster(t, testredis.Redis)) }, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := tt.start(t)
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
			if connections != tt.nodes {
				t.Errorf("%d connections that subscribe for waiters in %d trees, want %d", connections, trees, tt.nodes)
			}
			for i, w := range waiters {
				release(t, ours, held[i])
				w.granted(patience)
				release(t, theirs, w.req)
			}
		})
	}
}

// TestClusterWithoutShardedMessages: clusters before Redis 7 hand messages to all nodes, and
// waiters are told all the same.
func TestClusterWithoutShardedMessages(t *testing.T) {
	t.Parallel()
	d := cluster(testredis.StartCluster(t, testredis.Redis, "--rename-command SPUBLISH \"\"", "--rename-command SSUBSCRIBE \"\""))
	ours, theirs := d.store(t), d.store(t)
	for range 5 { // trees are on any of the nodes
		tree := newTree(t)
		held := ask(tree, x("/a"))
		take(t, ours, held)
		w := queue(t, theirs, ask(tree, x("/a")))
		d.everywhere("CLIENT", "KILL", "TYPE", "pubsub")
		release(t, ours, held)
		w.granted(patience)
		release(t, theirs, w.req)
	}
}

// TestSubscriptionEnds: nothing is subscribed to when nobody has waited for a moment.
func TestSubscriptionEnds(t *testing.T) {
	forEach(t, func(t *testing.T, d *deployment) {
		ours, theirs, tree := d.store(t), d.store(t), newTree(t)
		held := ask(tree, x("/a"))
		take(t, ours, held)
		w := queue(t, theirs, ask(tree, x("/a")))
		release(t, ours, held)
		w.granted(patience)
		release(t, theirs, w.req)
		testserver.Await(t, "nobody subscribes to a channel of the store", func() bool {
			for _, s := range d.servers {
				for _, kind := range []string{"CHANNELS", "SHARDCHANNELS"} {
					channels, _ := s.Do("PUBSUB", kind, "pathlock:*").([]any)
					if len(channels) > 0 {
						return false
					}
				}
			}
			return true
		})
	})
}
