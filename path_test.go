package pathlock_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestParsePathAcceptsCanonicalPaths(t *testing.T) {
	for _, tt := range []struct {
		in, out      string
		depth        int
		base, parent string
	}{
		{"", "/", 0, "", "/"},
		{"/", "/", 0, "", "/"},
		{"/dir1/dir2", "/dir1/dir2", 2, "dir2", "/dir1"},
		{"/50%/a_b/{x}", "/50%/a_b/{x}", 3, "{x}", "/50%/a_b"},
		{"/Übung/日本", "/Übung/日本", 2, "日本", "/Übung"},
		{"/...", "/...", 1, "...", "/"},
	} {
		t.Run(tt.in, func(t *testing.T) {
			p, err := pathlock.ParsePath(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.String(); got != tt.out {
				t.Errorf("String() = %q, want %q", got, tt.out)
			}
			if got := p.Depth(); got != tt.depth {
				t.Errorf("Depth() = %d, want %d", got, tt.depth)
			}
			if got := p.Base(); got != tt.base {
				t.Errorf("Base() = %q, want %q", got, tt.base)
			}
			if got := p.Parent().String(); got != tt.parent {
				t.Errorf("Parent() = %q, want %q", got, tt.parent)
			}
			if p.IsRoot() != (p == pathlock.Root()) {
				t.Errorf("IsRoot() = %v for %q", p.IsRoot(), p)
			}
		})
	}
}

func TestParsePathRefusesTheRestAndNamesThePart(t *testing.T) {
	deep := strings.Repeat("/a", pathlock.MaxDepth)
	for _, tt := range []struct{ what, in, says string }{
		{"no leading slash", "a/b", "slash"},
		{"trailing slash", "/a/", "empty name"},
		{"doubled slash", "/a//b", "empty name"},
		{"dot", "/a/./b", `"."`},
		{"dot dot", "/a/../b", `".."`},
		{"NUL", "/a\x00b", "control character at byte 1"},
		{"DEL", "/a\x7f", "control character"},
		{"invalid UTF-8", "/a/\xff", "UTF-8"},
		{"name too long", "/" + strings.Repeat("x", pathlock.MaxNameBytes+1), "2049 bytes"},
		{"too deep", deep + "/a", "257 names"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			_, err := pathlock.ParsePath(tt.in)
			if !errors.Is(err, pathlock.ErrInvalidPath) {
				t.Fatalf("error %v does not match ErrInvalidPath", err)
			}
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %q does not say %q", err, tt.says)
			}
			if len(err.Error()) > 300 {
				t.Errorf("the error message repeats %d bytes of hostile input", len(err.Error()))
			}
		})
	}
	if _, err := pathlock.ParsePath(deep); err != nil {
		t.Errorf("the deepest path allowed: %v", err)
	}
	if _, err := pathlock.ParsePath("/" + strings.Repeat("x", pathlock.MaxNameBytes)); err != nil {
		t.Errorf("the longest name allowed: %v", err)
	}
}

func TestContainsGoesByNamesNotByPrefix(t *testing.T) {
	for _, tt := range []struct {
		p, q string
		want bool
	}{
		{"/", "/", true}, {"/", "/a/b", true}, {"/a", "/a", true}, {"/a", "/a/b", true},
		{"/a", "/ab", false}, {"/a", "/a-b", false}, {"/a/b", "/a", false}, {"/a", "/", false}, {"/a", "/A", false},
	} {
		if got := pathlock.MustParsePath(tt.p).Contains(pathlock.MustParsePath(tt.q)); got != tt.want {
			t.Errorf("%s contains %s: %v, want %v", tt.p, tt.q, got, tt.want)
		}
	}
}

// somePath draws paths of few different names, so that relatives are frequent.
func somePath(t *rapid.T, label string) pathlock.Path {
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "a-b", "a b", "!", "é"}), 0, 4).Draw(t, label)
	p := pathlock.Root()
	for _, name := range names {
		var err error
		if p, err = p.Child(name); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// Compare must equal the comparison of the lists of names, which is written here in another way.
func TestCompareOrdersNameByName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := somePath(t, "p"), somePath(t, "q")
		want := slices.Compare(slices.Collect(p.Names()), slices.Collect(q.Names()))
		if got := p.Compare(q); got != want {
			t.Fatalf("%s to %s: %d, want %d", p, q, got, want)
		}
	})
}

func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{"", "/", "/a/b", "a", "//", "/\xff", "/a/..", "/{}/%2F"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := pathlock.ParsePath(s)
		if err != nil {
			if !errors.Is(err, pathlock.ErrInvalidPath) {
				t.Fatalf("error %v does not match ErrInvalidPath", err)
			}
			return
		}
		if s != "" && p.String() != s {
			t.Fatalf("%q was accepted and became %q", s, p)
		}
		again := pathlock.Root()
		for name := range p.Names() {
			if again, err = again.Child(name); err != nil {
				t.Fatalf("Child refuses %q of the accepted %q: %v", name, s, err)
			}
		}
		if again != p {
			t.Fatalf("%q put together again is %q", s, again)
		}
	})
}

func ExamplePath() {
	p, err := pathlock.ParsePath("/dir1/dir2")
	if err != nil {
		fmt.Println(err)
		return
	}
	q, _ := p.Child("dir3")
	fmt.Println(q, q.Depth(), q.Base(), q.Parent())
	fmt.Println(p.Contains(q), q.Contains(p))
	_, err = pathlock.ParsePath("/dir1//dir2")
	fmt.Println(err)
	// Output:
	// /dir1/dir2/dir3 3 dir3 /dir1/dir2
	// true false
	// pathlock: invalid path: "/dir1//dir2": empty name
}

// A path column holds "" for the root, where the path is "/".
func ExamplePath_Column() {
	login := pathlock.MustParsePath("/api/login")
	for above := range login.Ancestors() {
		fmt.Printf("%s %q\n", above, above.Column())
	}
	fmt.Printf("%s %q\n", login, login.Column())
	// Output:
	// / ""
	// /api "/api"
	// /api/login "/api/login"
}

// Every node comes before its subtree, and the subtree is one run.
func ExamplePath_Compare() {
	paths := []pathlock.Path{
		pathlock.MustParsePath("/a-b"), pathlock.MustParsePath("/a/b"), pathlock.Root(), pathlock.MustParsePath("/a"),
	}
	slices.SortFunc(paths, pathlock.Path.Compare)
	fmt.Println(paths)
	for name := range paths[2].Names() {
		fmt.Println(name)
	}
	// Output:
	// [/ /a /a/b /a-b]
	// a
	// b
}

func TestFoldMakesEqualNamesMeet(t *testing.T) {
	for _, tt := range []struct{ what, a, b string }{
		{"case", "Login Tests", "LOGIN tests"},
		{"trailing spaces", "a", "a  "},
		{"composition", "caf\u00e9", "cafe\u0301"},
		{"sharp s", "straße", "STRASSE"},
		{"final sigma", "ὈΔΥΣΣΕΎΣ", "ὀδυσσεύς"},
		{"Kelvin sign", "\u212a", "k"},
		{"Cherokee", "\u13a0", "\uab70"},
		{"nothing but spaces", " ", "   "},
	} {
		if a, b := pathlock.Fold(tt.a), pathlock.Fold(tt.b); a != b {
			t.Errorf("%s: %q folds to %q, but %q to %q", tt.what, tt.a, a, tt.b, b)
		}
	}
}

// A locker folds a whole path as it folds each of its names.
func TestPathsFoldNameByName(t *testing.T) {
	for _, tt := range []struct {
		held, asked string
		free        bool
	}{
		{"X /a /b", "X /a/b", false},
		{"X /a/b ", "X /a/b", false},
		{"X /A/b", "X /a/B", false},
		{"X /stra\u00dfe/x", "X /STRASSE/X", false},
		{"X / a/b", "X /a/b", true},
		{"X /a b/c", "X /ab/c", true},
		{"X /[/x", "X /{/x", true},
	} {
		l, _ := newLocker()
		lock := acquire(t.Context(), t, l, tt.held)
		free(t, l, tt.asked, tt.free)
		release(t, lock)
	}
}

func TestFoldIsIdempotentAndKeepsNamesNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[^/\p{Cc}]{1,12}`).Draw(t, "name")
		folded := pathlock.Fold(name)
		if again := pathlock.Fold(folded); again != folded {
			t.Fatalf("%q folds to %q, and that to %q", name, folded, again)
		}
		if _, err := pathlock.Root().Child(name); err != nil {
			return
		}
		if _, err := pathlock.Root().Child(folded); err != nil {
			t.Fatalf("the name %q folds to %q, which is none: %v", name, folded, err)
		}
	})
}

// Names that a database may hold equal meet in one lock.
func ExampleFold() {
	fmt.Println(pathlock.Fold("Straße ") == pathlock.Fold("STRASSE"))
	fmt.Println(pathlock.FoldNothing("Straße ") == pathlock.FoldNothing("STRASSE"))
	// Output:
	// true
	// false
}

// A database that tells all names apart needs no folding.
func ExampleWithFold() {
	login := pathlock.MustParsePath("/API/Login")
	store := memstore.New()
	for _, locker := range []*pathlock.Locker{
		pathlock.New(store),
		pathlock.New(store, pathlock.WithFold(pathlock.FoldNothing)),
	} {
		folded, err := locker.Folded(login)
		fmt.Println(folded, err)
	}
	// Output:
	// /api/login <nil>
	// /API/Login <nil>
}

// The tables of Gray et al. 1976, typed in from the paper: rows and columns in the order IS IX S
// SIX X.
var (
	publishedCompatibility = [5]string{
		"yyyy-", // IS
		"yy---", // IX
		"y-y--", // S
		"y----", // SIX
		"-----", // X
	}
	publishedSupremum = [5][5]string{
		{"IS", "IX", "S", "SIX", "X"},
		{"IX", "IX", "SIX", "SIX", "X"},
		{"S", "SIX", "S", "SIX", "X"},
		{"SIX", "SIX", "SIX", "SIX", "X"},
		{"X", "X", "X", "X", "X"},
	}
)

func TestCompatibilityAndSupremumAreThePublishedOnes(t *testing.T) {
	for i, a := range pathlock.Modes() {
		for j, b := range pathlock.Modes() {
			if got, want := pathlock.Compatible(a, b), publishedCompatibility[i][j] == 'y'; got != want {
				t.Errorf("%s beside %s: %v, want %v", a, b, got, want)
			}
			if got, want := pathlock.Supremum(a, b).String(), publishedSupremum[i][j]; got != want {
				t.Errorf("supremum of %s and %s: %s, want %s", a, b, got, want)
			}
		}
	}
}

// A mode covers another exactly if whoever could not run beside the other could not run beside it
// either: that is what "at least as strong" means.
func TestCoversFollowsFromCompatibility(t *testing.T) {
	for _, a := range pathlock.Modes() {
		for _, b := range pathlock.Modes() {
			excludesAll := true
			for _, c := range pathlock.Modes() {
				if pathlock.Compatible(a, c) && !pathlock.Compatible(b, c) {
					excludesAll = false
				}
			}
			if got := a.Covers(b); got != excludesAll {
				t.Errorf("%s covers %s: %v, want %v", a, b, got, excludesAll)
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
		if err := back.UnmarshalText(text); err != nil || back != m {
			t.Errorf("%s became %s: %v", m, back, err)
		}
		if !m.IsValid() {
			t.Errorf("%s is not valid", m)
		}
	}
	for _, bad := range []string{"", "x", "none", "XS", "IXX"} {
		if err := new(pathlock.Mode).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is a mode", bad)
		}
	}
	if pathlock.Mode(0).IsValid() || pathlock.Mode(6).IsValid() {
		t.Error("0 or 6 is a valid mode")
	}
	if got := pathlock.Mode(9).String(); got != "Mode(9)" {
		t.Errorf("an unknown mode prints as %q", got)
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

func TestNormalize(t *testing.T) {
	for _, tt := range []struct{ what, claims, want string }{
		{"SIX needs IX above", "SIX /a", "IX /, SIX /a"},
		{"a rename", "X /a/b, X /a/c", "IX /, IX /a, X /a/b, X /a/c"},
		{"a copy", "S /a/b, X /d/b", "IX /, IS /a, S /a/b, IX /d, X /d/b"},
		{"node and own subtree", "X /a, X /a/b", "IX /, X /a, X /a/b"},
		{"read above a write", "S /a, X /a/b/c", "IX /, SIX /a, IX /a/b, X /a/b/c"},
		{"the same node twice", "S /a, IX /a", "IX /, SIX /a"},
		{"order is by name, not by string", "X /a-b, X /a/b", "IX /, IX /a, X /a/b, X /a-b"},
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
