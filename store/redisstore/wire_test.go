package redisstore

import (
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

func TestDamagedRecords(t *testing.T) {
	good := encodePaths(pathlock.Normalize(pathlock.X(pathlock.MustParsePath("/a/b"))))
	for i := range len(good) {
		if claims, err := decodePaths(good[:i]); err == nil && len(claims) >= 3 {
			t.Errorf("%d of %d bytes were read as %v", i, len(good), claims)
		}
	}
	for _, record := range []string{"\x00", "\x00\x00\x00\x05abcd", "\xff\xff\xff\xff"} {
		if fields, err := decodeRecord(record); err == nil {
			t.Errorf("%q was read as %q, want an error", record, fields)
		}
	}
}

func TestClaimSet(t *testing.T) {
	ids := nodeIDs([]pathlock.Claim{is("/"), x("/a")})
	root, a := string(ids[0][:]), string(ids[1][:])
	for _, tt := range []struct {
		name   string
		gate   bool
		claims []pathlock.Claim
		want   string
	}{
		{"who claims a node has IX on the gate", false, pathlock.Normalize(x("/a")), gateNode + "2" + root + "2" + a + "5"},
		{"reads too", false, []pathlock.Claim{is("/")}, gateNode + "2" + root + "1"},
		{"the gate is X on the gate", true, nil, gateNode + "5"},
		{"gate and claims", true, []pathlock.Claim{ix("/")}, gateNode + "5" + root + "2"},
		{"a node claimed twice has the supremum", false, []pathlock.Claim{ix("/"), pathlock.S(path("/"))}, gateNode + "2" + root + "4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := newClaimSet(tt.gate, tt.claims).claims; got != tt.want {
				t.Errorf("claims are %q, want %q", got, tt.want)
			}
		})
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
	if left := keysLeft(t, store, tree); len(left) != 1 {
		t.Errorf("left: %v, want the fence alone", left)
	}
}
