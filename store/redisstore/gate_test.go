package redisstore

import (
	"errors"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
)

// obtain requires that another program gets the gate with redislock alone.
func obtain(t *testing.T, s *store, tree pathlock.Tree) *redislock.Lock {
	t.Helper()
	lock, err := redislock.Obtain(t.Context(), s.client, GateKey(tree), long, &redislock.Options{Metadata: "nightly job"})
	testerr.MustBe(t, "redislock.Obtain", err, nil)
	return lock
}

// asksAgain requires that a waiter is told to ask again soon, or not to, where the end of the gate
// will be told.
func asksAgain(t *testing.T, s *store, tree pathlock.Tree, soon bool) {
	t.Helper()
	req := testlock.Ask(tree, x("/asks"))
	got := sendAs(t, s, req)
	if got.status != statusQueued || (got.number(1) <= 200) != soon {
		t.Errorf("%s %v, want the waiter to ask again soon: %v", got.status, got.rest, soon)
	}
	testerr.Must(t, s.ForceRelease(t.Context(), tree, req.Owner))
}

// TestGate_foreign: what waits for a plain redislock.Obtain gets in after its release, and an owner
// that holds something does not wait.
func TestGate_foreign(t *testing.T) {
	t.Parallel()
	store, tree := newStore(t), testlock.Tree(t)
	early := testlock.Ask(tree, x("/early"))
	testlock.Take(t, store, early)
	lock := obtain(t, store, tree)

	// An owner that holds something may take more, so that it can finish.
	further := more(early, x("/further"))
	testlock.Take(t, store, further)
	testlock.Release(t, store, further)
	testlock.Release(t, store, early)

	asksAgain(t, store, tree, true)
	// Both get in after the release, of which redislock tells nobody.
	node, gate := testlock.Queue(t, store, testlock.Ask(tree, x("/a"))), testlock.Queue(t, store, askGate(tree))
	testerr.Must(t, lock.Release(t.Context()))
	node.Granted()
	testlock.Release(t, store, node.Acquisition)
	gate.Granted()
	testlock.Release(t, store, gate.Acquisition)
	requireConsistent(t, store, tree)
}

// TestGate_ours: a gate keeps out redislock.Obtain while it is held and while it waits for node
// locks to go, and gives the key back if it gives up.
func TestGate_ours(t *testing.T) {
	t.Parallel()
	store, tree := newStore(t), testlock.Tree(t)
	requireTaken := func(when string) {
		t.Helper()
		if _, err := redislock.Obtain(t.Context(), store.client, GateKey(tree), long, nil); !errors.Is(err, redislock.ErrNotObtained) {
			t.Errorf("redislock.Obtain %s: %v, want ErrNotObtained", when, err)
		}
	}
	node := testlock.Ask(tree, x("/a"))
	testlock.Take(t, store, node)
	impatient := askGate(tree)
	impatient.Wait = short
	in := testlock.Queue(t, store, impatient)
	newcomer := testlock.Queue(t, store, testlock.Ask(tree, x("/b")))
	testerr.Is(t, "a gate that is not had in time", in.Ends(), pathlock.ErrConflict)
	newcomer.Granted()
	testlock.Release(t, store, newcomer.Acquisition)
	testerr.None(t, obtain(t, store, tree).Release(t.Context()))
	gate := testlock.Queue(t, store, askGate(tree))
	requireTaken("while the gate waits for a node lock")
	asksAgain(t, store, tree, false)
	testlock.Release(t, store, node)
	gate.Granted()
	requireTaken("while the gate is held")
	asksAgain(t, store, tree, false)
	if lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: gate.Acquisition.Owner, For: 3 * long}}); err != nil || len(lost) > 0 {
		t.Fatalf("lost %v, error %v", lost, err)
	}
	inner := more(gate.Acquisition, x("/a"))
	testlock.Take(t, store, inner)
	testlock.Holders(t, store, tree, 2)
	ttl, err := store.client.PTTL(t.Context(), GateKey(tree)).Result()
	if err != nil || ttl <= 2*long {
		t.Errorf("the key lives for %v, error %v; want as long as the owner's longest lease", ttl, err)
	}
	testlock.Release(t, store, gate.Acquisition)
	testlock.Release(t, store, inner)
	testerr.None(t, obtain(t, store, tree).Release(t.Context()))
}

// TestGateStolen: a gate whose key is gone, or another's, is lost with all that its owner holds.
func TestGateStolen(t *testing.T) {
	for name, steal := range map[string]func(*testing.T, *store, pathlock.Tree){
		"gone":                 func(*testing.T, *store, pathlock.Tree) {},
		"gone, for a transfer": func(*testing.T, *store, pathlock.Tree) {},
		"another's":            func(t *testing.T, s *store, tree pathlock.Tree) { obtain(t, s, tree) },
	} {
		t.Run(name, func(t *testing.T) {
			store, tree := newStore(t), testlock.Tree(t)
			gate := askGate(tree)
			testlock.Take(t, store, gate)
			testerr.Must(t, store.client.Del(t.Context(), GateKey(tree)).Err())
			steal(t, store, tree)
			if name == "gone, for a transfer" {
				_, err := store.Transfer(t.Context(), pathlock.Transfer{Tree: tree, From: gate.Owner, To: "another"})
				testerr.Is(t, "transfer", err, pathlock.ErrLost)
			}
			renewed(t, store, gate, true)
			testerr.Is(t, "release", store.Release(t.Context(), tree, gate.Owner, gate.Grant), pathlock.ErrNotHeld)
			requireConsistent(t, store, tree)
		})
	}
}

// TestGate_foreignOfAnyType: gate keys of any text, and of other libraries' types, such as the hash
// of Redisson's lock, are somebody else's gate while they are there: they are shown, and can be
// taken away.
func TestGate_foreignOfAnyType(t *testing.T) {
	for value, note := range map[string]string{"": "", "x": "", "a token of 22 letters.": "", "a token of 22 letters.and a note": "and a note", "a hash": ""} {
		store, tree := newStore(t), testlock.Tree(t)
		early, key := testlock.Ask(tree, x("/early")), store.keys.gate(tree)
		testlock.Take(t, store, early)
		put := redis.Cmder(store.client.Set(t.Context(), key, value, long))
		if value == "a hash" {
			store.client.Del(t.Context(), key)
			put = store.client.HSet(t.Context(), key, "8743c9c0:1", 1)
		}
		if put.Err() != nil {
			t.Fatal(put.Err())
		}
		for _, req := range []pathlock.Acquisition{testlock.Ask(tree, x("/a")), askGate(tree)} {
			_, err := store.Acquire(t.Context(), req)
			var conflict *pathlock.ConflictError
			if !errors.As(err, &conflict) || !errors.Is(err, redislock.ErrNotObtained) {
				t.Fatalf("%s: %v, want a conflict that matches redislock.ErrNotObtained", value, err)
			}
			if b := conflict.Blocker; conflict.Gate != req.Gate || !b.Gate || b.Note != note || value != "a hash" && b.Until.Before(time.Now()) {
				t.Errorf("%s: conflict %+v, want somebody's gate in the way", value, conflict)
			}
		}
		testlock.Release(t, store, early)
		snapshot, err := store.Snapshot(t.Context(), tree)
		if err != nil || len(snapshot.Holders) != 1 || !snapshot.Holders[0].Gate || snapshot.Holders[0].Owner == "" {
			t.Fatalf("%s: %+v, error %v; want a holder of the gate", value, snapshot, err)
		}
		testerr.Is(t, value, store.ForceRelease(t.Context(), tree, snapshot.Holders[0].Owner), nil)
		testlock.Take(t, store, testlock.Ask(tree, x("/a")))
		requireConsistent(t, store, tree)
	}
}
