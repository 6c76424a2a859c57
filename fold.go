package pathlock

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/pathlock-go/pathlock/internal/shown"
)

// Fold is the default fold of lock keys. Two names share one slot if a case-insensitive or
// space-padding collation holds them equal. Fold applies Unicode's canonical caseless matching (The
// Unicode Standard, section 3.13, D145), composes the result (NFC) and drops trailing spaces. It
// keeps one space where nothing that can be a name would remain.
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
// trailing spaces, as most are. Fold changes no such name.
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

// FoldNothing makes every name its own lock key, for databases whose collation holds no two names
// equal.
func FoldNothing(name string) string { return name }

// foldPath applies fold, or Fold if it is nil, to every name of p. It refuses a fold whose result
// cannot be a name, which would make claims meet on nodes that nobody asked for.
func foldPath(p Path, fold func(string) string) (Path, error) {
	if fold != nil {
		return foldNames(p, fold)
	}
	if isFolded(p.s) {
		return p, nil
	}
	return foldNames(p, Fold)
}

// foldNames applies fold to every name of p.
func foldNames(p Path, fold func(string) string) (Path, error) {
	changed := false
	for name := range p.Names() {
		folded := fold(name)
		if folded == name {
			continue
		}
		changed = true
		if err := checkName(folded); err != nil {
			return Path{}, fmt.Errorf("%w: the lock key of %q: %w", ErrInvalidPath, shown.Cut(name), err)
		}
	}
	if !changed {
		return p, nil
	}
	var b strings.Builder
	for name := range p.Names() {
		b.WriteByte('/')
		b.WriteString(fold(name))
	}
	return Path{b.String()}, nil
}

// Folded returns the path under which the locker keeps the locks of a node, for comparison with the
// claims of a hold. The error matches [ErrInvalidPath]: see [WithFold].
func (l *Locker) Folded(p Path) (Path, error) { return foldPath(p, l.fold) }
