package pathlock_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// someNames draws few different names, so that relatives are frequent.
func someNames(t *rapid.T, label string) []string {
	names := []string{"a", "b", "a-b", "ab", "A", "!", "é", "50%", "{x}", "..."}
	return rapid.SliceOfN(rapid.SampledFrom(names), 0, 4).Draw(t, label)
}

func somePath(t *rapid.T, label string) pathlock.Path {
	p, err := pathlock.ParsePath("/" + strings.Join(someNames(t, label), "/"))
	testerr.Must(t, err)
	return p
}

// An accepted path stays as it is written, and its names are those that Child accepts.
func TestParsePath_keepsWhatItAccepts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`(/[a./{%\xff]{0,3}){0,3}`)).Draw(t, "text")
		p, err := pathlock.ParsePath(text)
		again := pathlock.Root()
		for name := range p.Names() {
			again, _ = again.Child(name)
		}
		if err == nil && (text != "" && p.String() != text || again != p) || err != nil && !errors.Is(err, pathlock.ErrInvalidPath) {
			t.Fatalf("%q becomes %q, %v; put together again, it is %q", text, p, err, again)
		}
	})
}

// A path is a list of names, and its relations are those of the lists.
func TestPath_isAListOfNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := somePath(t, "p"), somePath(t, "q")
		above, below := slices.Collect(p.Names()), slices.Collect(q.Names())
		n := len(above)
		if written := "/" + strings.Join(above, "/"); p.String() != written || p.Depth() != n || p.IsRoot() != (n == 0) {
			t.Fatalf("%s has the names %q, and the depth %d", p, above, p.Depth())
		}
		if got, want := p.Compare(q), slices.Compare(above, below); got != want {
			t.Fatalf("%s to %s: %d, want %d", p, q, got, want)
		}
		contains := len(below) >= n && slices.Equal(above, below[:n])
		if got := p.Contains(q); got != contains {
			t.Fatalf("%s contains %s: %v", p, q, got)
		}
		if again, err := p.Parent().Child(p.Base()); n > 0 && (err != nil || again != p) {
			t.Fatalf("%s has the parent %s and the base %s", p, p.Parent(), p.Base())
		}
		if above := slices.Collect(p.Ancestors()); len(above) != n || n > 0 && above[n-1] != p.Parent() {
			t.Fatalf("%s has the ancestors %s", p, above)
		}
	})
	if p, err := pathlock.ParsePath(""); err != nil || p != pathlock.Root() || p.Parent() != p || p.Base() != "" {
		t.Errorf("the root is %q, below %q, %v", p, p.Parent(), err)
	}
}

func TestParsePathRefusesTheRestAndNamesThePart(t *testing.T) {
	deep, long := strings.Repeat("/a", pathlock.MaxDepth), "/"+strings.Repeat("x", pathlock.MaxNameBytes)
	for in, says := range map[string]string{
		"a/b": "slash", "/a/": "empty name", "/a//b": "empty name", "/a/./b": `"."`, "/a/../b": `".."`,
		"/a\x00b": "control character at byte 1", "/a\x7f": "control character", "/a/\xff": "UTF-8",
		long + "x": "2049 bytes", deep + "/a": "257 names",
	} {
		_, err := pathlock.ParsePath(in)
		if !errors.Is(err, pathlock.ErrInvalidPath) || !strings.Contains(err.Error(), says) {
			t.Errorf("%.20q: error %v, want ErrInvalidPath that says %q", in, err, says)
		} else if len(err.Error()) > 300 {
			t.Errorf("the error message repeats %d bytes of hostile input", len(err.Error()))
		}
	}
	for _, in := range []string{deep, long} {
		testerr.Is(t, "the longest that is allowed", testerr.Of(pathlock.ParsePath(in)), nil)
	}
	for _, name := range []string{"", "..", "a/b", "\x00", "\xff", long[1:] + "x"} {
		testerr.Is(t, "a child", testerr.Of(pathlock.Root().Child(name)), pathlock.ErrInvalidPath)
	}
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

// Names that a database may take for one are one node, and a locker folds a whole path as it folds
// each of its names.
func TestFold_makesEqualNamesMeet(t *testing.T) {
	for _, tt := range []struct {
		held, asked string
		free        bool
	}{
		{"X /Login Tests", "X /LOGIN tests", false},
		{"X /a", "X /a  ", false},
		{"X /caf\u00e9", "X /cafe\u0301", false}, // composition
		{"X /ὈΔΥΣΣΕΎΣ", "X /ὀδυσσεύς", false},    // final sigma
		{"X /\u212a", "X /k", false},             // the Kelvin sign
		{"X /\u13a0", "X /\uab70", false},        // Cherokee
		{"X / ", "X /   ", false},
		{"X /a /b", "X /a/b", false},
		{"X /a/b ", "X /a/b", false},
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
	exact, _ := newLocker(pathlock.WithFold(pathlock.FoldNothing))
	lock := acquire(t.Context(), t, exact, "X /a")
	free(t, exact, "X /A", true)
	release(t, lock)
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

func TestMode_coversAndIsCompatible(t *testing.T) {
	for _, a := range pathlock.Modes() {
		for _, b := range pathlock.Modes() {
			if got, want := a.Covers(b), atLeast(a, b); got != want {
				t.Errorf("%s covers %s: %v, want %v", a, b, got, want)
			}
			if got, want := pathlock.Compatible(a, b), compatible[a-1][b-1] == 'y'; got != want {
				t.Errorf("%s is compatible with %s: %v, want %v", a, b, got, want)
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
		testerr.Must(t, m.UnmarshalText([]byte(mode)))
		out = append(out, pathlock.Claim{Path: pathlock.MustParsePath(path), Mode: m})
	}
	return out
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
			t.Fatalf("%s\n got %s\nwant %s", testlock.Text(given), testlock.Text(got), testlock.Text(want))
		}
		if !slices.Equal(given, before) {
			t.Fatalf("the argument was changed to %s", testlock.Text(given))
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
