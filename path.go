package pathlock

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/pathlock-go/pathlock/internal/shown"
)

// Limits of a [Path]. They protect the lock stores from hostile input. A backend usually sets
// tighter limits.
const (
	// MaxNameBytes is the longest name of one node, in bytes. It has room for any 255 characters,
	// folded or not: some grow when they are folded.
	MaxNameBytes = 2048
	// MaxDepth is the largest number of names in a path.
	MaxDepth = 256
)

// Path names one node of a tree by the names on the way from the root to it. It is canonical: two
// equal paths are ==. The zero Path is the root.
//
// A path says nothing about whether the node exists: a claim on the path of a node that does not
// exist yet reserves the name.
type Path struct {
	// s is "" for the root and "/a/b" otherwise: the form in which a materialised path column holds
	// it.
	s string
}

// Root returns the path of a tree's root.
func Root() Path { return Path{} }

// ParsePath reads a path such as "/dir1/dir2". The root is "/", or "" as in a materialised path
// column.
//
// The error of anything else that is not canonical matches [ErrInvalidPath], and names the
// offending part:
//   - a path that does not begin with a slash, or has more than [MaxDepth] names
//   - an empty name, that is a doubled or a trailing slash
//   - the names "." and ".."
//   - control characters and invalid UTF-8
//   - a name longer than [MaxNameBytes]
func ParsePath(s string) (Path, error) {
	if s == "" || s == "/" {
		return Path{}, nil
	}
	if s[0] != '/' {
		return Path{}, fmt.Errorf("%w: %q does not begin with a slash", ErrInvalidPath, shown.Cut(s))
	}
	if n := strings.Count(s, "/"); n > MaxDepth {
		return Path{}, fmt.Errorf("%w: %q is %d names deep, at most %d are allowed", ErrInvalidPath, shown.Cut(s), n, MaxDepth)
	}
	for name := range strings.SplitSeq(s[1:], "/") {
		if err := checkName(name); err != nil {
			return Path{}, fmt.Errorf("%w: %q: %w", ErrInvalidPath, shown.Cut(s), err)
		}
	}
	return Path{s}, nil
}

// MustParsePath is [ParsePath] for literals. It panics where ParsePath returns an error.
func MustParsePath(s string) Path {
	p, err := ParsePath(s)
	if err != nil {
		panic(err)
	}
	return p
}

// checkName returns why a string cannot be the name of a node, nil if it can.
func checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("empty name")
	case name == "." || name == "..":
		return fmt.Errorf("name %q is reserved", name)
	case len(name) > MaxNameBytes:
		return fmt.Errorf("name %q is %d bytes long, at most %d are allowed", shown.Cut(name), len(name), MaxNameBytes)
	case !utf8.ValidString(name):
		return fmt.Errorf("name %q is not valid UTF-8", shown.Cut(name))
	case strings.Contains(name, "/"):
		return fmt.Errorf("name %q contains a slash", shown.Cut(name))
	}
	if i := strings.IndexFunc(name, unicode.IsControl); i >= 0 {
		return fmt.Errorf("name %q contains a control character at byte %d", shown.Cut(name), i)
	}
	return nil
}

// String returns "/" for the root, and "/dir1/dir2" otherwise.
func (p Path) String() string {
	if p.s == "" {
		return "/"
	}
	return p.s
}

// Column returns the path as a materialised path column holds it: "" for the root, and "/dir1/dir2"
// otherwise.
func (p Path) Column() string { return p.s }

// IsRoot reports whether p is the root.
func (p Path) IsRoot() bool { return p.s == "" }

// Depth returns the number of names in p. It is 0 for the root.
func (p Path) Depth() int { return strings.Count(p.s, "/") }

// Base returns the last name of p, and "" for the root.
func (p Path) Base() string { return p.s[strings.LastIndexByte(p.s, '/')+1:] }

// Parent returns the path of the node above p. The root is its own parent.
func (p Path) Parent() Path {
	i := strings.LastIndexByte(p.s, '/')
	if i < 0 {
		return p
	}
	return Path{p.s[:i]}
}

// Child returns the path of the node called name below p. The error matches [ErrInvalidPath] if no
// node can have the name, or the path would have more than [MaxDepth] names.
func (p Path) Child(name string) (Path, error) {
	if err := checkName(name); err != nil {
		return Path{}, fmt.Errorf("%w: below %q: %w", ErrInvalidPath, shown.Cut(p.String()), err)
	}
	if p.Depth() >= MaxDepth {
		return Path{}, fmt.Errorf("%w: below %q: at most %d names are allowed", ErrInvalidPath, shown.Cut(p.String()), MaxDepth)
	}
	return Path{p.s + "/" + name}, nil
}

// Ancestors yields the paths above p, the root first and p's parent last. The root has none.
func (p Path) Ancestors() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		for i := range len(p.s) {
			if p.s[i] == '/' && !yield(Path{p.s[:i]}) {
				return
			}
		}
	}
}

// Names yields the names of p from the top down. The root has none.
func (p Path) Names() iter.Seq[string] {
	if p.s == "" {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(p.s[1:], "/")
}

// Contains reports whether q lies in the subtree of p, p itself included.
func (p Path) Contains(q Path) bool {
	return strings.HasPrefix(q.s, p.s) && (len(q.s) == len(p.s) || q.s[len(p.s)] == '/')
}

// Compare orders paths name by name, so that every node comes before its subtree and the subtree is
// one unbroken run: /a, /a/b, /a-b. As strings, /a-b would sort between the other two, and locks
// taken in such an order deadlock. It returns -1, 0 or +1.
func (p Path) Compare(q Path) int {
	for i := range min(len(p.s), len(q.s)) {
		switch a, b := p.s[i], q.s[i]; {
		case a == b:
		case a == '/':
			return -1
		case b == '/':
			return +1
		default:
			return cmp.Compare(a, b)
		}
	}
	return cmp.Compare(len(p.s), len(q.s))
}

// MarshalText implements [encoding.TextMarshaler] with the form of [Path.String].
func (p Path) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler] with the rules of [ParsePath].
func (p *Path) UnmarshalText(text []byte) error {
	q, err := ParsePath(string(text))
	if err != nil {
		return err
	}
	*p = q
	return nil
}

// Fold is the default fold of lock keys. Two names share one slot if a case-insensitive or
// space-padding collation treats them as equal. Fold applies Unicode's canonical caseless matching
// (The Unicode Standard, section 3.13, D145), composes the result (NFC) and drops trailing spaces.
// It keeps one space if the rest could not be a name.
//
// Only lock keys are folded, never the data. Folding more than the database's collation does costs
// false conflicts. Folding less lets two requests run into the unique index at once.
func Fold(name string) string {
	if isFolded(name) {
		return name
	}
	// A Caser has state, so each call makes its own.
	folded := norm.NFC.String(strings.Map(foldCherokee, cases.Fold().String(norm.NFD.String(name))))
	switch trimmed := strings.TrimRight(folded, " "); trimmed {
	case "", ".", "..":
		return trimmed + " "
	default:
		return trimmed
	}
}

// foldCherokee corrects x/text's fold of Cherokee, the one script whose capitals are its folded
// form: x/text swaps the two cases, so that they never meet.
func foldCherokee(r rune) rune {
	if unicode.Is(unicode.Cherokee, r) {
		return unicode.ToUpper(r)
	}
	return r
}

// isFolded reports whether a name, or every name of a path, is printable ASCII without capitals and
// trailing spaces, as most are. Folding changes no such name.
func isFolded(s string) bool {
	last := byte(0)
	for i := range len(s) {
		c := s[i]
		if c >= 0x80 || 'A' <= c && c <= 'Z' || c == '/' && last == ' ' {
			return false
		}
		last = c
	}
	return last != ' '
}

// FoldNothing makes every name its own lock key, for databases whose collation treats no two names
// as equal.
func FoldNothing(name string) string { return name }

// folded applies a fold, or Fold if it is nil, to every name of p. It refuses a fold whose result
// cannot be a name, which would make claims meet on nodes that nobody asked for.
func (p Path) folded(by func(string) string) (Path, error) {
	if by == nil {
		if isFolded(p.s) { // as nearly all are
			return p, nil
		}
		by = Fold
	}
	var b strings.Builder
	// A range over the iterator itself would have the common case allocate, too.
	for _, name := range slices.Collect(p.Names()) {
		folded := by(name)
		if err := checkName(folded); err != nil {
			return Path{}, fmt.Errorf("%w: the lock key of %q: %w", ErrInvalidPath, shown.Cut(name), err)
		}
		b.WriteByte('/')
		b.WriteString(folded)
	}
	return Path{b.String()}, nil
}

// Folded returns the path under which the locker keeps the locks of a node, for comparison with the
// claims of a hold. The error matches [ErrInvalidPath]: see [WithFold].
func (l *Locker) Folded(p Path) (Path, error) { return p.folded(l.fold) }
