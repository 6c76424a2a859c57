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
	// plain is set where all names are of letters, digits and underscores.
	plain bool
}

// NewNames returns the names for SQL of the grammar.
func NewNames(grammar *Grammar, names ...string) *Names {
	n := &Names{grammar: grammar, names: names, plain: true}
	for _, name := range names {
		for i := range len(name) {
			n.plain = n.plain && name[i] < utf8.RuneSelf && name[i] != '$' && isIdentifier(name[i])
		}
	}
	return n
}

// Same reports whether two names are taken for one.
func (n *Names) Same(a, b string) bool {
	return strings.EqualFold(a, b) || strings.EqualFold(strings.Map(unicode.ToLower, a), strings.Map(unicode.ToLower, b))
}

// Has reports whether a name is one of the names.
func (n *Names) Has(text string) bool { return n.find(text) >= 0 }

// find returns which of the names a name is, -1 if none.
func (n *Names) find(text string) int {
	return slices.IndexFunc(n.names, func(guarded string) bool { return n.Same(text, guarded) })
}

// MayMention reports whether any of the names is in sql, or could be hidden there.
func (n *Names) MayMention(sql string) bool {
	return !n.plain || n.mentionedBy(sql) != "" || n.grammar.hiding.MatchString(sql)
}

// nameAt returns the name that sql begins with, as it is written there; "" for none.
func (n *Names) nameAt(sql string) string {
	for _, name := range n.names {
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
