package redisstore

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
)

// TestKeysAreSafe: whatever the tree is called, its keys have one hash tag, which no other tree
// has, and lead back to it.
func TestKeysAreSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.OneOf(rapid.StringN(1, 20, 255), rapid.StringMatching(`[{}:/%a.*]{1,8}`))
		one, err := pathlock.NewTree(part.Draw(t, "namespace"), part.Draw(t, "id"))
		if err != nil {
			t.Skip(err)
		}
		other, err := pathlock.NewTree(part.Draw(t, "other namespace"), part.Draw(t, "other id"))
		if err != nil {
			t.Skip(err)
		}
		k := newKeys(part.Draw(t, "prefix"))
		all := k.of(one)
		for _, key := range all {
			if strings.Count(key, "{") != 1 || strings.Count(key, "}") != 1 || hashTag(key) != hashTag(all[0]) || hashTag(key) == "" {
				t.Fatalf("key %q: not one hash tag that all keys of the tree share", key)
			}
			if (hashTag(key) == hashTag(k.gate(other))) != (one == other) {
				t.Fatalf("the trees %v and %v have the tags %q and %q", one, other, hashTag(key), hashTag(k.gate(other)))
			}
		}
		if got, ok := k.treeInUse(k.locks(one)); !ok || got != one {
			t.Fatalf("%q leads back to %v, want %v", k.locks(one), got, one)
		}
	})
}

// hashTag returns the part of a key that Redis Cluster hashes.
func hashTag(key string) string {
	_, rest, _ := strings.Cut(key, "{")
	tag, _, _ := strings.Cut(rest, "}")
	return tag
}

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
