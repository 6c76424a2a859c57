package redisstore

import (
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
)

// TestKeys_nothingLeft: after the last release of a tree the fence is left, for a time, and loses
// no digit meanwhile.
func TestKeys_nothingLeft(t *testing.T) {
	const last = 8_999_999_999_999_999 // beyond any clock, and not a round number
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
