package pathlock_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
)

// claims reads "X /a/b, S /c".
func claims(t testing.TB, s string) []pathlock.Claim {
	t.Helper()
	var out []pathlock.Claim
	for part := range strings.SplitSeq(s, ", ") {
		mode, path, _ := strings.Cut(part, " ")
		m, err := pathlock.ParseMode(mode)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, pathlock.Claim{Path: pathlock.MustParsePath(path), Mode: m})
	}
	return out
}

func written(set []pathlock.Claim) string {
	parts := make([]string, len(set))
	for i, c := range set {
		parts[i] = c.String()
	}
	return strings.Join(parts, ", ")
}

func TestNormalize(t *testing.T) {
	for _, tt := range []struct{ what, claims, want string }{
		{"the root alone", "X /", "X /"},
		{"an insert", "X /a/new", "IX /, IX /a, X /a/new"},
		{"a read", "S /a/b", "IS /, IS /a, S /a/b"},
		{"SIX needs IX above", "SIX /a", "IX /, SIX /a"},
		{"a rename", "X /a/b, X /a/c", "IX /, IX /a, X /a/b, X /a/c"},
		{"a copy", "S /a/b, X /d/b", "IX /, IS /a, S /a/b, IX /d, X /d/b"},
		{"node and own subtree", "X /a, X /a/b", "IX /, X /a, X /a/b"},
		{"read above a write", "S /a, X /a/b/c", "IX /, SIX /a, IX /a/b, X /a/b/c"},
		{"the same node twice", "S /a, IX /a", "IX /, SIX /a"},
		{"order is by name, not by string", "X /a-b, X /a/b", "IX /, IX /a, X /a/b, X /a-b"},
		{"order does not depend on the order given", "X /b, X /a", "IX /, X /a, X /b"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			given := claims(t, tt.claims)
			before := slices.Clone(given)
			if got := written(pathlock.Normalize(given...)); got != tt.want {
				t.Errorf("%s\n got %s\nwant %s", tt.claims, got, tt.want)
			}
			if !slices.Equal(given, before) {
				t.Errorf("the argument was changed to %s", written(given))
			}
		})
	}
	if got := pathlock.Normalize(); len(got) != 0 {
		t.Errorf("no claims became %s", written(got))
	}
}

func TestNormalizeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pathlock.Claim {
			return pathlock.Claim{Path: somePath(t, "path"), Mode: rapid.SampledFrom(pathlock.Modes()).Draw(t, "mode")}
		}), 1, 5).Draw(t, "claims")
		set := pathlock.Normalize(given...)
		modes := map[pathlock.Path]pathlock.Mode{}
		for i, c := range set {
			if i > 0 && set[i-1].Path.Compare(c.Path) >= 0 {
				t.Fatalf("%s is out of order", written(set))
			}
			modes[c.Path] = c.Mode
		}
		for _, c := range given {
			if !modes[c.Path].Covers(c.Mode) {
				t.Fatalf("%s is not in %s", c, written(set))
			}
			for a := range c.Path.Ancestors() {
				if !modes[a].Covers(c.Mode.Intention()) {
					t.Fatalf("%s lacks the intention of %s on %s", written(set), c, a)
				}
			}
		}
		if again := pathlock.Normalize(set...); !slices.Equal(again, set) {
			t.Fatalf("normalised twice, %s became %s", written(set), written(again))
		}
	})
}

func ExampleNormalize() {
	rename := pathlock.Normalize(
		pathlock.X(pathlock.MustParsePath("/dir1/dir2")),
		pathlock.X(pathlock.MustParsePath("/dir1/new")),
	)
	for _, c := range rename {
		fmt.Println(c)
	}
	// Output:
	// IX /
	// IX /dir1
	// X /dir1/dir2
	// X /dir1/new
}

// A claim is a path with a mode. A request states what it needs, and the intentions above follow
// from that.
func ExampleClaim() {
	plan, suite := pathlock.Root(), pathlock.MustParsePath("/api/login")
	for _, claim := range []pathlock.Claim{
		pathlock.S(suite),  // read the subtree
		pathlock.X(suite),  // change the subtree
		pathlock.SIX(plan), // read all, and change something below
		pathlock.IS(plan),  // read something below
		pathlock.IX(plan),  // change something below
	} {
		fmt.Println(claim, "is", pathlock.Normalize(claim))
	}
	// Output:
	// S /api/login is [IS / IS /api S /api/login]
	// X /api/login is [IX / IX /api X /api/login]
	// SIX / is [SIX /]
	// IS / is [IS /]
	// IX / is [IX /]
}
