package redisstore

import (
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
)

// TestFailover: the next primary goes on with what the replicas have when a primary goes.
func TestFailover(t *testing.T) {
	for name, goes := range map[string]func(d *deployment, key string){
		"in good order": func(d *deployment, key string) { d.failover(key) },
		"a crash": func(d *deployment, key string) {
			primary := d.primary(key)
			primary.Kill()
			d.await(key, primary)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEach(t, replicated, func(t *testing.T, d *deployment) {
				ours, theirs, tree := d.open(t), d.open(t), testlock.Tree(t)
				key := ours.keys.gate(tree)
				held := testlock.Ask(tree, x("/a"))
				first := testlock.Take(t, ours, held)
				w := testlock.Queue(t, theirs, testlock.Ask(tree, x("/a")))
				testredis.AwaitReplicated(d.primary(key), d.replicas(key)...)
				goes(d, key)

				// Each client learns of the new primary by a call that goes to the old one.
				renewed(t, ours, held, false)
				gaveBack(t, ours, held)
				second := w.Granted()
				rises(t, first, second)
				gaveBack(t, theirs, w.Acquisition)
				last := testlock.Ask(tree, x("/a"))
				rises(t, second, testlock.Take(t, ours, last))
				testlock.Release(t, ours, last)
				requireFree(t, ours, tree)
			})
		})
	}
}

// TestFailover_lostWrites: a primary crashes with grants that no replica has. Their holders learn
// of the loss, waiters keep waiting, and fences rise above all that were ever given out.
func TestFailover_lostWrites(t *testing.T) {
	forEach(t, replicated, func(t *testing.T, d *deployment) {
		ours, theirs, tree := d.open(t), d.open(t), testlock.Tree(t)
		key := ours.keys.gate(tree)
		kept := testlock.Ask(tree, x("/kept"))
		testlock.Take(t, ours, kept)
		visit(t, theirs, tree) // a client's first look at a cluster may meet a node that hangs
		primary, replicas := d.primary(key), d.replicas(key)
		testredis.AwaitReplicated(primary, replicas...)
		testredis.LoseWrites(primary, replicas...)
		forgotten := testlock.Ask(tree, x("/a"))
		last := testlock.Take(t, ours, forgotten)
		for range 100 {
			again := testlock.Ask(tree, x("/b"))
			last = testlock.Take(t, ours, again)
			testlock.Release(t, ours, again)
		}
		next := testlock.Ask(tree, x("/a"))
		next.Lease = 45 * time.Second // a third of which is time to fail over
		w := testlock.Queue(t, theirs, next)
		primary.Kill()
		for _, replica := range replicas {
			replica.Resume()
		}
		d.await(key, primary)

		rises(t, last, w.Granted()) // nobody holds what it waits for any more
		renewed(t, ours, forgotten, true)
		renewed(t, ours, kept, false)
		gaveBack(t, ours, forgotten)
		more := testlock.Ask(tree, x("/c"))
		more.Owner, more.Held = forgotten.Owner, true
		testerr.Is(t, "an owner that builds on what was lost", testerr.Of(ours.Acquire(t.Context(), more)), pathlock.ErrLost)
		testlock.Release(t, theirs, w.Acquisition)
		testlock.Release(t, ours, kept)
		requireFree(t, ours, tree)
	})
}

// TestFailover_hostOfPrimaryAndSentinelHangs: the sentinels that the clients have asked so far hang
// with the primary. A store comes back while they hang, whichever of the sentinels it is, and its
// waiters are woken by the new primary.
func TestFailover_hostOfPrimaryAndSentinelHangs(t *testing.T) {
	for i, name := range []string{"the first that is named", "the last"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := testredis.StartSentinel(t, testredis.Redis)
			d := sentinel(s)
			d.url += "?timeout=5s" // an election takes three on a busy machine
			store, tree := d.open(t), testlock.Tree(t)
			held := testlock.Ask(tree, x("/a"))
			first := testlock.Take(t, store, held)
			w := testlock.Queue(t, store, testlock.Ask(tree, x("/a")))
			primary := s.Primary()
			testredis.AwaitReplicated(primary, s.Replicas()...)
			primary.Pause()
			hangs := s.Sentinels[i*(len(s.Sentinels)-1)]
			hangs.Pause()

			renewed(t, store, held, false)
			gaveBack(t, store, held)
			rises(t, first, w.Granted())
			if primary.Runs() {
				t.Fatal("the old primary runs: the test proves nothing")
			}
			testlock.Release(t, store, w.Acquisition)
			primary.Resume()
			hangs.Resume()
		})
	}
}
