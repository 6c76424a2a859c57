// Package fold makes lock keys of names, so that names meet which a collation holds equal.
package fold

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Name returns a name's canonical caseless form, composed and without trailing spaces. It keeps one
// space where nothing that can be a name would remain.
func Name(name string) string {
	if IsFolded(name) {
		return name
	}
	// A Caser has state, so each call makes its own.
	folded := norm.NFC.String(strings.Map(cherokee, cases.Fold().String(norm.NFD.String(name))))
	switch trimmed := strings.TrimRight(folded, " "); trimmed {
	case "", ".", "..":
		return trimmed + " "
	default:
		return trimmed
	}
}

// cherokee corrects x/text's fold of Cherokee, the one script whose capitals are its folded form:
// x/text swaps the two cases, so that they never meet.
func cherokee(r rune) rune {
	if unicode.Is(unicode.Cherokee, r) {
		return unicode.ToUpper(r)
	}
	return r
}

// IsFolded reports whether a name, or every name of a path, is printable ASCII without capitals and
// trailing spaces, as most are. Folding changes no such name.
func IsFolded(s string) bool {
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
