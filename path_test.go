package pathlock_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
)

func TestParsePathAcceptsCanonicalPaths(t *testing.T) {
	for _, tt := range []struct {
		in, out      string
		depth        int
		base, parent string
	}{
		{"", "/", 0, "", "/"},
		{"/", "/", 0, "", "/"},
		{"/a", "/a", 1, "a", "/"},
		{"/dir1/dir2", "/dir1/dir2", 2, "dir2", "/dir1"},
		{"/50%/a_b/{x}", "/50%/a_b/{x}", 3, "{x}", "/50%/a_b"},
		{"/Übung/日本", "/Übung/日本", 2, "日本", "/Übung"},
		{`/back\slash/ lead`, `/back\slash/ lead`, 2, " lead", `/back\slash`},
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
		{"only slashes", "//", "empty name"},
		{"dot", "/a/./b", `"."`},
		{"dot dot", "/a/../b", `".."`},
		{"NUL", "/a\x00b", "control character at byte 1"},
		{"newline", "/a/b\n", "control character at byte 1"},
		{"DEL", "/a\x7f", "control character"},
		{"C1 control", "/a\u0085", "control character"},
		{"invalid UTF-8", "/a/\xff", "UTF-8"},
		{"name too long", "/" + strings.Repeat("x", pathlock.MaxNameBytes+1), "2049 bytes"},
		{"too deep", deep + "/a", "257 names"},
		{"hopelessly deep", strings.Repeat("/a", 10_000), "10000 names"},
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

func TestChildHoldsToTheSameRules(t *testing.T) {
	for _, name := range []string{"", ".", "..", "a/b", "/", "a\tb", "\xc3"} {
		if _, err := pathlock.Root().Child(name); !errors.Is(err, pathlock.ErrInvalidPath) {
			t.Errorf("Child(%q): %v, want ErrInvalidPath", name, err)
		}
	}
	deepest := pathlock.MustParsePath(strings.Repeat("/a", pathlock.MaxDepth))
	if _, err := deepest.Child("b"); !errors.Is(err, pathlock.ErrInvalidPath) {
		t.Errorf("a child below the deepest path: %v, want ErrInvalidPath", err)
	}
	p, err := pathlock.MustParsePath("/a").Child("b c")
	if err != nil || p != pathlock.MustParsePath("/a/b c") {
		t.Errorf("Child = %v, %v", p, err)
	}
}

func TestAncestorsComeFromTheRootDown(t *testing.T) {
	for in, want := range map[string][]string{
		"/":      nil,
		"/a":     {"/"},
		"/a/b/c": {"/", "/a", "/a/b"},
	} {
		var got []string
		for a := range pathlock.MustParsePath(in).Ancestors() {
			got = append(got, a.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("Ancestors(%s) = %v, want %v", in, got, want)
		}
	}
	for a := range pathlock.MustParsePath("/a/b/c").Ancestors() {
		if a.Depth() > 1 {
			t.Errorf("the loop went on to %s after a break", a)
		}
		if a.Depth() == 1 {
			break
		}
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

func TestPathTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := somePath(t, "p")
		encoded, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var q pathlock.Path
		if err := json.Unmarshal(encoded, &q); err != nil || q != p {
			t.Fatalf("%s became %s: %v", p, q, err)
		}
	})
	var p pathlock.Path
	if err := json.Unmarshal([]byte(`"a//b"`), &p); !errors.Is(err, pathlock.ErrInvalidPath) {
		t.Errorf("unmarshalling nonsense: %v, want ErrInvalidPath", err)
	}
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
