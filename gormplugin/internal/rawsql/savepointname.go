package rawsql

import (
	"strings"
	"unicode/utf8"
)

// SavepointName is how a statement spells the name of a savepoint. The zero value is a name that
// nobody can read, because it is written in escapes or in a comment.
type SavepointName struct {
	grammar *Grammar
	text    string
	quoted  bool
}

// SavepointName returns a name as it is between quotes, or without them.
func (g *Grammar) SavepointName(text string, quoted bool) SavepointName {
	if !g.dollarQuotes || !quoted {
		text = lowerASCII(text)
	}
	return SavepointName{grammar: g, text: g.cut(text), quoted: quoted}
}

// Same reports whether two names may mean one savepoint, and whether that is certain: it is also
// certain where they do not.
//
// SQLite takes the letters A to Z for their small ones. PostgreSQL does so without quotes, and may
// do so with further letters, depending on the server's encoding. MySQL and MariaDB compare by a
// collation, which knows accents and characters that do not count.
func (n SavepointName) Same(other SavepointName) (same, certain bool) {
	switch g := n.grammar; {
	case g == nil || other.grammar == nil:
		return true, false
	case g.dollarQuotes && (!n.quoted || !other.quoted) && !isASCII(n.text+other.text):
		return true, n.text == other.text && n.quoted == other.quoted
	case n.text == other.text:
		return true, true
	default:
		certain = !g.compounds || n.isPlain() && other.isPlain()
		return !certain, certain
	}
}

// isPlain reports whether a name has letters, digits, underscores and dollar signs only.
func (n SavepointName) isPlain() bool {
	return isASCII(n.text) && strings.IndexFunc(n.text, func(r rune) bool { return !isIdentifier(byte(r)) }) < 0
}

// isASCII reports whether a text has ASCII characters only.
func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
