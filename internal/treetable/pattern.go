package treetable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Form is how a column spells a path.
type Form struct {
	// Lead stands before the first name, Separator between two, and Trail behind the last.
	Lead, Separator, Trail string
	// OfParent is set where a row's column holds the path of its parent, without the row's own
	// name.
	OfParent bool
}

// DefaultForm is the form of [pathlock.Path.Column]: "/a/b".
var DefaultForm = Form{Lead: "/", Separator: "/"}

// parent is the beginning of the patterns of forms that are of the parent.
const parent = "parent:"

// separators are what can stand between names. All of them are legible, stand in SQL as they are,
// and are in no number and in no UUID but for the hyphen.
const separators = "/.,:;|>~-"

// ParseForm reads a pattern: a form with two names, each written as a star, such as "/0/*/*/".
// "parent:" before it makes it the path of the parent. The empty pattern is [DefaultForm]. The
// error says why a form cannot be.
func ParseForm(pattern string) (Form, error) {
	if pattern == "" {
		return DefaultForm, nil
	}
	invalid := func(format string, args ...any) (Form, error) {
		return Form{}, fmt.Errorf("the form %q of a path: %s", pattern, fmt.Sprintf(format, args...))
	}
	f := Form{}
	rest, ofParent := strings.CutPrefix(pattern, parent)
	parts := strings.Split(rest, "*")
	if len(parts) != 3 {
		return invalid(`write two stars for two names, as in "/*/*"`)
	}
	f.Lead, f.Separator, f.Trail, f.OfParent = parts[0], parts[1], parts[2], ofParent
	switch {
	case len(f.Separator) != 1 || !strings.Contains(separators, f.Separator):
		return invalid("one of %s has to stand between names, so that what lies below a path is a range of its index", strings.Join(strings.Split(separators, ""), " "))
	case f.Trail != "" && f.Trail != f.Separator:
		return invalid("only %q can follow the last name: the paths below have to begin with what is stored of a row, to be a range of the index", f.Separator)
	case f.Lead != "" && !strings.HasSuffix(f.Lead, f.Separator):
		return invalid("what comes before the first name has to end in %q", f.Separator)
	case !utf8.ValidString(f.Lead) || strings.ContainsFunc(f.Lead, unicode.IsControl):
		return invalid("what comes before the first name has to be legible")
	}
	return f, nil
}

// String returns the pattern.
func (f Form) String() string {
	pattern := f.Lead + "*" + f.Separator + "*" + f.Trail
	if f.OfParent {
		return parent + pattern
	}
	return pattern
}
