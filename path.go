package pathlock

import (
	"fmt"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/internal/shown"
)

// Limits of a [Path]. They protect the lock stores from hostile input; a
// backend will usually set tighter ones of its own.
const (
	// MaxNameBytes is the longest name of one node, in bytes: 255 characters
	// of any kind, folded too (some grow when they are), and room.
	MaxNameBytes = 2048
	// MaxDepth is the number of names that a path may have at most.
	MaxDepth = 256
)

// Path names one node of a tree by the names on the way from the root to it.
// It is canonical: two equal paths are ==. The zero Path is the root.
//
// A path says nothing about whether the node exists: a claim on the path of a
// node that does not exist yet reserves the name.
type Path struct {
	// s is "" for the root and "/a/b" otherwise: the form in which a
	// materialised path column holds it.
	s string
}

// Root returns the path of a tree's root.
func Root() Path { return Path{} }

// ParsePath reads a path such as "/dir1/dir2". Both "/" and "", which is what
// a materialised path column holds for the root, mean the root.
//
// Anything else that is not canonical is refused with an error that matches
// [ErrInvalidPath] and names the offending part: a path that does not begin with a slash, an
// empty name (a doubled or a trailing slash), "." and "..", control
// characters, invalid UTF-8, a name longer than [MaxNameBytes], more than
// [MaxDepth] names.
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

// MustParsePath is [ParsePath] for paths that are written in the source: it panics
// where ParsePath returns an error.
func MustParsePath(s string) Path {
	p, err := ParsePath(s)
	if err != nil {
		panic(err)
	}
	return p
}

// checkName says why a string cannot be the name of one node.
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
	}
	for i, r := range name {
		switch {
		case r == '/':
			return fmt.Errorf("name %q contains a slash", shown.Cut(name))
		case unicode.IsControl(r):
			return fmt.Errorf("name %q contains a control character at byte %d", shown.Cut(name), i)
		}
	}
	return nil
}

// String returns the path as it is written: "/" for the root, "/dir1/dir2" otherwise.
func (p Path) String() string {
	if p.s == "" {
		return "/"
	}
	return p.s
}

// Column returns the path as a materialised path column holds it: "" for the
// root, "/dir1/dir2" otherwise.
func (p Path) Column() string { return p.s }

// IsRoot reports whether p is the root.
func (p Path) IsRoot() bool { return p.s == "" }

// Depth returns the number of names in p; the root's is 0.
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

// Child returns the path of the node called name below p. A name that cannot
// be one gives an error that matches [ErrInvalidPath].
func (p Path) Child(name string) (Path, error) {
	if err := checkName(name); err != nil {
		return Path{}, fmt.Errorf("%w: below %q: %w", ErrInvalidPath, shown.Cut(p.String()), err)
	}
	if p.Depth() >= MaxDepth {
		return Path{}, fmt.Errorf("%w: below %q: at most %d names are allowed", ErrInvalidPath, shown.Cut(p.String()), MaxDepth)
	}
	return Path{p.s + "/" + name}, nil
}

// Ancestors yields the nodes above p, the root first and p's parent last. The
// root has none.
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

// Compare orders paths name by name, so that every node comes before its
// subtree and the subtree is one unbroken run: /a, /a/b, /a-b. Compared as strings,
// /a-b would stand between the other two, and locks taken in such an order deadlock.
// It returns -1, 0 or +1.
func (p Path) Compare(q Path) int {
	n := min(len(p.s), len(q.s))
	for i := range n {
		a, b := p.s[i], q.s[i]
		switch {
		case a == b:
		case a == '/':
			return -1
		case b == '/':
			return +1
		case a < b:
			return -1
		default:
			return +1
		}
	}
	switch {
	case len(p.s) < len(q.s):
		return -1
	case len(p.s) > len(q.s):
		return +1
	}
	return 0
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
