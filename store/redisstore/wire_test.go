package redisstore

import (
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
)

// TestClaims_many: the number of claims in a request is not bounded by what one call in Lua can
// take.
func TestClaims_many(t *testing.T) {
	t.Parallel()
	store, tree := newStore(t, WithMaxClaims(10_000)), testlock.Tree(t)
	var claims []pathlock.Claim
	for i := range 9000 {
		claims = append(claims, x("/dir/"+strings.Repeat("i", 1+i/100)+string(rune('a'+i%100/10))+string(rune('a'+i%10))))
	}
	first, second := testlock.Ask(tree, claims...), testlock.Ask(tree, claims...)
	testlock.Take(t, store, first)
	w := testlock.Queue(t, store, second)
	requireConsistent(t, store, tree)
	snapshot, err := store.Snapshot(t.Context(), tree)
	if err != nil || len(snapshot.Waiters) != 1 || !slices.Equal(snapshot.Waiters[0].Claims, second.Claims) {
		t.Errorf("the snapshot does not show the waiter's %d claims; error %v", len(second.Claims), err)
	}
	testlock.Release(t, store, first)
	w.Granted()
	requireConsistent(t, store, tree)
	testlock.Release(t, store, second)
	requireFree(t, store, tree)
}

// TestReply_ofThousands: a script returns more than Lua can pass at once, and leaves the tree
// whole.
func TestReply_ofThousands(t *testing.T) {
	store, tree := newStore(t), testlock.Tree(t)
	const grants, owners = 2_000, 10_000
	held := testlock.Ask(tree, x("/a"))
	testlock.Take(t, store, held)
	testerr.Must(t, store.client.Eval(t.Context(), `local grants = { cmsgpack.unpack(redis.call('HGET', KEYS[1], ARGV[1])) }
		for i = 2, ARGV[2] do
			grants[i] = { id = i }
			for field, value in pairs(grants[1]) do grants[i][field] = grants[i][field] or value end
		end
		return redis.call('HSET', KEYS[1], ARGV[1], cmsgpack.pack(unpack(grants)))`, store.keys.of(tree)[:1], "o"+string(held.Owner), grants).Err())
	got, err := store.Transfer(t.Context(), pathlock.Transfer{Tree: tree, From: held.Owner, To: "another"})
	if err != nil || len(got.Grants) != grants {
		t.Errorf("%d grants have been transferred, %v", len(got.Grants), err)
	}
	lost, err := store.Renew(t.Context(), tree, slices.Repeat([]pathlock.Lease{{Owner: "nobody", For: long}}, owners))
	if err != nil || len(lost) != owners {
		t.Errorf("%d owners have lost their leases, %v", len(lost), err)
	}
	testerr.Is(t, "what was taken before", store.Release(t.Context(), tree, "another", held.Grant), nil)
}
