package topology

import (
	"errors"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// replicated is a deployment whose primaries can be failed over, as far as one key is concerned.
type replicated struct {
	*deployment
	primary  func(key string) *testredis.Server
	replicas func(key string) []*testredis.Server
	// failover makes a replica the primary in good order, await returns when one has taken the
	// place of another.
	failover func(key string)
	await    func(key string, old *testredis.Server)
}

// forEachReplicated runs a test on sentinels and on clusters, at once, each with servers of its
// own.
func forEachReplicated(t *testing.T, test func(t *testing.T, d *replicated)) {
	sentinels := func(program testredis.Program) func(testing.TB) *replicated {
		return func(t testing.TB) *replicated {
			s := testredis.StartSentinel(t, program)
			return &replicated{
				deployment: sentinel(s),
				primary:    func(string) *testredis.Server { return s.Primary() },
				replicas:   func(string) []*testredis.Server { return s.Replicas() },
				failover:   func(string) { s.Failover() },
				await:      func(_ string, old *testredis.Server) { s.AwaitFailover(old) },
			}
		}
	}
	clusters := func(program testredis.Program) func(testing.TB) *replicated {
		return func(t testing.TB) *replicated {
			c := testredis.StartCluster(t, program)
			return &replicated{
				deployment: cluster(c),
				primary:    c.Primary,
				replicas:   func(key string) []*testredis.Server { return []*testredis.Server{c.Replica(key)} },
				failover:   func(key string) { c.Failover(key) },
				await:      func(key string, old *testredis.Server) { c.AwaitFailover(key, old) },
			}
		}
	}
	for name, start := range map[string]func(testing.TB) *replicated{
		"sentinel":       sentinels(testredis.Redis),
		"cluster":        clusters(testredis.Redis),
		"valkey cluster": clusters(testredis.Valkey),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, start(t))
		})
	}
}

// TestFailover: what the replicas have when a primary goes, the next one goes on with.
func TestFailover(t *testing.T) {
	for _, how := range []struct {
		name string
		goes func(d *replicated, key string)
	}{
		{"in good order", func(d *replicated, key string) { d.failover(key) }},
		{"a crash", func(d *replicated, key string) {
			primary := d.primary(key)
			primary.Kill()
			d.await(key, primary)
		}},
		{"a primary that hangs", func(d *replicated, key string) {
			primary := d.primary(key)
			primary.Pause()
			d.await(key, primary)
		}},
	} {
		t.Run(how.name, func(t *testing.T) {
			t.Parallel()
			forEachReplicated(t, func(t *testing.T, d *replicated) {
				ours, theirs, tree := d.store(t), d.store(t), newTree(t)
				key := ours.GateKey(tree)
				held := ask(tree, x("/a"))
				first := take(t, ours, held)
				w := queue(t, theirs, ask(tree, x("/a")))
				testredis.AwaitReplicated(d.primary(key), d.replicas(key)...)
				how.goes(d, key)

				// Each client learns of the new primary by a call that goes to the old one.
				giveBack := func(s *redisstore.Store, req pathlock.Acquisition) {
					err := persist(t, func() error { return s.Release(t.Context(), tree, req.Owner, req.Grant) })
					if err != nil {
						t.Fatalf("release: %v", err)
					}
				}
				renew(t, ours, held, false)
				giveBack(ours, held)
				second := w.granted(patience)
				rises(t, first, second)
				giveBack(theirs, w.req)
				last := ask(tree, x("/a"))
				rises(t, second, take(t, ours, last))
				release(t, ours, last)
				holders(t, ours, tree, 0)
			})
		})
	}
}

// TestLostWrites: a primary crashes with grants that no replica has. Who was granted them learns
// that it has lost, who waited goes on, and fences rise above all that were ever given out.
func TestLostWrites(t *testing.T) {
	forEachReplicated(t, func(t *testing.T, d *replicated) {
		ours, theirs, tree := d.store(t), d.store(t), newTree(t)
		key := ours.GateKey(tree)
		kept := ask(tree, x("/kept"))
		take(t, ours, kept)
		if err := theirs.Ping(t.Context()); err != nil { // a client's first look at a cluster may meet a node that hangs
			t.Fatal(err)
		}
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

		rises(t, last, w.granted(patience)) // nobody holds what it waits for any more
		renew(t, ours, forgotten, true)
		renew(t, ours, kept, false)
		err := persist(t, func() error { return ours.Release(t.Context(), tree, forgotten.Owner, forgotten.Grant) })
		// By a connection that died with the primary, the client sends it twice: then it may have
		// been carried out.
		if err != nil && !errors.Is(err, pathlock.ErrNotHeld) {
			t.Errorf("release of what was lost: %v, want ErrNotHeld", err)
		}
		more := ask(tree, x("/c"))
		more.Owner, more.Held = forgotten.Owner, true
		if _, err := ours.Acquire(t.Context(), more); !errors.Is(err, pathlock.ErrLost) {
			t.Errorf("an owner that builds on what was lost: %v, want ErrLost", err)
		}
		release(t, theirs, w.req)
		release(t, ours, kept)
		holders(t, ours, tree, 0)
	})
}
