package rawsql

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names are the guarded tables' names, without schemas. Letter case does not count, wherever it
// does in the database: in doubt, a name is one of them.
type Names struct {
	grammar *Grammar
	names   []string
	// firsts are the bytes that the names begin with, in either case.
	firsts [256]bool
	// plain is set where all names are of letters, digits and underscores.
	plain bool
}

// NewNames returns the names for SQL of the grammar.
func NewNames(grammar *Grammar, names ...string) *Names {
	n := &Names{grammar: grammar, plain: true}
	for _, name := range names {
		n.names = append(n.names, name)
		for i := range len(name) {
			n.plain = n.plain && name[i] < utf8.RuneSelf && name[i] != '$' && isIdentifier(name[i])
		}
		if name != "" {
			n.firsts[strings.ToLower(name)[0]] = true
			n.firsts[strings.ToUpper(name)[0]] = true
		}
	}
	return n
}

// Same reports whether two names are taken for one.
func (n *Names) Same(a, b string) bool {
	a, b = n.grammar.cut(a), n.grammar.cut(b)
	return strings.EqualFold(a, b) || strings.EqualFold(strings.Map(unicode.ToLower, a), strings.Map(unicode.ToLower, b))
}

// Has reports whether a name is one of the names.
func (n *Names) Has(text string) bool { return n.find(text) >= 0 }

// find returns which of the names a name is, -1 if none.
func (n *Names) find(text string) int {
	return slices.IndexFunc(n.names, func(guarded string) bool { return n.Same(text, guarded) })
}

// MayMention reports whether any of the names is in sql, or could be there in escapes. It is quick:
// raw statements on other tables pay for nothing else.
func (n *Names) MayMention(sql string) bool {
	if !n.plain {
		return true
	}
	for i := range len(sql) {
		switch b := sql[i]; {
		case b == '\\' && n.grammar.backslashes,
			(b|0x20 == 'p' || b|0x20 == 'e') && n.grammar.joinedTargets && runsText(sql[i:]),
			b == '\'' && n.grammar.dollarQuotes && continues(sql[i+1:]),
			b == '&' && n.grammar.dollarQuotes && i+1 < len(sql) && (sql[i+1] == '"' || sql[i+1] == '\''),
			b >= utf8.RuneSelf:
			return true
		case n.firsts[b] && n.nameAt(sql[i:]) != "":
			return true
		}
	}
	return false
}

// runsText reports whether sql begins with a word of MySQL that runs a text. Such a text can be
// assembled from pieces or written in hexadecimal.
func runsText(sql string) bool {
	const length = len("PREPARE")
	return len(sql) >= length && (strings.EqualFold(sql[:length], "PREPARE") || strings.EqualFold(sql[:length], "EXECUTE"))
}

// continues reports whether a string of PostgreSQL may go on in what stands behind its quote:
// behind a line's end.
func continues(rest string) bool {
	blank := 0
	for blank < len(rest) && isSpace(rest[blank]) {
		blank++
	}
	return strings.ContainsAny(rest[:blank], "\n\r") || strings.HasPrefix(rest[blank:], "--")
}

// nameAt returns the name that sql begins with, as it is written there; "" for none.
func (n *Names) nameAt(sql string) string {
	for _, name := range n.names {
		name = n.grammar.cut(name)
		if len(sql) >= len(name) && strings.EqualFold(sql[:len(name)], name) {
			return sql[:len(name)]
		}
	}
	return ""
}

// mentionedBy returns the first of the names that is somewhere in sql, "" for none.
func (n *Names) mentionedBy(sql string) string {
	for i := range len(sql) {
		if name := n.nameAt(sql[i:]); name != "" {
			return name
		}
	}
	return ""
}

// FirstIn returns the first of the names that sql has as an identifier in any of its readings. The
// name is "" where sql may have one, but does not say which.
func (n *Names) FirstIn(sql string) (guarded string, found bool) {
	if n.grammar.isAmbiguous(sql) {
		return "", true
	}
	for _, r := range n.grammar.readings(sql) {
		for _, t := range n.grammar.tokens(sql, r) {
			if !n.guards(t) {
				continue
			}
			if i := n.find(t.text); i >= 0 {
				return n.names[i], true
			}
			return "", true
		}
	}
	return "", false
}

// guards reports whether a token is one of the names, or may be one.
func (n *Names) guards(t token) bool {
	switch t.kind {
	case opaque:
		return true
	case word, name:
		return n.Has(t.text)
	case literal:
		return n.grammar.stringsName && n.Has(t.text)
	default:
		return false
	}
}

// cut returns the part of a name that counts.
func (g *Grammar) cut(name string) string {
	if g.nameBytes == 0 || len(name) <= g.nameBytes {
		return name
	}
	n := g.nameBytes
	for n > 0 && !utf8.RuneStart(name[n]) {
		n--
	}
	return name[:n]
}
