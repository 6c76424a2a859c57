package treetable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// Column returns what the column of a row with a path holds.
func (f Form) Column(path string) string { return f.Print(f.Holds(path)) }

// First returns what the column of a new row with a path holds: nothing where the path still
// [LacksID].
func (f Form) First(path string) string {
	if LacksID(path) && !f.OfParent {
		return ""
	}
	return f.Column(path)
}

// LacksID reports whether a path of ids still lacks the row's own: "/17/".
func LacksID(path string) bool { return strings.HasSuffix(path, "/") }

// Holds returns the path that the column of a row with a path holds: its own, or its parent's.
func (f Form) Holds(path string) string {
	if f.OfParent {
		return path[:max(strings.LastIndexByte(path, '/'), 0)]
	}
	return path
}

// Own returns the path of a row whose column holds a text, and whose last name is given; "" for the
// root row.
func (f Form) Own(stored, name string) string {
	path := f.Read(stored)
	if !f.OfParent || path == "" && name == "" {
		return path
	}
	return path + "/" + name
}

// Print spells a path.
func (f Form) Print(path string) string {
	if f.isDefault() {
		return path
	}
	if path == "" {
		return f.root()
	}
	if path[0] != '/' {
		return strings.TrimPrefix(path, f.damage())
	}
	return f.Lead + strings.ReplaceAll(path[1:], "/", f.Separator) + f.Trail
}

// Read returns the path that a text spells. Any other text becomes a value that
// [pathlock.ParsePath] rejects, that says what is wrong, and that Print turns back into the text.
func (f Form) Read(stored string) string {
	if f.isDefault() {
		return stored
	}
	if stored == f.root() {
		return ""
	}
	rest, leads := strings.CutPrefix(stored, f.Lead)
	rest, trails := strings.CutSuffix(rest, f.Trail)
	if !leads || !trails || rest == "" || f.Separator != "/" && strings.Contains(rest, "/") {
		return f.damage() + stored
	}
	return "/" + strings.ReplaceAll(rest, f.Separator, "/")
}

// ReadNames reads a path as people write it: names with the separator between them, and at either
// end or not, without what the form has before the first name.
func (f Form) ReadNames(text string) string {
	names := strings.TrimSuffix(strings.TrimPrefix(text, f.Separator), f.Separator)
	if names == "" {
		return f.Read(text)
	}
	return f.Read(f.Lead + names + f.Trail)
}

// Refuse returns an error about the path that [Form.Read] has made of a text in another form, and
// nil about any other path.
func (f Form) Refuse(path string) error {
	if f.isDefault() || !strings.HasPrefix(path, f.damage()) {
		return nil
	}
	return fmt.Errorf("%w: %q is not in the form %s", pathlock.ErrInvalidPath, shown.Cut(path[len(f.damage()):]), f)
}

// isDefault reports whether paths are stored as they are. The zero Form stores them so, too.
func (f Form) isDefault() bool { return f == DefaultForm || f == Form{} }

// root is the spelling of the path without names.
func (f Form) root() string {
	if f.Trail != "" {
		return f.Lead
	}
	return strings.TrimSuffix(f.Lead, f.Separator)
}

// damage is the beginning of the paths of texts that are not in the form.
func (f Form) damage() string { return "not in the form " + f.String() + ": " }

// Check refuses a name, or a key, that this form would read as two names.
func (f Form) Check(name string) error {
	if !f.isDefault() && strings.Contains(name, f.Separator) {
		return fmt.Errorf("%w: %q contains %q, which separates names in the form %s", pathlock.ErrInvalidPath, name, f.Separator, f)
	}
	return nil
}

// Below returns the range in which the paths below one are stored: their common beginning, and the
// first text after them, "" if there is none.
func (f Form) Below(path string) (prefix, end string) {
	prefix = f.Print(path)
	if f.Trail == "" && (path != "" || f.Lead != "") {
		prefix += f.Separator
	}
	if prefix == "" {
		return "", ""
	}
	return prefix, prefix[:len(prefix)-1] + string(f.Separator[0]+1)
}

// Separators returns how many more separators a row's column holds than the row's path has names,
// if the column holds any name.
func (f Form) Separators() int {
	more := strings.Count(f.Lead+f.Trail, f.Separator) - 1
	if f.OfParent {
		more--
	}
	return more
}

// Form is how a column spells a path.
type Form struct {
	// Lead stands before the first name, Separator between two, and Trail behind the last.
	Lead, Separator, Trail string
	// OfParent is set if a row's column holds the path of its parent, without the row's own name.
	OfParent bool
}

// DefaultForm is the form of [pathlock.Path.Column]: "/a/b".
var DefaultForm = Form{Lead: "/", Separator: "/"}

// parent is the beginning of the patterns of forms that are of the parent.
const parent = "parent:"

// NameSeparators are the possible separators of names, the most usual first. All of them are
// printable, and need no escape in SQL. Only the hyphen occurs in numbers and UUIDs.
const NameSeparators = "/.,:;|>~-"

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
	case len(f.Separator) != 1 || !strings.Contains(NameSeparators, f.Separator):
		return invalid("one of %s must separate names, so that the paths below a path are a range of its index", strings.Join(strings.Split(NameSeparators, ""), " "))
	case f.Trail != "" && f.Trail != f.Separator:
		return invalid("only %q can follow the last name: the paths below must begin with the stored path of a row, to be a range of the index", f.Separator)
	case f.Lead != "" && !strings.HasSuffix(f.Lead, f.Separator):
		return invalid("the text before the first name must end in %q", f.Separator)
	case !utf8.ValidString(f.Lead) || strings.ContainsFunc(f.Lead, unicode.IsControl):
		return invalid("the text before the first name must be printable")
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
