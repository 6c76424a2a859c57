package redisstore

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
)

func TestGateKey(t *testing.T) {
	for _, tt := range []struct{ namespace, id, want string }{
		{"testplan", "plan-001", "pathlock:{testplan/plan-001}:gate"},
		{"a", "b/c", "pathlock:{a/b%2Fc}:gate"},
		{"计划", "100%", "pathlock:{%E8%AE%A1%E5%88%92/100%25}:gate"},
	} {
		tree, err := pathlock.NewTree(tt.namespace, tt.id)
		if err != nil {
			t.Fatal(err)
		}
		if got := GateKey(tree); got != tt.want {
			t.Errorf("GateKey(%q, %q) = %q, want %q", tt.namespace, tt.id, got, tt.want)
		}
	}
}

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

// TestNothingLeft: after the last release of a tree the fence is left, for a time, and loses no
// digit meanwhile.
func TestNothingLeft(t *testing.T) {
	const last = 8_999_999_999_999_999 // beyond any clock, and not a round number
	store, tree := newStore(t), newTree(t)
	fence := store.keys.of(tree)[3]
	if err := store.client.Set(t.Context(), fence, last, long).Err(); err != nil {
		t.Fatal(err)
	}
	req := ask(tree, x("/a/b/c"))
	grant := take(t, store, req)
	w := queue(t, store, ask(tree, x("/a/b/c")))
	release(t, store, req)
	if next := w.granted(); grant.Fence != last+1 || next.Fence != last+2 {
		t.Errorf("fences %d and %d, want %d and the next", grant.Fence, next.Fence, last+1)
	}
	release(t, store, w.req)
	requireFree(t, store, tree)
	if ttl, err := store.client.PTTL(t.Context(), fence).Result(); err != nil || ttl <= long {
		t.Errorf("the fence lives for %v, error %v; want a week", ttl, err)
	}
}
