package topology

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// TestWaiterFollowsItsSlot: somebody who has waited since before the slot moved, and has had
// nothing to ask since, hears of what happens on the new node.
func TestWaiterFollowsItsSlot(t *testing.T) {
	t.Parallel()
	c := testredis.StartCluster(t, testredis.Redis)
	d := cluster(c)
	ours, theirs, tree := d.store(t), d.store(t), newTree(t)
	key := ours.GateKey(tree)
	held := ask(tree, x("/a"))
	take(t, ours, held)
	w := queue(t, theirs, ask(tree, x("/a")))
	c.MoveSlot(key, c.Other(key))
	release(t, ours, held)
	w.granted(patience)
	release(t, theirs, w.req)
}

// TestGateAsksThePrimary: by a client that reads from replicas too, ObtainGate asks none of them
// whether anybody holds anything.
func TestGateAsksThePrimary(t *testing.T) {
	t.Parallel()
	c, tree := testredis.StartCluster(t, testredis.Redis), newTree(t)
	client := c.Client(func(o *redis.ClusterOptions) { o.ReadOnly = true })
	lock, err := redisstore.ObtainGate(t.Context(), client, tree, long, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if asked := c.Replica(redisstore.GateKey(tree)).Info("commandstats", "cmdstat_hexists"); asked != "" {
		t.Errorf("the replica was asked: %s", asked)
	}
}

// TestHalfMoved goes through every state of a move. As long as it lasts, the cluster refuses what
// needs several keys of the slot; whatever it does not refuse has to be right.
func TestHalfMoved(t *testing.T) {
	t.Parallel()
	c := testredis.StartCluster(t, testredis.Redis)
	d := cluster(c)
	store, other, tree := d.store(t), d.store(t), newTree(t)
	key := store.GateKey(tree)
	held := ask(tree, x("/a"))
	first := take(t, store, held)
	w := queue(t, other, ask(tree, x("/a")))

	// unavailableOr requires that a call fails because of the move, or does what it should.
	unavailableOr := func(what string, err, want error) {
		t.Helper()
		if !errors.Is(err, pathlock.ErrUnavailable) && !errors.Is(err, want) {
			t.Errorf("%s: %v, want ErrUnavailable or %v", what, err, want)
		}
	}
	probe := func() {
		t.Helper()
		_, err := store.Acquire(t.Context(), ask(tree, x("/a/b")))
		unavailableOr("acquire of what another holds", err, pathlock.ErrConflict)
		lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: held.Owner, For: long}})
		unavailableOr("renew", err, nil)
		if len(lost) > 0 {
			t.Error("renew: lost while the slot is on its way")
		}
		free := ask(tree, x("/b"))
		_, err = store.Acquire(t.Context(), free)
		unavailableOr("acquire of what is free", err, nil)
		if err == nil {
			err = store.Release(t.Context(), tree, free.Owner, free.Grant)
			unavailableOr("release", err, nil)
		}
	}
	move := c.BeginMove(key, c.Other(key))
	keys := move.Keys()
	if len(keys) < 4 {
		t.Fatalf("the tree has the keys %v, want locks, deadlines, queue and fence", keys)
	}
	probe()
	for _, k := range keys {
		move.MoveKey(k)
		probe()
	}
	move.Finish()
	if err := persist(t, func() error { return store.Release(t.Context(), tree, held.Owner, held.Grant) }); err != nil {
		t.Fatalf("release after the move: %v", err)
	}
	rises(t, first, w.granted(patience))
	release(t, other, w.req)

	// What was refused meanwhile, and may have been granted all the same, has been taken back.
	everything := ask(tree, x("/"))
	everything.Wait = patience
	take(t, store, everything)
	release(t, store, everything)
}

// TestExclusionWhileSlotsMove: what one holds, nobody else gets, however often the slot moves
// meanwhile.
func TestExclusionWhileSlotsMove(t *testing.T) {
	t.Parallel()
	const workers, moves = 6, 8
	c := testredis.StartCluster(t, testredis.Redis)
	d := cluster(c)
	tree := newTree(t)
	var inside atomic.Int32
	var granted, refused atomic.Int64
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var working sync.WaitGroup
	defer working.Wait()
	defer stop()
	for range workers {
		store := d.store(t)
		working.Go(func() {
			for ctx.Err() == nil {
				req := ask(tree, x("/a"))
				req.Wait = time.Duration(rand.N(100)) * time.Millisecond
				_, err := store.Acquire(ctx, req)
				switch {
				case err == nil:
				case errors.Is(err, pathlock.ErrUnavailable) || errors.Is(err, pathlock.ErrConflict) || ctx.Err() != nil:
					refused.Add(1)
					continue
				default:
					t.Errorf("acquire: %v, want a grant, a conflict or ErrUnavailable", err)
					return
				}
				granted.Add(1)
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d hold the same node", n)
				}
				inside.Add(-1)
				err = persist(t, func() error { return store.Release(context.WithoutCancel(ctx), tree, req.Owner, req.Grant) })
				if err != nil && !errors.Is(err, pathlock.ErrNotHeld) { // an earlier try may have been carried out
					t.Errorf("release: %v", err)
				}
			}
		})
	}
	key := d.store(t).GateKey(tree)
	for range moves {
		before := granted.Load()
		c.MoveSlot(key, c.Other(key))
		testserver.Await(t, "locks are granted on the new node", func() bool { return granted.Load() > before+workers })
	}
	t.Logf("%d granted, %d refused", granted.Load(), refused.Load())
}
