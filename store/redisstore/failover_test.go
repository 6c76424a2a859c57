package redisstore

import (
	"errors"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testredis"
)

// TestFailover: what the replicas have when a primary goes, the next one goes on with.
func TestFailover(t *testing.T) {
	for name, goes := range map[string]func(d *deployment, key string){
		"in good order": func(d *deployment, key string) { d.failover(key) },
		"a crash": func(d *deployment, key string) {
			primary := d.primary(key)
			primary.Kill()
			d.await(key, primary)
		},
		"a primary that hangs": func(d *deployment, key string) {
			primary := d.primary(key)
			primary.Pause()
			d.await(key, primary)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEach(t, replicated, func(t *testing.T, d *deployment) {
				ours, theirs, tree := d.open(t), d.open(t), newTree(t)
				key := ours.GateKey(tree)
				held := ask(tree, x("/a"))
				first := take(t, ours, held)
				w := queue(t, theirs, ask(tree, x("/a")))
				testredis.AwaitReplicated(d.primary(key), d.replicas(key)...)
				goes(d, key)

				// Each client learns of the new primary by a call that goes to the old one.
				renewed(t, ours, held, false)
				gaveBack(t, ours, held)
				second := w.granted()
				rises(t, first, second)
				gaveBack(t, theirs, w.req)
				last := ask(tree, x("/a"))
				rises(t, second, take(t, ours, last))
				release(t, ours, last)
				requireFree(t, ours, tree)
			})
		})
	}
}

// TestLostWrites: a primary crashes with grants that no replica has. Who was granted them learns
// that it has lost, who waited goes on, and fences rise above all that were ever given out.
func TestLostWrites(t *testing.T) {
	forEach(t, replicated, func(t *testing.T, d *deployment) {
		ours, theirs, tree := d.open(t), d.open(t), newTree(t)
		key := ours.GateKey(tree)
		kept := ask(tree, x("/kept"))
		take(t, ours, kept)
		visit(t, theirs, tree) // a client's first look at a cluster may meet a node that hangs
		primary, replicas := d.primary(key), d.replicas(key)
		testredis.AwaitReplicated(primary, replicas...)
		testredis.LoseWrites(primary, replicas...)
		forgotten := ask(tree, x("/a"))
		last := take(t, ours, forgotten)
		for range 100 {
			again := ask(tree, x("/b"))
			last = take(t, ours, again)
			release(t, ours, again)
		}
		next := ask(tree, x("/a"))
		next.Lease = 45 * time.Second // a third of which is time to fail over
		w := queue(t, theirs, next)
		primary.Kill()
		for _, replica := range replicas {
			replica.Resume()
		}
		d.await(key, primary)

		rises(t, last, w.granted()) // nobody holds what it waits for any more
		renewed(t, ours, forgotten, true)
		renewed(t, ours, kept, false)
		gaveBack(t, ours, forgotten)
		more := ask(tree, x("/c"))
		more.Owner, more.Held = forgotten.Owner, true
		if _, err := ours.Acquire(t.Context(), more); !errors.Is(err, pathlock.ErrLost) {
			t.Errorf("an owner that builds on what was lost: %v, want ErrLost", err)
		}
		release(t, theirs, w.req)
		release(t, ours, kept)
		requireFree(t, ours, tree)
	})
}

// TestHostOfPrimaryAndSentinelHangs: with the primary, sentinels hang that the clients have asked
// so far. A store comes back while they hang, whichever of the sentinels it is, and its waiters are
// woken by the new primary.
func TestHostOfPrimaryAndSentinelHangs(t *testing.T) {
	for i, name := range []string{"the first that is named", "the last"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testredis.StartSentinel(t, testredis.Redis)
			store, tree := sentinel(s).open(t), newTree(t)
			held := ask(tree, x("/a"))
			first := take(t, store, held)
			w := queue(t, store, ask(tree, x("/a")))
			primary := s.Primary()
			testredis.AwaitReplicated(primary, s.Replicas()...)
			primary.Pause()
			hangs := s.Sentinels[i*(len(s.Sentinels)-1)]
			hangs.Pause()

			renewed(t, store, held, false)
			gaveBack(t, store, held)
			rises(t, first, w.granted())
			if primary.Running() {
				t.Fatal("the old primary runs: the test proves nothing")
			}
			release(t, store, w.req)
			primary.Resume()
			hangs.Resume()
		})
	}
}
