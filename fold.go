package pathlock

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/pathlock-go/pathlock/internal/shown"
)

// Fold is the default fold of lock keys: two names that a case-insensitive or
// space-padding collation holds equal meet in one slot. It applies Unicode's
// canonical caseless matching (The Unicode Standard, section 3.13, D145),
// composes the result (NFC) and drops trailing spaces, all but one where
// nothing that can be a name would be left.
//
// Only lock keys are folded, never the data. Folding too much costs a false
// conflict; folding less than the database's collation does lets two requests
// run into the unique index at once.
func Fold(name string) string {
	if isFolded(name) {
		return name
	}
	// A Caser has state, so that one per call is the safe way to have one.
	folded := norm.NFC.String(strings.Map(foldCherokee, cases.Fold().String(norm.NFD.String(name))))
	switch trimmed := strings.TrimRight(folded, " "); trimmed {
	case "", ".", "..":
		return trimmed + " "
	default:
		return trimmed
	}
}

// foldCherokee mends what x/text's fold makes of Cherokee, the one script whose
// capitals are its folded form: it exchanges the two cases, so that they never meet.
func foldCherokee(r rune) rune {
	if unicode.Is(unicode.Cherokee, r) {
		return unicode.ToUpper(r)
	}
	return r
}

// isFolded reports that Fold would change nothing in a name, or in any of a path's, for the names
// that most trees consist of: printable ASCII without capitals and trailing spaces.
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

// FoldNothing is for databases whose collation tells all names apart: every
// name is its own lock key.
func FoldNothing(name string) string { return name }

// foldPath applies fold, or Fold if it is nil, to every name of p. A fold that makes something of a
// name that cannot be one would let claims meet on nodes that nobody asked for: that is refused.
func foldPath(p Path, fold func(string) string) (Path, error) {
	if fold != nil {
		return foldNames(p, fold)
	}
	if isFolded(p.s) {
		return p, nil
	}
	return foldNames(p, Fold)
}

// foldNames does the work of foldPath, name by name.
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
