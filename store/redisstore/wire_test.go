package redisstore

import (
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
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
