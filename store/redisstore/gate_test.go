package redisstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// obtain requires that another program gets the gate with redislock alone.
func obtain(t *testing.T, s *Store, tree pathlock.Tree, ttl time.Duration) *redislock.Lock {
	t.Helper()
	lock, err := redislock.Obtain(t.Context(), s.client, GateKey(tree), ttl, &redislock.Options{Metadata: "nightly job"})
	if err != nil {
		t.Fatalf("redislock.Obtain: %v", err)
	}
	return lock
}

// TestForeignGate: a plain redislock.Obtain by another program stops new node locks and gates.
func TestForeignGate(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	early := ask(tree, x("/early"))
	take(t, store, early)
	lock := obtain(t, store, tree, long)

	for name, req := range map[string]pathlock.Acquisition{"claims": ask(tree, x("/a")), "gate": askGate(tree)} {
		_, err := store.Acquire(t.Context(), req)
		var conflict *pathlock.ConflictError
		if !errors.As(err, &conflict) || !errors.Is(err, redislock.ErrNotObtained) {
			t.Fatalf("%s: %v, want a conflict that matches redislock.ErrNotObtained", name, err)
		}
		b := conflict.Blocker
		if conflict.Gate != req.Gate || !b.Gate || b.Note != "nightly job" || b.Until.Before(time.Now()) {
			t.Errorf("%s: conflict %+v, want the nightly job's gate in the way", name, conflict)
		}
	}
	// Who holds something comes to its end, and may need more for it.
	further := more(early, x("/further"))
	take(t, store, further)
	release(t, store, further)
	release(t, store, early)

	snapshot, err := store.Snapshot(t.Context(), tree)
	if err != nil || len(snapshot.Holders) != 1 || !snapshot.Holders[0].Gate || snapshot.Holders[0].Note != "nightly job" {
		t.Errorf("snapshot %+v, error %v; want the nightly job to hold the gate", snapshot, err)
	}

	// Both come in after the release, of which redislock tells nobody.
	node, gate := queue(t, store, ask(tree, x("/a"))), queue(t, store, askGate(tree))
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	node.granted()
	release(t, store, node.req)
	gate.granted()
	release(t, store, gate.req)
	requireConsistent(t, store, tree)
}

func TestForeignGateExpires(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	obtain(t, store, tree, short)
	req := ask(tree, x("/a"))
	req.Wait = long
	take(t, store, req)
	release(t, store, req)
}

// TestOurGate: a gate keeps out redislock.Obtain while it is held and while it waits for node locks
// to go.
func TestOurGate(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	requireTaken := func(when string) {
		t.Helper()
		if _, err := redislock.Obtain(t.Context(), store.client, GateKey(tree), long, nil); !errors.Is(err, redislock.ErrNotObtained) {
			t.Errorf("redislock.Obtain %s: %v, want ErrNotObtained", when, err)
		}
	}
	node := ask(tree, x("/a"))
	take(t, store, node)
	gate := queue(t, store, askGate(tree))
	requireTaken("while the gate waits for a node lock")
	release(t, store, node)
	gate.granted()
	requireTaken("while the gate is held")
	inner := more(gate.req, x("/a"))
	inner.Lease = 2 * long
	take(t, store, inner)
	ttl, err := store.client.PTTL(t.Context(), GateKey(tree)).Result()
	if err != nil || ttl <= long {
		t.Errorf("the key lives for %v, error %v; want as long as the owner's longest lease", ttl, err)
	}
	release(t, store, gate.req)
	release(t, store, inner)
	if err := obtain(t, store, tree, long).Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestGateGivenUp: a gate that is not had in time gives the key back, and those it kept out get in.
func TestGateGivenUp(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	node := ask(tree, x("/a"))
	take(t, store, node)
	gate := askGate(tree)
	gate.Wait = short
	g := queue(t, store, gate)
	newcomer := queue(t, store, ask(tree, x("/b")))
	if _, err := g.end(); !errors.Is(err, pathlock.ErrConflict) {
		t.Errorf("the gate: %v, want a conflict", err)
	}
	newcomer.granted()
	if err := obtain(t, store, tree, long).Release(t.Context()); err != nil {
		t.Error(err)
	}
	requireConsistent(t, store, tree)
}

// TestGateStolen: a gate whose key is gone, or another's, is lost with all that its owner holds.
func TestGateStolen(t *testing.T) {
	for name, steal := range map[string]func(*testing.T, *Store, pathlock.Tree){
		"gone":      func(*testing.T, *Store, pathlock.Tree) {},
		"another's": func(t *testing.T, s *Store, tree pathlock.Tree) { obtain(t, s, tree, long) },
	} {
		t.Run(name, func(t *testing.T) {
			store, tree := newStore(t), newTree(t)
			gate := askGate(tree)
			take(t, store, gate)
			if err := store.client.Del(t.Context(), GateKey(tree)).Err(); err != nil {
				t.Fatal(err)
			}
			steal(t, store, tree)
			lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: gate.Owner, For: long}})
			if err != nil || len(lost) != 1 {
				t.Errorf("lost %v, error %v; want the gate's owner", lost, err)
			}
			if err := store.Release(t.Context(), tree, gate.Owner, gate.Grant); !errors.Is(err, pathlock.ErrNotHeld) {
				t.Errorf("release: %v, want ErrNotHeld", err)
			}
			requireConsistent(t, store, tree)
		})
	}
}

func TestGateRenewed(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	gate := askGate(tree)
	gate.Lease = 2 * short
	take(t, store, gate)
	if lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: gate.Owner, For: long}}); err != nil || len(lost) > 0 {
		t.Fatalf("lost %v, error %v", lost, err)
	}
	pass(t, store, 2*short)
	if _, err := redislock.Obtain(t.Context(), store.client, GateKey(tree), long, nil); !errors.Is(err, redislock.ErrNotObtained) {
		t.Errorf("redislock.Obtain: %v, want ErrNotObtained", err)
	}
	release(t, store, gate)
}

// TestApartGrantBesideAnEarlierGate: the gate key lives as long as the last of the owner's grants
// of the gate.
func TestApartGrantBesideAnEarlierGate(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	shared := askGate(tree)
	shared.Lease = long
	take(t, store, shared)
	own := more(shared, x("/b"))
	own.Held, own.Apart, own.Gate, own.Lease = true, true, true, short
	take(t, store, own)
	pass(t, store, short)
	lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: shared.Owner, For: long}})
	if err != nil || len(lost) > 0 {
		t.Errorf("lost %v, error %v; want the gate to outlive the apart grant", lost, err)
	}
	requireConsistent(t, store, tree)
	release(t, store, shared)
}

// TestGateOfAnotherLibrary: a gate key that is no string, as Redisson's lock is none, is somebody
// else's gate while it is there.
func TestGateOfAnotherLibrary(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	early := ask(tree, x("/early"))
	take(t, store, early)
	if err := store.client.HSet(t.Context(), GateKey(tree), "8743c9c0:1", 1).Err(); err != nil {
		t.Fatal(err)
	}
	if err := store.client.PExpire(t.Context(), GateKey(tree), long).Err(); err != nil {
		t.Fatal(err)
	}
	for name, req := range map[string]pathlock.Acquisition{"claims": ask(tree, x("/a")), "gate": askGate(tree)} {
		_, err := store.Acquire(t.Context(), req)
		var conflict *pathlock.ConflictError
		if !errors.As(err, &conflict) || !conflict.Blocker.Gate || conflict.Blocker.Until.Before(time.Now()) {
			t.Errorf("%s: %v, want a conflict with somebody's gate", name, err)
		}
	}
	release(t, store, early)
	snapshot, err := store.Snapshot(t.Context(), tree)
	if err != nil || len(snapshot.Holders) != 1 || !snapshot.Holders[0].Gate {
		t.Fatalf("snapshot %+v, error %v; want somebody to hold the gate", snapshot, err)
	}
	w := queue(t, store, ask(tree, x("/a")))
	if err := store.client.Del(t.Context(), GateKey(tree)).Err(); err != nil {
		t.Fatal(err)
	}
	w.granted()
	release(t, store, w.req)

	if err := store.client.HSet(t.Context(), GateKey(tree), "8743c9c0:1", 1).Err(); err != nil {
		t.Fatal(err)
	}
	if err := store.ForceRelease(t.Context(), tree, snapshot.Holders[0].Owner); err != nil {
		t.Fatal(err)
	}
	requireConsistent(t, store, tree)
}

// TestObtainGate: another program that waits for the node locks has the tree for itself.
func TestObtainGate(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	node := ask(tree, x("/a"))
	take(t, store, node)

	type result struct {
		lock *redislock.Lock
		err  error
	}
	results := make(chan result, 1)
	go func() {
		lock, err := ObtainGate(t.Context(), store.client, tree, long, nil)
		results <- result{lock, err}
	}()
	// The key is there as soon as newcomers are refused.
	newcomer := ask(tree, x("/b"))
	for {
		if _, err := store.Acquire(t.Context(), newcomer); errors.Is(err, pathlock.ErrConflict) {
			break
		}
		release(t, store, newcomer)
	}
	select {
	case r := <-results:
		t.Fatalf("ObtainGate returned %v, %v beside a node lock", r.lock, r.err)
	default:
	}
	release(t, store, node)
	r := <-results
	if r.err != nil {
		t.Fatal(r.err)
	}
	if err := r.lock.Release(t.Context()); err != nil {
		t.Error(err)
	}

	t.Run("in vain", func(t *testing.T) {
		take(t, store, node)
		ctx, cancel := context.WithTimeout(t.Context(), short)
		defer cancel()
		_, err := ObtainGate(ctx, store.client, tree, long, nil)
		if !errors.Is(err, redislock.ErrNotObtained) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ObtainGate: %v, want ErrNotObtained and DeadlineExceeded", err)
		}
		take(t, store, newcomer)
		release(t, store, newcomer)
		release(t, store, node)
	})

	for _, command := range []string{"evalsha", "hexists"} {
		t.Run("the context ends at "+command, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			client := closeClient(t, redis.NewClient(store.client.(*redis.Client).Options()))
			client.AddHook(endsAt{command, cancel})
			_, err := ObtainGate(ctx, client, tree, long, nil)
			if !errors.Is(err, redislock.ErrNotObtained) || !errors.Is(err, context.Canceled) {
				t.Errorf("ObtainGate: %v, want ErrNotObtained and Canceled", err)
			}
		})
	}
}

// endsAt is a hook that ends the context of a command.
type endsAt struct {
	command string
	end     context.CancelFunc
}

func (e endsAt) DialHook(next redis.DialHook) redis.DialHook { return next }

func (e endsAt) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (e endsAt) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == e.command {
			e.end()
		}
		return next(ctx, cmd)
	}
}
