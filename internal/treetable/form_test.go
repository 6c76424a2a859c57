package treetable

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// forms are those that people have.
var forms = []string{"/*/*", "/0/*/*/", "/0/*/*", "*,*,", "*.*", "*/*/", "/*/*/", ">*>*", "root:*:*:", "parent:/*/*", "parent:/*/*/", "parent:*.*"}

// names are those of paths: with what separates them in some form, and what sorts right before and
// behind that.
var names = []string{"a", "0", "1", "17", "a b", " ", "-", "+", ".", "/", "0a", "é", "😀", "\U0010ffff", "parent:", "not in the form *.*: ", "..a", ",,", "a/b", "a,b", "a.b", "a:b"}

func drawForm(t *rapid.T) Form {
	f, err := ParseForm(rapid.SampledFrom(forms).Draw(t, "form"))
	testerr.Must(t, err)
	return f
}

// drawPath draws a path of names that the form can spell.
func drawPath(t *rapid.T, f Form) string {
	path := pathlock.Root()
	for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 4).Draw(t, "path") {
		if child, err := path.Child(name); err == nil && f.Check(name) == nil {
			path = child
		}
	}
	return path.Column()
}

// Every path is read as it was printed, and every text is printed as it was read.
func TestForm_isReadAsItIsPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawForm(t)
		path := drawPath(t, f)
		if again := f.Read(f.Print(path)); again != path {
			t.Fatalf("%s: %q is printed as %q, and read as %q", f, path, f.Print(path), again)
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if own := f.Own(f.Column(path), name); own != path {
			t.Fatalf("%s: the column of %q has %q, which is read as %q", f, path, f.Column(path), own)
		}
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`(not in the form \*\.\*: )?[/.,:>0a*]{0,6}`)).Draw(t, "text")
		if again := f.Print(f.Read(text)); again != text {
			t.Fatalf("%s: %q is read as %q, and printed as %q", f, text, f.Read(text), again)
		}
		if again, err := ParseForm(f.String()); err != nil || again != f {
			t.Fatalf("%s is parsed as %v, %v", f, again, err)
		}
	})
}

// A text that is not a path of the form is not read as one.
func TestForm_readsNothingElse(t *testing.T) {
	for pattern, texts := range map[string][]string{
		"/0/*/*/": {"", "/", "/0", "/0/1", "/1/7/", "/0//", "/0/1//7/", "0/1/"},
		"/0/*/*":  {"", "/", "/0/", "/0/1/", "/00", "/00/1"},
		"*,*,":    {"1", ",", "1,7", "1,,7,", ",1,", "a/b,"},
		"*.*":     {".", "a.", ".a", "a..b", "a/b"},
		"*/*/":    {"a", "/", "/a/", "a//"},
	} {
		f, err := ParseForm(pattern)
		testerr.Must(t, err)
		for _, text := range texts {
			if path, err := pathlock.ParsePath(f.Read(text)); err == nil {
				t.Errorf("%s: %q is read as %s", pattern, text, path)
			}
		}
	}
}

// In the order of bytes, what lies below a path is the range that Below returns, and nothing else
// begins with its prefix. A move replaces the beginning of what is stored.
func TestForm_subtreesAreRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawForm(t)
		top, other, to := drawPath(t, f), drawPath(t, f), drawPath(t, f)
		if rapid.Bool().Draw(t, "below") {
			other = top + other
		}
		prefix, end := f.Below(top)
		stored := f.Print(other)
		within := stored >= prefix && (end == "" || stored < end) && strings.HasPrefix(stored, prefix) && stored != f.Print(top)
		if below := strings.HasPrefix(other, top+"/"); within != below {
			t.Fatalf("%s: %q below %q: %v; %q is in the range of %q to %q: %v", f, other, top, below, stored, prefix, end, within)
		}
		if rest, below := strings.CutPrefix(other, top+"/"); below && top != "" && to != "" {
			if got := f.Print(to) + stored[len(f.Print(top)):]; got != f.Print(to+"/"+rest) {
				t.Fatalf("%s: %q from %q to %q is %q", f, stored, top, to, got)
			}
		}
		if column := f.Column(other); f.Holds(other) != "" && strings.Count(column, f.Separator) != strings.Count(other, "/")+f.Separators() {
			t.Fatalf("%s: %q has %d separators more than %q has names", f, column, f.Separators(), other)
		}
	})
}

// An invalid form is refused with the reason.
func TestParseForm_refuses(t *testing.T) {
	for pattern, reason := range map[string]string{
		"/*": "two stars", "/*/*/*": "two stars", "**": "separate names", "*ab*": "separate names", "*_*": "separate names", "*→*": "separate names",
		"/*/*|": "last name", "a*/*": "end in", "/0*/*": "end in", "\x01/*/*": "printable",
	} {
		if _, err := ParseForm(pattern); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: got the error %v, want one about %q", pattern, err, reason)
		}
	}
	if f, err := ParseForm(""); f != DefaultForm || err != nil {
		t.Errorf("the empty pattern is %v, %v", f, err)
	}
	if err := (Form{Separator: ","}).Check("a,b"); !errors.Is(err, pathlock.ErrInvalidPath) {
		t.Errorf("got the error %v", err)
	}
	if !slices.Contains(forms, DefaultForm.String()) {
		t.Errorf("the default is %s", DefaultForm)
	}
}
