package redisstore

import (
	"errors"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
)

// TestCluster_halfMovedSlot goes through every state of a slot's move. As long as it lasts, the
// cluster refuses what needs several keys of the slot; whatever it does not refuse has to be right.
// Somebody who has waited since before the move hears of what happens on the new node.
func TestCluster_halfMovedSlot(t *testing.T) {
	t.Parallel()
	c := testredis.StartCluster(t, testredis.Redis)
	store, other, tree := openStore(t, cluster(c).url+"?max_redirects=3"), cluster(c).open(t), testlock.Tree(t)
	key := store.keys.gate(tree)
	held := testlock.Ask(tree, x("/a"))
	first := testlock.Take(t, store, held)
	w := testlock.Queue(t, other, testlock.Ask(tree, x("/a")))

	// unavailableOr requires that a call fails because of the move, or does what it should.
	unavailableOr := func(what string, err, want error) {
		t.Helper()
		if !errors.Is(err, pathlock.ErrUnavailable) && !errors.Is(err, want) {
			t.Errorf("%s: %v, want ErrUnavailable or %v", what, err, want)
		}
	}
	probe := func() {
		t.Helper()
		_, err := store.Acquire(t.Context(), testlock.Ask(tree, x("/a/b")))
		unavailableOr("acquire of what another holds", err, pathlock.ErrConflict)
		lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: held.Owner, For: long}})
		unavailableOr("renew", err, nil)
		if len(lost) > 0 {
			t.Error("renew: lost while the slot is on its way")
		}
		free := testlock.Ask(tree, x("/b"))
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
	gaveBack(t, store, held)
	rises(t, first, w.Granted())
	testlock.Release(t, other, w.Acquisition)

	// A request that was refused meanwhile, but may have been granted, has been taken back.
	everything := wait(testlock.Ask(tree, x("/")))
	testlock.Take(t, store, everything)
	testlock.Release(t, store, everything)
}

// TestCluster_callOutlastsAMove: a call that meets a slot on its way ends well, if the move ends in
// time.
func TestCluster_callOutlastsAMove(t *testing.T) {
	t.Parallel()
	c := testredis.StartCluster(t, testredis.Redis)
	store, tree := cluster(c).open(t), testlock.Tree(t)
	key := store.keys.gate(tree)
	testlock.Take(t, store, testlock.Ask(tree, x("/a")))
	move := c.BeginMove(key, c.Other(key))
	move.MoveKey(move.Keys()[0])
	ended := make(chan error)
	go func() { _, err := store.Acquire(t.Context(), testlock.Ask(tree, x("/b"))); ended <- err }()
	select {
	case err := <-ended:
		t.Errorf("acquire while keys are on two nodes: %v", err)
		return
	case <-time.After(newConfig(nil).timeout / 6): // it is sent again in the meantime
	}
	move.MoveKeys()
	move.Finish()
	testerr.Is(t, "acquire", <-ended, nil)
}

// TestCluster_shardHangs: while one shard hangs, calls for its trees end in time, and those for the
// trees of others are served, by a client that knows the cluster and by a new one.
func TestCluster_shardHangs(t *testing.T) {
	t.Parallel()
	c := testredis.StartCluster(t, testredis.Redis)
	url := cluster(c).url + "?timeout=1s"
	known, gone := openStore(t, url), testlock.Tree(t)
	primary := c.Primary(known.keys.gate(gone))
	healthy := testlock.Tree(t)
	for c.Primary(known.keys.gate(healthy)) == primary {
		healthy = testlock.Tree(t)
	}
	visit(t, known, gone)
	visit(t, known, healthy)
	primary.Pause()
	t.Cleanup(primary.Resume)

	ended := make(chan error)
	go func() { _, err := known.Acquire(t.Context(), testlock.Ask(gone, x("/a"))); ended <- err }()
	for name, store := range map[string]*store{"a client that knows the cluster": known, "a new client": openStore(t, url)} {
		for range 20 {
			req := testlock.Ask(healthy, x("/a"))
			// A new client may have asked the one that hangs where the slots are.
			if err := persist(t, func() error { _, err := store.Acquire(t.Context(), req); return err }); err != nil {
				t.Errorf("%s: acquire at a shard that is well: %v", name, err)
			}
			testlock.Release(t, store, req)
		}
	}
	select {
	case err := <-ended:
		if err != nil && !errors.Is(err, pathlock.ErrUnavailable) { // the replica may have taken over
			t.Errorf("acquire at the shard that hangs: %v, want ErrUnavailable", err)
		}
	case <-time.After(patience):
		t.Error("acquire at the shard that hangs does not end")
	}
}
