package redisstore

import (
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/lua"
)

// sendAs calls the acquire script for a request by hand, which may wait: nobody listens, and nobody
// asks again.
func sendAs(t *testing.T, s *Store, req pathlock.Acquisition) lua.Reply {
	t.Helper()
	got, err := s.scripts.acquire.Ask(t.Context(), s.client, s.keys.of(req.Tree), acquisition(req, long)...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestWithdrawnStaysWithdrawn: a request that reaches the server after it was withdrawn is granted
// nothing.
func TestWithdrawnStaysWithdrawn(t *testing.T) {
	for name, before := range map[string]func(s *Store, late, other pathlock.Acquisition){
		"before it came":     func(*Store, pathlock.Acquisition, pathlock.Acquisition) {},
		"beside another":     func(s *Store, _, other pathlock.Acquisition) { take(t, s, other) },
		"from the queue":     func(s *Store, late, other pathlock.Acquisition) { take(t, s, other); sendAs(t, s, late) },
		"after it was given": func(s *Store, late, _ pathlock.Acquisition) { take(t, s, late) },
	} {
		t.Run(name, func(t *testing.T) {
			store, tree := newStore(t), newTree(t)
			late, other := ask(tree, x("/a")), ask(tree, x("/a"))
			late.Lease = short
			before(store, late, other)
			if err := store.withdraw(t.Context(), keyOf(late), 2*short); err != nil {
				t.Fatal(err)
			}
			requireConsistent(t, store, tree)
			if got := sendAs(t, store, late); got.Status != "withdrawn" {
				t.Errorf("%v, want it refused as withdrawn", got)
			}
			third := ask(tree, x("/b"))
			take(t, store, third)
			release(t, store, third)
			pass(t, store, 2*short)
			visit(t, store, tree)
			fields := store.client.HKeys(t.Context(), store.keys.locks(tree)).Val()
			if slices.ContainsFunc(fields, func(field string) bool { return field[0] == 't' }) {
				t.Errorf("it is remembered for ever: %q", fields)
			}
		})
	}
}

// TestForeignGates: gate keys of any text are shown, and can be taken away.
func TestForeignGates(t *testing.T) {
	for _, value := range []string{"", "x", "a value of 21 letters", "a token of 22 letters.", "a token of 22 letters.and a note"} {
		store, tree := newStore(t), newTree(t)
		if err := store.client.Set(t.Context(), store.keys.gate(tree), value, long).Err(); err != nil {
			t.Fatal(err)
		}
		snapshot, err := store.Snapshot(t.Context(), tree)
		if err != nil || len(snapshot.Holders) != 1 || !snapshot.Holders[0].Gate || snapshot.Holders[0].Owner == "" {
			t.Fatalf("%q: %+v, error %v; want a holder of the gate", value, snapshot, err)
		}
		if err := store.ForceRelease(t.Context(), tree, snapshot.Holders[0].Owner); err != nil {
			t.Errorf("%q: %v", value, err)
		}
		take(t, store, ask(tree, x("/a")))
	}
}

// TestKeysDeleted: whatever key is evicted or deleted, those who have lost something are told,
// nobody is kept out by what is left, and Snapshot shows what there is.
func TestKeysDeleted(t *testing.T) {
	for i, kind := range []string{"locks", "deadlines", "queue"} {
		t.Run(kind, func(t *testing.T) {
			store, tree := newStore(t), newTree(t)
			a, b := ask(tree, x("/a")), ask(tree, x("/b"))
			take(t, store, a)
			take(t, store, b)
			w := ask(tree, x("/a"))
			w.Lease = short
			if got := sendAs(t, store, w); got.Status != "queued" {
				t.Fatalf("%v, want it queued", got)
			}
			if err := store.client.Del(t.Context(), store.keys.of(tree)[i]).Err(); err != nil {
				t.Fatal(err)
			}
			if _, err := store.Snapshot(t.Context(), tree); err != nil {
				t.Errorf("snapshot: %v", err)
			}
			lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: a.Owner, For: long}, {Owner: b.Owner, For: long}})
			if err != nil || len(lost) != 2 {
				t.Errorf("renew: %d lost, error %v; want 2", len(lost), err)
			}
			take(t, store, ask(tree, x("/a"), x("/b")))
			requireConsistent(t, store, tree)
		})
	}
}

// TestRecordDeleted: a renewal that finds a deadline without its record reports a loss.
func TestRecordDeleted(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	a, b := ask(tree, x("/a")), ask(tree, x("/b"))
	take(t, store, a)
	take(t, store, b)
	if err := store.client.HDel(t.Context(), store.keys.locks(tree), "o"+string(a.Owner)).Err(); err != nil {
		t.Fatal(err)
	}
	lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: a.Owner, For: long}, {Owner: b.Owner, For: long}})
	if err != nil || len(lost) != 1 || lost[0] != a.Owner {
		t.Errorf("lost %v, error %v; want the one without a record", lost, err)
	}
}

// TestHeartbeatWhenMemoryIsFull: a full server takes no place away from who waits already.
func TestHeartbeatWhenMemoryIsFull(t *testing.T) {
	server := startServer(t)
	store, tree := server.store(), newTree(t)
	holder, w := ask(tree, x("/a")), ask(tree, x("/a"))
	take(t, store, holder)
	if got := sendAs(t, store, w); got.Status != "queued" {
		t.Fatalf("%v, want it queued", got)
	}
	server.Do("CONFIG", "SET", "maxmemory", "1")
	if got := sendAs(t, store, w); got.Status != "queued" {
		t.Fatalf("%v, want it queued", got)
	}
	if _, err := store.Acquire(t.Context(), ask(tree, x("/b"))); !redis.IsOOMError(err) {
		t.Errorf("a new request: %v, want OOM", err)
	}
	release(t, store, holder)
	if got := sendAs(t, store, w); got.Status != "granted" {
		t.Errorf("%v, want the grant", got)
	}
}

// TestMessagesOfAnEarlierPlace: a waiter that has got a new place in the queue heeds no grant, and
// no deadlock, that was told it in the earlier one: what was granted then has ended.
func TestMessagesOfAnEarlierPlace(t *testing.T) {
	for _, kind := range []string{"granted", "deadlock"} {
		t.Run(kind, func(t *testing.T) {
			s := newStore(t)
			holder := ask(newTree(t), x("/a"))
			take(t, s, holder)
			w := queue(t, s, ask(holder.Tree, x("/a")))
			heard := func() int64 {
				// Its reference is the first that the store has given out.
				n, err := s.client.Publish(t.Context(), s.listener.Channel, kind+" 1.0 1 owner").Result()
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			for heard() == 0 { // until the subscription is there
			}
			release(t, s, holder)
			if grant := w.granted(); grant.Fence == 1 {
				t.Error("the message of an earlier place was believed")
			}
		})
	}
}
