package pathlock_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
)

// compatible is the table of Gray et al. 1976, typed in from the paper: rows and columns in the
// order IS IX S SIX X.
var compatible = [5]string{
	"yyyy-", // IS
	"yy---", // IX
	"y-y--", // S
	"y----", // SIX
	"-----", // X
}

// atLeast reports whether whoever could not run beside b could not run beside a either: that is
// what "at least as strong" means.
func atLeast(a, b pathlock.Mode) bool {
	for i := range compatible {
		if compatible[a-1][i] == 'y' && compatible[b-1][i] != 'y' {
			return false
		}
	}
	return true
}

func TestAModeCoversWhatItIsAtLeastAsStrongAs(t *testing.T) {
	for _, a := range pathlock.Modes() {
		for _, b := range pathlock.Modes() {
			if got, want := a.Covers(b), atLeast(a, b); got != want {
				t.Errorf("%s covers %s: %v, want %v", a, b, got, want)
			}
		}
		if !a.Covers(0) || pathlock.Mode(0).Covers(a) {
			t.Errorf("%s against no mode", a)
		}
	}
}

func TestModeText(t *testing.T) {
	for _, m := range pathlock.Modes() {
		text, _ := m.MarshalText()
		var back pathlock.Mode
		if err := back.UnmarshalText(text); err != nil || back != m || !m.IsValid() {
			t.Errorf("%s became %s: %v", m, back, err)
		}
	}
	for _, bad := range []string{"", "x", "none", "XS"} {
		if err := new(pathlock.Mode).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is a mode", bad)
		}
	}
	if pathlock.Mode(0).IsValid() || pathlock.Mode(6).IsValid() {
		t.Error("0 or 6 is a valid mode")
	}
}

// claims reads "X /a/b, S /c".
func claims(t testing.TB, s string) []pathlock.Claim {
	t.Helper()
	var out []pathlock.Claim
	for part := range strings.SplitSeq(s, ", ") {
		mode, path, _ := strings.Cut(part, " ")
		var m pathlock.Mode
		if err := m.UnmarshalText([]byte(mode)); err != nil {
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

// Each node has the weakest mode that is at least as strong as all that is claimed there: the
// claims' own, and the intentions of those below.
func TestNormalizeHasTheSupremumOfClaimsAndIntentions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pathlock.Claim {
			return pathlock.Claim{Path: somePath(t, "path"), Mode: rapid.SampledFrom(pathlock.Modes()).Draw(t, "mode")}
		}), 0, 5).Draw(t, "claims")
		before := slices.Clone(given)
		claimed := map[pathlock.Path][]pathlock.Mode{}
		for _, c := range given {
			claimed[c.Path] = append(claimed[c.Path], c.Mode)
			intention := pathlock.ModeIX
			if c.Mode == pathlock.ModeIS || c.Mode == pathlock.ModeS {
				intention = pathlock.ModeIS
			}
			for p := c.Path; !p.IsRoot(); {
				p = p.Parent()
				claimed[p] = append(claimed[p], intention)
			}
		}
		var want []pathlock.Claim
		for path, modes := range claimed {
			i := slices.IndexFunc(pathlock.Modes(), func(m pathlock.Mode) bool {
				return !slices.ContainsFunc(modes, func(other pathlock.Mode) bool { return !atLeast(m, other) })
			})
			want = append(want, pathlock.Claim{Path: path, Mode: pathlock.Modes()[i]})
		}
		slices.SortFunc(want, func(a, b pathlock.Claim) int { return a.Path.Compare(b.Path) })
		if got := pathlock.Normalize(given...); !slices.Equal(got, want) {
			t.Fatalf("%s\n got %s\nwant %s", written(given), written(got), written(want))
		}
		if !slices.Equal(given, before) {
			t.Fatalf("the argument was changed to %s", written(given))
		}
	})
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
