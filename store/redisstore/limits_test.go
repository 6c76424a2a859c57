package redisstore

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

func TestMaxClaims(t *testing.T) {
	store, tree := newStore(t, WithMaxClaims(3)), newTree(t)
	within := ask(tree, x("/a/b")) // with the root and /a, three nodes
	take(t, store, within)
	release(t, store, within)
	_, err := store.Acquire(t.Context(), ask(tree, x("/a/b/c")))
	if !errors.Is(err, pathlock.ErrInvalidRequest) {
		t.Errorf("four nodes: %v, want ErrInvalidRequest", err)
	}
	if left := keysLeft(t, store, tree); len(left) != 1 {
		t.Errorf("left: %v, want the fence alone", left)
	}
}

func TestMaxWaiters(t *testing.T) {
	store, tree := newStore(t, WithMaxWaiters(2)), newTree(t)
	holder := ask(tree, x("/a"))
	take(t, store, holder)
	first, second := queue(t, store, ask(tree, x("/a"))), queue(t, store, askGate(tree))

	for name, req := range map[string]pathlock.Acquisition{
		"a node": ask(tree, x("/a")), "the gate": askGate(tree), "a holder that wants more": more(holder, x("/a"), pathlock.S(path("/b"))),
	} {
		t.Run(name, func(t *testing.T) {
			req.Wait = long
			_, err := store.Acquire(t.Context(), req)
			if req.Owner == holder.Owner {
				if err != nil { // it does not have to wait
					t.Errorf("acquire: %v, want a grant", err)
				}
				release(t, store, req)
				return
			}
			var conflict *pathlock.ConflictError
			if !errors.As(err, &conflict) || !errors.Is(err, ErrQueueFull) {
				t.Fatalf("acquire: %v, want a conflict with ErrQueueFull", err)
			}
			if conflict.Blocker.IsZero() {
				t.Error("the conflict names nobody")
			}
			requireConsistent(t, store, tree)
		})
	}
	release(t, store, holder)
	first.granted()
	release(t, store, first.req)
	second.granted()
	release(t, store, second.req)
}

// TestSnapshotInPages: more than a page are shown, each once, whether they share a deadline or not.
func TestSnapshotInPages(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	var want []pathlock.Owner
	for i := range 2*snapshotPage + 10 {
		req := ask(tree, x(fmt.Sprintf("/a/%d", i)))
		take(t, store, req)
		want = append(want, req.Owner)
	}
	waiter := queue(t, store, ask(tree, x("/a/0")))
	see := func(how string) {
		t.Helper()
		snapshot, err := store.Snapshot(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		var got []pathlock.Owner
		for _, h := range snapshot.Holders {
			got = append(got, h.Owner)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d holders in the order of their fences, want %d", how, len(got), len(want))
		}
		if len(snapshot.Waiters) != 1 || snapshot.Waiters[0].Owner != waiter.req.Owner {
			t.Errorf("%s: waiters %v, want one", how, snapshot.Waiters)
		}
	}
	see("deadlines that differ")
	if err := store.client.ZAdd(t.Context(), store.keys.of(tree)[1], sameDeadline(want)...).Err(); err != nil {
		t.Fatal(err)
	}
	see("one deadline")
}

// sameDeadline returns the entries of owners whose leases end at one time.
func sameDeadline(owners []pathlock.Owner) []redis.Z {
	at := float64(time.Now().Add(long).UnixMilli())
	var all []redis.Z
	for _, owner := range owners {
		all = append(all, redis.Z{Score: at, Member: "o" + string(owner)})
	}
	return all
}
