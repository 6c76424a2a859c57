package redisstore

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// TestHandOverCounts: each release wakes exactly the one that it lets in, who has nothing more to
// send.
func TestHandOverCounts(t *testing.T) {
	const waiters = 500
	server := startServer(t)
	stores := []*Store{server.store(), server.store()}
	tree := newTree(t)
	first := ask(tree, x("/a"))
	take(t, stores[0], first)
	release(t, stores[0], first) // the server knows the scripts from here on
	take(t, stores[0], first)

	var served sync.WaitGroup
	for i := range waiters {
		w := queue(t, stores[i%2], ask(tree, x("/a")))
		served.Go(func() {
			if _, err := w.end(); err != nil {
				t.Errorf("waiter %d: %v", i, err)
				return
			}
			release(t, stores[i%2], w.req)
		})
	}
	queued := server.calls("evalsha")
	release(t, stores[0], first)
	served.Wait()

	if got := server.calls("publish"); got != waiters {
		t.Errorf("%d messages, want one for each of %d waiters", got, waiters)
	}
	if got := server.calls("evalsha") - queued; got != waiters+1 {
		t.Errorf("%d scripts from the first release to the last, want one for each of %d holders", got, waiters+1)
	}
	requireFree(t, stores[0], tree)
}

// TestLimits: what claims too much, or waits too many for, is refused, and leaves nothing.
func TestLimits(t *testing.T) {
	store, tree := newStore(t, WithMaxClaims(3), WithMaxWaiters(2)), newTree(t)
	holder := ask(tree, x("/a/b")) // with the root and /a, three nodes
	take(t, store, holder)
	if _, err := store.Acquire(t.Context(), ask(tree, x("/a/b/c"))); !errors.Is(err, pathlock.ErrInvalidRequest) {
		t.Errorf("four nodes: %v, want ErrInvalidRequest", err)
	}
	first, second := queue(t, store, ask(tree, x("/a"))), queue(t, store, askGate(tree))
	for name, req := range map[string]pathlock.Acquisition{"a node": ask(tree, x("/a")), "the gate": askGate(tree)} {
		_, err := store.Acquire(t.Context(), wait(req))
		var conflict *pathlock.ConflictError
		if !errors.As(err, &conflict) || !errors.Is(err, pathlock.ErrQueueFull) || conflict.Blocker.IsZero() {
			t.Errorf("%s: %v, want a conflict with ErrQueueFull that names somebody", name, err)
		}
	}
	further := wait(more(holder, x("/c")))
	take(t, store, further) // it does not have to wait
	requireConsistent(t, store, tree)
	release(t, store, further)
	release(t, store, holder)
	first.granted()
	release(t, store, first.req)
	second.granted()
	release(t, store, second.req)
	requireFree(t, store, tree)
}

// TestLeaseTime: a lease that begins on the server in a millisecond that is all but over lasts
// there as long as for the caller, who begins to count before, and no more than two milliseconds
// longer.
func TestLeaseTime(t *testing.T) {
	for _, lease := range []time.Duration{1, time.Millisecond - 1, time.Millisecond, time.Millisecond + 1, 30*time.Second + 1} {
		ms, err := strconv.ParseInt(leaseTime(lease), 10, 64)
		if err != nil {
			t.Fatalf("%v: %v", lease, err)
		}
		for _, over := range []time.Duration{0, 1, time.Millisecond - 1} {
			if lasts := time.Duration(ms)*time.Millisecond - over; lasts < lease || lasts > lease+2*time.Millisecond {
				t.Errorf("%v, begun %v into a millisecond: %v", lease, over, lasts)
			}
		}
	}
}

// TestLeaseShorterThanTheWay: a lease that is over before its grant can arrive is asked for a few
// times, and nothing stays.
func TestLeaseShorterThanTheWay(t *testing.T) {
	for _, waits := range []time.Duration{0, long} {
		store, req := newStore(t), ask(newTree(t), x("/a"))
		req.Lease, req.Wait = 1, waits
		if _, err := store.Acquire(t.Context(), req); !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("a lease of a nanosecond, with a wait of %v: %v, want ErrUnavailable", waits, err)
		}
		take(t, store, wait(ask(req.Tree, x("/a"))))
	}
}

// TestLetIn: a release lets in the first waiter, and that grant another request of the same owner,
// which passes a waiter that waits for this owner now. A withdrawal lets in who was behind it. None
// of them asks again.
func TestLetIn(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	one, two := ask(tree, x("/one")), ask(tree, ix("/two"))
	take(t, store, one)
	take(t, store, two)
	first, between, behind := ask(tree, x("/one")), ask(tree, x("/one"), x("/two")), ask(tree, ix("/two"))
	second := more(first, ix("/two")) // fits, but stands behind the one between
	for _, req := range []pathlock.Acquisition{first, between, second, behind} {
		if got := sendAs(t, store, req); got.Status != "queued" {
			t.Fatalf("%v: %s, want it to be queued", req.Claims, got.Status)
		}
	}
	release(t, store, one)
	if snapshot, err := store.Snapshot(t.Context(), tree); err != nil || len(snapshot.Holders) != 3 || len(snapshot.Waiters) != 2 {
		t.Fatalf("%+v, error %v; want the first and the second let in", snapshot, err)
	}
	if err := store.withdraw(t.Context(), keyOf(between), 0); err != nil {
		t.Fatal(err)
	}
	requireHeld(t, store, two, first, second, behind)
	requireConsistent(t, store, tree)
}

// TestAskerClosesCycle: a waiter asks again, and its question is the first to find that a lease has
// ended. That lets in another request of its owner, which makes this one close a cycle, and then
// ends the other of the two, too: it is answered that there was a deadlock, and not queued anew.
func TestAskerClosesCycle(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	holder, a, b := ask(tree, x("/r")), ask(tree, pathlock.S(path("/r/n"))), ask(tree, pathlock.S(path("/r/n")))
	take(t, store, holder)
	asker := more(b, x("/r/n"))
	for _, req := range []pathlock.Acquisition{a, b, asker, more(a, pathlock.S(path("/r/k"))), more(a, x("/r/n")), more(b, x("/r/k"))} {
		if got := sendAs(t, store, req); got.Status != "queued" {
			t.Fatalf("%v: %s, want it to be queued", req.Claims, got.Status)
		}
	}
	ended := redis.Z{Score: 1, Member: "o" + string(holder.Owner)}
	if err := store.client.ZAdd(t.Context(), store.keys.of(tree)[1], ended).Err(); err != nil {
		t.Fatal(err)
	}
	if got := sendAs(t, store, asker); got.Status != "deadlock" || got.Text(1) != string(a.Owner) {
		t.Errorf("%s %v, want a deadlock with the other owner", got.Status, got.Rest)
	}
	requireConsistent(t, store, tree)
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
				// It is the first waiter of its store.
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
			before(store, late, other)
			if err := store.withdraw(t.Context(), keyOf(late), short); err != nil {
				t.Fatal(err)
			}
			requireConsistent(t, store, tree)
			if got := sendAs(t, store, late); got.Status != "withdrawn" {
				t.Errorf("%v, want it refused as withdrawn", got)
			}
			pass(t, store, short)
			if got := sendAs(t, store, late); got.Status == "withdrawn" {
				t.Error("it is remembered for ever")
			}
		})
	}
}

// TestKeysDeleted: whatever key, or record, is evicted or deleted, those who have lost something
// are told, nobody is kept out by what is left, and Snapshot shows what there is.
func TestKeysDeleted(t *testing.T) {
	remove := func(key int) func(s *Store, tree pathlock.Tree, field string) error {
		return func(s *Store, tree pathlock.Tree, _ string) error {
			return s.client.Del(t.Context(), s.keys.of(tree)[key]).Err()
		}
	}
	for name, tt := range map[string]struct {
		remove func(s *Store, tree pathlock.Tree, field string) error
		lost   int
	}{
		"locks": {remove(0), 2}, "deadlines": {remove(1), 2}, "queue": {remove(2), 2},
		"a record": {func(s *Store, tree pathlock.Tree, field string) error {
			return s.client.HDel(t.Context(), s.keys.of(tree)[0], field).Err()
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			store, tree := newStore(t), newTree(t)
			a, b, w := ask(tree, x("/a")), ask(tree, x("/b")), ask(tree, x("/a"))
			take(t, store, a)
			take(t, store, b)
			if got := sendAs(t, store, w); got.Status != "queued" {
				t.Fatalf("%v, want it queued", got)
			}
			if err := tt.remove(store, tree, "o"+string(a.Owner)); err != nil {
				t.Fatal(err)
			}
			if _, err := store.Snapshot(t.Context(), tree); err != nil {
				t.Errorf("snapshot: %v", err)
			}
			lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: a.Owner, For: long}, {Owner: b.Owner, For: long}})
			if err != nil || len(lost) != tt.lost {
				t.Errorf("renew: %d lost, error %v; want %d", len(lost), err, tt.lost)
			}
			if tt.lost == 2 {
				take(t, store, ask(tree, x("/a"), x("/b")))
				requireConsistent(t, store, tree)
			}
		})
	}
}
