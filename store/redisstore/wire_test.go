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
	takeOften(t, store, held, grants)
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

// TestGrants_tooMany: an owner gets no more grants than its record has room for, and nobody else
// loses anything by that.
func TestGrants_tooMany(t *testing.T) {
	store, tree := newStore(t), testlock.Tree(t)
	other, held := testlock.Ask(tree, x("/other")), testlock.Ask(tree, x("/a"))
	testlock.Take(t, store, other)
	takeOften(t, store, held, 2_998)
	w := testlock.Queue(t, store, more(held, x("/other/b")))
	last := more(held, x("/b"))
	testlock.Take(t, store, last)
	testerr.Is(t, "one too many", testerr.Of(store.Acquire(t.Context(), more(held, x("/c")))), pathlock.ErrInvalidRequest)
	renewed(t, store, other, false)
	testlock.Release(t, store, other)
	w.Granted()
	testlock.Release(t, store, last)
	testlock.Take(t, store, more(held, x("/c")))
}

// takeOften takes a request, and makes it so many grants of its owner.
func takeOften(t *testing.T, s *store, req pathlock.Acquisition, grants int) {
	t.Helper()
	testlock.Take(t, s, req)
	testerr.Must(t, s.client.Eval(t.Context(), `local grants = { cmsgpack.unpack(redis.call('HGET', KEYS[1], ARGV[1])) }
		for i = 2, ARGV[2] do
			grants[i] = { id = i }
			for field, value in pairs(grants[1]) do grants[i][field] = grants[i][field] or value end
		end
		return redis.call('HSET', KEYS[1], ARGV[1], cmsgpack.pack(unpack(grants)))`, s.keys.of(req.Tree)[:1], "o"+string(req.Owner), grants).Err())
}
