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
		{"a", "{b}", "pathlock:{a/%7Bb%7D}:gate"},
		{"a}{", "b", "pathlock:{a%7D%7B/b}:gate"},
		{"a/b", "c", "pathlock:{a%2Fb/c}:gate"},
		{"a", "b/c", "pathlock:{a/b%2Fc}:gate"},
		{"a:b", "*?[", "pathlock:{a%3Ab/%2A%3F%5B}:gate"},
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

// TestNothingLeft: after the last release of a tree the fence is left, for a time.
func TestNothingLeft(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	req := ask(tree, x("/a/b/c"))
	take(t, store, req)
	w := queue(t, store, ask(tree, x("/a/b/c")))
	release(t, store, req)
	w.granted()
	release(t, store, w.req)
	fence := store.keys.of(tree)[3]
	if got := keysOf(t, store, tree); len(got) != 1 || got[0] != fence {
		t.Errorf("left: %v, want %q alone", got, fence)
	}
	if ttl, err := store.client.PTTL(t.Context(), fence).Result(); err != nil || ttl <= 0 {
		t.Errorf("the fence lives for %v, error %v; want a time to live", ttl, err)
	}
}

// TestCrashLeavesNothing: when everybody in a tree has crashed, the keys go with the last lease.
func TestCrashLeavesNothing(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	for _, p := range []string{"/a", "/b"} {
		req := ask(tree, x(p))
		req.Lease = short
		take(t, store, req)
	}
	pass(t, store, short)
	if got := keysOf(t, store, tree); len(got) != 1 {
		t.Errorf("left: %v, want the fence alone", got)
	}
}
