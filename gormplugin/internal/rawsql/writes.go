package rawsql

import (
	"iter"
	"slices"
	"strings"
)

// Write is a statement that writes to a table.
type Write struct {
	// Statement is its kind: "UPDATE", "INSERT".
	Statement string
	// Table is the table as the statement names it; "" where that may be put together from pieces.
	Table string
}

// FindWrite returns the first statement in sql that writes, or may write, to one of the tables.
//
// Definitions of tables and indexes are no writes, and neither are DROP, RENAME and reads that
// lock. TRUNCATE is one, and so are a CREATE TABLE that takes rows from a query, an ALTER TABLE
// that adds or removes rows or changes their type, and definitions of triggers, rules, events and
// routines with a write in their text.
func (n *Names) FindWrite(sql string) (Write, bool) {
	if n.grammar.isPlainRead(sql) || !n.MayMention(sql) {
		return Write{}, false
	}
	if n.grammar.isAmbiguous(sql) {
		return Write{"SCRIPT", n.mentionedBy(sql)}, true
	}
	for _, r := range n.grammar.readings(sql) {
		for piece := range pieces(n.grammar.tokens(sql, r)) {
			s := statement{grammar: n.grammar, tokens: piece, names: n}
			if w, found := s.write(); found {
				if w.Table == "" {
					w.Table = n.mentionedBy(sql)
				}
				return w, true
			}
		}
	}
	return Write{}, false
}

// pieces yields the tokens between semicolons.
func pieces(rest []token) iter.Seq[[]token] {
	return func(yield func([]token) bool) {
		for len(rest) > 0 {
			n := slices.IndexFunc(rest, func(t token) bool { return t.isSign(';') })
			if n < 0 {
				n = len(rest)
			}
			if !yield(rest[:n]) {
				return
			}
			rest = rest[min(n+1, len(rest)):]
		}
	}
}

// isPlainRead reports whether sql is certainly one SELECT that writes nothing. It is quick: it asks
// for the first word, and for the absence of a few others.
func (g *Grammar) isPlainRead(sql string) bool {
	const read = "SELECT"
	sql = strings.TrimLeft(sql, " \t\r\n(")
	if len(sql) <= len(read) || !strings.EqualFold(sql[:len(read)], read) || isIdentifier(sql[len(read)]) {
		return false
	}
	intoOrWith := g.selectInto && (containsWord(sql, "INTO") || containsWord(sql, "WITH"))
	return !intoOrWith && strings.IndexByte(sql, ';') < 0
}

// containsWord reports whether a word, given in capitals, is in sql, be it in a longer one.
func containsWord(sql, word string) bool {
	for i := 0; i+len(word) <= len(sql); i++ {
		if sql[i]|0x20 == word[0]|0x20 && strings.EqualFold(sql[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// statement is one of the statements in a piece of SQL.
type statement struct {
	grammar *Grammar
	tokens  []token
	// names are the tables to which writes are looked for; nil where the end of a transaction is.
	names *Names
}

// guards reports whether a token names, or may name, one of the tables.
func (s *statement) guards(t token) bool {
	return s.names != nil && s.names.guards(t)
}

// reads are the first words of statements that write no rows of a table that they name. In
// PostgreSQL that holds for those without INTO and WITH.
var reads = []string{"SELECT", "VALUES", "TABLE", "SHOW", "DROP", "RENAME", "COMMENT", "GRANT", "REVOKE", "LOCK", "UNLOCK"}

// write returns the first write in the statement.
func (s *statement) write() (Write, bool) {
	first := 0
	for s.at(first).isSign('(') {
		first++
	}
	opening := s.at(first)
	switch {
	case opening.isAny(reads...) && (!s.grammar.selectInto || !s.holds("INTO") && !s.holds("WITH")):
		return Write{}, false
	case opening.isAny("EXPLAIN", "DESCRIBE", "DESC") && !s.analyses():
		return Write{}, false
	case opening.is("DO") && s.grammar.dollarQuotes:
		return Write{"DO", ""}, true // what runs is in the string
	}
	for i := range s.tokens {
		if verb, table, found := s.written(i); found {
			return Write{verb, table}, true
		}
	}
	return Write{}, false
}

// analyses reports whether an EXPLAIN runs what it explains.
func (s *statement) analyses() bool {
	for _, t := range s.tokens {
		if t.kind == opaque || (t.kind == word || t.kind == name) &&
			(strings.EqualFold(t.text, "ANALYZE") || strings.EqualFold(t.text, "ANALYSE")) { //nolint:misspell // as SQL spells it
			return true
		}
	}
	return false
}

// at returns a token, one of kind end where there is none.
func (s *statement) at(i int) token {
	if i < 0 || i >= len(s.tokens) {
		return token{}
	}
	return s.tokens[i]
}

// skip returns the first place from i on that has none of the words.
func (s *statement) skip(i int, words ...string) int {
	for s.at(i).isAny(words...) {
		i++
	}
	return i
}

// behind returns the place behind the words, if they stand at i, and otherwise i.
func (s *statement) behind(i int, words ...string) int {
	for n, w := range words {
		if !s.at(i + n).is(w) {
			return i
		}
	}
	return i + len(words)
}

// table reads the name of a table at i, with or without a schema before it, and reports whether it
// is guarded. next is where the statement goes on.
func (s *statement) table(i int) (table string, next int, found bool) {
	for s.at(i).isSign('(') {
		i++
	}
	i = s.skip(i, "ONLY")
	for s.at(i).isSign('(') || s.at(i).isSign('.') {
		i++
	}
	for s.canName(s.at(i)) && s.at(i+1).isSign('.') && s.canName(s.at(i+2)) {
		i += 2
	}
	t := s.at(i)
	if !s.canName(t) {
		return "", i, false
	}
	return t.text, i + 1, s.guards(t)
}

// tables reads a list of names at i, as table does, and returns the first guarded one.
func (s *statement) tables(i int) (table string, next int, found bool) {
	for {
		table, i, found = s.table(i)
		if found {
			return table, i, true
		}
		for s.at(i).isSign(')') || s.at(i).isSign('*') || s.at(i).isSign('.') {
			i++
		}
		if !s.at(i).isSign(',') {
			return "", i, false
		}
		i++
	}
}

// between returns the first guarded table that is named from i up to a keyword at the same depth of
// parentheses; not in subqueries, which only read.
func (s *statement) between(i int, keyword string) (string, bool) {
	depth, query := 0, 0
	for ; i < len(s.tokens); i++ {
		t := s.tokens[i]
		switch {
		case t.isSign('('):
			depth++
			if query == 0 && s.at(i+1).isAny("SELECT", "WITH", "VALUES", "TABLE") {
				query = depth
			}
		case t.isSign(')'):
			if depth == query {
				query = 0
			}
			depth--
		}
		if depth < 0 || depth == 0 && t.is(keyword) {
			break
		}
		if query == 0 && s.canName(t) && s.guards(t) {
			return t.text, true
		}
	}
	return "", false
}

// canName reports whether a token can be the name of a table.
func (s *statement) canName(t token) bool {
	switch t.kind {
	case word, name, opaque:
		return true
	case literal:
		return s.grammar.stringsName
	default:
		return false
	}
}
