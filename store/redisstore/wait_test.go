package redisstore

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
)

// TestHandOverCounts: each release wakes exactly the one that it lets in, who has nothing more to
// send.
func TestHandOverCounts(t *testing.T) {
	t.Parallel()
	const waiters = 500
	server := startServer(t)
	first, second := server.store(), server.store()
	known := testlock.Ask(testlock.Tree(t), x("/a"))
	testlock.Take(t, first, known)
	testlock.Release(t, first, known) // the server knows the scripts from here on
	serve := testlock.Crowd(t, []pathlock.Store{first, second}, waiters)
	queued := server.calls("evalsha")
	serve(waiters)

	if got := server.calls("publish"); got != waiters {
		t.Errorf("%d messages, want one for each of %d waiters", got, waiters)
	}
	if got := server.calls("evalsha") - queued; got != waiters+1 {
		t.Errorf("%d scripts from the first release to the last, want one for each of %d holders", got, waiters+1)
	}
}

// TestLimits: a request that claims too much is refused, and so is one too many that waits.
func TestLimits(t *testing.T) {
	store := newStore(t, WithMaxClaims(3), WithMaxWaiters(1))
	most := testlock.Ask(testlock.Tree(t), x("/a/b")) // with the root and /a, three nodes
	testlock.Take(t, store, most)
	testerr.Is(t, "four nodes", testerr.Of(store.Acquire(t.Context(), testlock.Ask(most.Tree, x("/a/b/c")))), pathlock.ErrInvalidRequest)
	testlock.Full(t, store, newStore(t, WithMaxWaiters(1)))
}

// TestDeadlock_askerClosesTheCycle: a waiter asks again, and its question is the first to find that
// a lease has ended. That lets in another request of its owner, which makes this one close a cycle,
// and then ends the other of the two, too: it is answered that there was a deadlock, and not queued
// anew.
func TestDeadlock_askerClosesTheCycle(t *testing.T) {
	store, tree := newStore(t), testlock.Tree(t)
	holder, a, b := testlock.Ask(tree, x("/r")), testlock.Ask(tree, pathlock.S(pathlock.MustParsePath("/r/n"))), testlock.Ask(tree, pathlock.S(pathlock.MustParsePath("/r/n")))
	testlock.Take(t, store, holder)
	asker := more(b, x("/r/n"))
	for _, req := range []pathlock.Acquisition{a, b, asker, more(a, pathlock.S(pathlock.MustParsePath("/r/k"))), more(a, x("/r/n")), more(b, x("/r/k"))} {
		if got := sendAs(t, store, req); got.status != "queued" {
			t.Fatalf("%v: %s, want it to be queued", req.Claims, got.status)
		}
	}
	ended := redis.Z{Score: 1, Member: "o" + string(holder.Owner)}
	testerr.Must(t, store.client.ZAdd(t.Context(), store.keys.of(tree)[1], ended).Err())
	if got := sendAs(t, store, asker); got.status != "deadlock" || got.text(1) != string(a.Owner) {
		t.Errorf("%s %v, want a deadlock with the other owner", got.status, got.rest)
	}
	requireConsistent(t, store, tree)
}

// TestMessagesOfAnEarlierPlace: a waiter with a new place in the queue heeds no message about its
// earlier place, be it of a grant or of a deadlock: what was granted then has ended.
func TestMessagesOfAnEarlierPlace(t *testing.T) {
	for _, kind := range []string{"granted", "deadlock"} {
		t.Run(kind, func(t *testing.T) {
			s := newStore(t)
			holder := testlock.Ask(testlock.Tree(t), x("/a"))
			testlock.Take(t, s, holder)
			w := testlock.Queue(t, s, testlock.Ask(holder.Tree, x("/a")))
			heard := func() int64 {
				// It is the first waiter of its store.
				n, err := s.client.Publish(t.Context(), s.listener.channel, kind+" 1.0 1 owner").Result()
				testerr.Must(t, err)
				return n
			}
			for heard() == 0 { // until the subscription is there
			}
			testlock.Release(t, s, holder)
			if grant := w.Granted(); grant.Fence == 1 {
				t.Error("the message of an earlier place was believed")
			}
		})
	}
}

// TestWithdrawnStaysWithdrawn: a request that reaches the server after it was withdrawn is granted
// nothing.
func TestWithdrawnStaysWithdrawn(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(s *store, late, other pathlock.Acquisition){
		"before it came":     func(*store, pathlock.Acquisition, pathlock.Acquisition) {},
		"beside another":     func(s *store, _, other pathlock.Acquisition) { testlock.Take(t, s, other) },
		"from the queue":     func(s *store, late, other pathlock.Acquisition) { testlock.Take(t, s, other); sendAs(t, s, late) },
		"after it was given": func(s *store, late, _ pathlock.Acquisition) { testlock.Take(t, s, late) },
	} {
		t.Run(name, func(t *testing.T) {
			store, tree := newStore(t), testlock.Tree(t)
			late, other := testlock.Ask(tree, x("/a")), testlock.Ask(tree, x("/a"))
			before(store, late, other)
			testerr.Must(t, store.withdraw(t.Context(), keyOf(late), short))
			requireConsistent(t, store, tree)
			if got := sendAs(t, store, late); got.status != "withdrawn" {
				t.Errorf("%v, want it refused as withdrawn", got)
			}
			pass(t, store, short)
			if got := sendAs(t, store, late); got.status == "withdrawn" {
				t.Error("it is remembered for ever")
			}
		})
	}
}

// TestKeysDeleted: whatever key, or record, is evicted or deleted, those who have lost something
// are told, nobody is kept out by what is left, and Snapshot shows what there is.
func TestKeysDeleted(t *testing.T) {
	for i, name := range []string{"locks", "deadlines", "queue", "a record"} {
		t.Run(name, func(t *testing.T) {
			store, tree := newStore(t), testlock.Tree(t)
			a, b, w := testlock.Ask(tree, x("/a")), testlock.Ask(tree, x("/b")), testlock.Ask(tree, x("/a"))
			testlock.Take(t, store, a)
			testlock.Take(t, store, b)
			if got := sendAs(t, store, w); got.status != "queued" {
				t.Fatalf("%v, want it queued", got)
			}
			keys, whole := store.keys.of(tree), name != "a record"
			deleted := store.client.HDel(t.Context(), keys[0], "o"+string(a.Owner))
			if whole {
				deleted = store.client.Del(t.Context(), keys[i])
			}
			if deleted.Val() != 1 {
				t.Fatalf("it is not deleted: %v", deleted.Err())
			}
			testerr.Is(t, "snapshot", testerr.Of(store.Snapshot(t.Context(), tree)), nil)
			renewed(t, store, a, true)
			renewed(t, store, b, whole)
			if whole {
				testlock.Take(t, store, testlock.Ask(tree, x("/a"), x("/b")))
				requireConsistent(t, store, tree)
			}
		})
	}
}

// TestKeysDeleted_anyOfThem: whichever keys there are, nothing but a gate key or a withdrawal keeps
// a request out, and a release finds what is held if both locks and deadlines are there.
func TestKeysDeleted_anyOfThem(t *testing.T) {
	store := newStore(t)
	for n := range 1 << 6 {
		there, release, alone, tree := n>>2, n&1 == 1, n&2 == 0, testlock.Tree(t)
		held, late := testlock.Ask(tree, x("/a")), testlock.Ask(tree, x("/b"))
		keys, want, whole := store.keys.about(keyOf(late)), "granted", there&3 == 3
		testlock.Take(t, store, held)
		if !alone {
			testlock.Take(t, store, testlock.Ask(tree, x("/c")))
		}
		for i, key := range keys[:2] {
			if there>>i&1 == 0 {
				testerr.Must(t, store.client.Del(t.Context(), key).Err())
			}
		}
		for i, status := range []string{"queued", "withdrawn"} {
			if there>>(2+i)&1 == 1 {
				testerr.Must(t, store.client.Set(t.Context(), keys[4+i], "x", long).Err())
				want = status
			}
		}
		if release {
			if err := store.Release(t.Context(), tree, held.Owner, held.Grant); (err == nil) != whole {
				t.Errorf("keys %04b: release: %v", there, err)
			}
		} else if got := sendAs(t, store, late); got.status != want {
			t.Errorf("keys %04b: %v, want %s", there, got, want)
		}
	}
}

// TestWait_withdrawnAtItsDeadline: the deadline passes while a waiter tells a server that does not
// answer that it is still there. That is withdrawn, and the wait ends as any other.
func TestWait_withdrawnAtItsDeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	store, tree := newStore(t), testlock.Tree(t)
	testlock.Take(t, store, testlock.Ask(tree, x("/a")))
	req := wait(testlock.Ask(tree, x("/a")))
	req.Waiting = func() { testerr.None(t, store.withdraw(ctx, keyOf(req), longestDelay)) }
	_, err := store.Acquire(ctx, req)
	testerr.Is(t, "the wait", err, pathlock.ErrConflict)
	testerr.Is(t, "the wait", err, context.DeadlineExceeded)
}

// TestKeys_nothingLeft: after the last release of a tree the fence is left, for a time, and loses
// no digit meanwhile.
func TestKeys_nothingLeft(t *testing.T) {
	const last uint64 = 8_999_999_999_999_999 // beyond any clock, and not a round number
	store, tree := newStore(t), testlock.Tree(t)
	fence := store.keys.of(tree)[3]
	testerr.Must(t, store.client.Set(t.Context(), fence, last, long).Err())
	req := testlock.Ask(tree, x("/a/b/c"))
	grant := testlock.Take(t, store, req)
	w := testlock.Queue(t, store, testlock.Ask(tree, x("/a/b/c")))
	testlock.Release(t, store, req)
	if next := w.Granted(); grant.Fence != last+1 || next.Fence != last+2 {
		t.Errorf("fences %d and %d, want %d and the next", grant.Fence, next.Fence, last+1)
	}
	testlock.Release(t, store, w.Acquisition)
	requireFree(t, store, tree)
	if ttl, err := store.client.PTTL(t.Context(), fence).Result(); err != nil || ttl <= long {
		t.Errorf("the fence lives for %v, error %v; want a week", ttl, err)
	}
}
