package redisstore

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
)

func TestPathsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-c计 {}%]{1,3}`)
		claims := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pathlock.Claim {
			p := pathlock.Root()
			for _, n := range rapid.SliceOfN(name, 0, 5).Draw(t, "names") {
				p, _ = p.Child(n)
			}
			return pathlock.Claim{Path: p, Mode: rapid.SampledFrom(pathlock.Modes()).Draw(t, "mode")}
		}), 1, 6).Draw(t, "claims")
		want := pathlock.Normalize(claims...)
		got, err := decodePaths(encodePaths(want))
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v came back as %v, error %v", want, got, err)
		}
	})
}

func TestClaimSet(t *testing.T) {
	name := func(column string) string { sum := sha256.Sum256([]byte(column)); return "n" + string(sum[:8]) }
	for _, tt := range []struct {
		name   string
		gate   bool
		claims []pathlock.Claim
		want   string
	}{
		{"who claims a node has IX on the gate", false, pathlock.Normalize(x("/a")), gateNode + "2" + name("") + "2" + name("/a") + "5"},
		{"the gate is X on the gate", true, nil, gateNode + "5"},
		{"gate and claims", true, []pathlock.Claim{ix("/")}, gateNode + "5" + name("") + "2"},
	} {
		if got := newClaimSet(tt.gate, tt.claims).claims; got != tt.want {
			t.Errorf("%s: claims are %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestManyClaims: the number of claims in a request is not bounded by what one call in Lua can
// take.
func TestManyClaims(t *testing.T) {
	store, tree := newStore(t, WithMaxClaims(10_000)), newTree(t)
	var claims []pathlock.Claim
	for i := range 9000 {
		claims = append(claims, x("/dir/"+strings.Repeat("i", 1+i/100)+string(rune('a'+i%100/10))+string(rune('a'+i%10))))
	}
	first, second := ask(tree, claims...), ask(tree, claims...)
	take(t, store, first)
	w := queue(t, store, second)
	requireConsistent(t, store, tree)
	snapshot, err := store.Snapshot(t.Context(), tree)
	if err != nil || len(snapshot.Waiters) != 1 || !slices.Equal(snapshot.Waiters[0].Claims, second.Claims) {
		t.Errorf("the snapshot does not show the waiter's %d claims; error %v", len(second.Claims), err)
	}
	release(t, store, first)
	w.granted()
	requireConsistent(t, store, tree)
	release(t, store, second)
	requireFree(t, store, tree)
}
