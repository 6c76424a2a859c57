package rawsql

import (
	"regexp"
	"slices"
)

// Names are the guarded tables' names, without schemas. Letter case does not count, wherever it
// does in the database: in doubt, a name is one of them.
type Names struct {
	grammar *Grammar
	names   []string
	// stand find the names in a text in small letters, with no longer word behind them.
	stand []*regexp.Regexp
}

// NewNames returns the names for SQL of the grammar.
func NewNames(grammar *Grammar, names ...string) *Names {
	n := &Names{grammar: grammar, names: names}
	for _, name := range names {
		// A quote in a quoted name may be doubled.
		pattern := quotes.ReplaceAllString(regexp.QuoteMeta(folded(name)), "$0{1,2}")
		n.stand = append(n.stand, regexp.MustCompile(pattern+`(?:[^0-9a-z_-]|--|$)`))
	}
	return n
}

var quotes = regexp.MustCompile("['\"`]")

// Same reports whether two names are taken for one.
func (n *Names) Same(a, b string) bool { return folded(a) == folded(b) }

// FirstIn returns the first of the names that stands somewhere in sql, be it in a string or a
// comment, and in no longer word, also of those with a dash. The name is "" where sql may hide one.
func (n *Names) FirstIn(sql string) (guarded string, found bool) {
	text := folded(sql)
	for i, name := range n.names {
		for _, at := range n.stand[i].FindAllStringIndex(text, -1) {
			if at[0] == 0 || text[at[0]-1] != '-' && !isWord(text[at[0]-1]) {
				return name, true
			}
		}
	}
	g := n.grammar
	runs := g.hides.MatchString(text) && slices.ContainsFunc(g.shapes(sql), g.runsText.MatchString)
	return "", runs || g.dollars && escapes.MatchString(text)
}

// escapes finds a name, or a text, that is written in escapes.
var escapes = regexp.MustCompile(`\bu&['"]`)
