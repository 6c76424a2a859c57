package rawsql

import "strings"

// Write is a statement that writes to a table.
type Write struct {
	// Statement is its kind: "UPDATE", "INSERT".
	Statement string
	// Table is the table as the statement names it.
	Table string
}

// FindWrite returns the first statement in sql that writes, or may write, to a table for which guarded, which gets
// names without schema and quotes, says true. Definitions of tables, indexes, triggers and procedures are no writes, and neither are
// reads that lock; TRUNCATE is one.
func (g *Grammar) FindWrite(sql string, guarded func(table string) bool) (Write, bool) {
	for _, r := range g.readings(sql) {
		rest := g.tokens(sql, r)
		for len(rest) > 0 {
			n := 0
			for n < len(rest) && !rest[n].isSign(';') {
				n++
			}
			s := statement{grammar: g, tokens: rest[:n], guarded: guarded}
			if w, found := s.write(); found {
				return w, true
			}
			rest = rest[min(n+1, len(rest)):]
		}
	}
	return Write{}, false
}

// Mentions returns the first identifier in sql for which guarded says true, in whichever way sql may be read.
func (g *Grammar) Mentions(sql string, guarded func(name string) bool) (string, bool) {
	for _, r := range g.readings(sql) {
		for _, t := range g.tokens(sql, r) {
			if (t.kind == word || t.kind == name) && guarded(t.text) {
				return t.text, true
			}
		}
	}
	return "", false
}

// IsPlainRead reports whether sql is one SELECT and nothing else, as far as its first word and the
// absence of a semicolon tell: the quickest way to be sure that it writes nothing.
func IsPlainRead(sql string) bool {
	const read = "SELECT"
	sql = strings.TrimLeft(sql, " \t\r\n(")
	return len(sql) > len(read) && strings.EqualFold(sql[:len(read)], read) && !isIdentifier(sql[len(read)]) && strings.IndexByte(sql, ';') < 0
}

// statement is one of the statements in a piece of SQL.
type statement struct {
	grammar *Grammar
	tokens  []token
	guarded func(string) bool
}

// reads are the words that begin statements which write no rows of a table that they name, whatever else is in
// them. A SELECT that writes has to begin with WITH in every dialect.
var reads = []string{
	"SELECT", "VALUES", "TABLE", "SHOW", "CREATE", "ALTER", "DROP", "RENAME", "COMMENT", "GRANT", "REVOKE", "LOCK", "UNLOCK",
}

// write returns the first write in the statement.
func (s *statement) write() (Write, bool) {
	first := 0
	for first < len(s.tokens) && s.tokens[first].isSign('(') {
		first++
	}
	opening := s.at(first)
	for _, read := range reads {
		if opening.is(read) {
			return Write{}, false
		}
	}
	switch {
	case (opening.is("EXPLAIN") || opening.is("DESCRIBE") || opening.is("DESC")) && !s.mentions("ANALYZE") && !s.mentions("ANALYSE"): //nolint:misspell // as SQL spells it
		return Write{}, false
	case opening.is("DO") && s.grammar.dollarQuotes, opening.is("PREPARE"), opening.is("EXECUTE"):
		// What runs may be in a string.
		if table, found := s.quoted(); found {
			return Write{strings.ToUpper(opening.text), table}, true
		}
	}
	for i := range s.tokens {
		verb := s.tokens[i]
		if verb.kind != word {
			continue
		}
		for _, v := range verbs {
			if !verb.is(v.word) {
				continue
			}
			if table, found := v.target(s, i, opening); found {
				return Write{v.word, table}, true
			}
		}
	}
	return Write{}, false
}

// verbs are the words that write, and how each finds a guarded table among its targets; i is
// where the word is.
var verbs = []struct {
	word   string
	target func(s *statement, i int, opening token) (string, bool)
}{
	{"INSERT", (*statement).inserted},
	{"REPLACE", (*statement).inserted},
	{"UPDATE", (*statement).updated},
	{"DELETE", (*statement).deleted},
	{"MERGE", (*statement).merged},
	{"TRUNCATE", (*statement).truncated},
	{"COPY", (*statement).copied},
	{"LOAD", (*statement).loaded},
}

// inserted: INSERT [IGNORE | OR IGNORE …] [INTO] table, and REPLACE likewise. As functions, both have parentheses.
func (s *statement) inserted(i int, _ token) (string, bool) {
	i = s.skip(i+1, "LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE", "OR", "REPLACE", "ABORT", "FAIL", "ROLLBACK", "INTO")
	table, _, found := s.table(i)
	return table, found
}

// updated: UPDATE tables SET. The other UPDATEs are FOR UPDATE, ON UPDATE, DO UPDATE and ON DUPLICATE KEY UPDATE; only
// MariaDB's SET STATEMENT … FOR has a verb after FOR.
func (s *statement) updated(i int, opening token) (string, bool) {
	before := s.at(i - 1)
	if before.is("KEY") || before.is("DO") || before.is("ON") || before.is("FOR") && !opening.is("SET") {
		return "", false
	}
	return s.between(i+1, "SET")
}

// deleted: DELETE FROM tables; in MySQL also DELETE tables FROM join, and DELETE FROM tables USING join.
func (s *statement) deleted(i int, _ token) (string, bool) {
	i = s.skip(i+1, "LOW_PRIORITY", "QUICK", "IGNORE", "HISTORY")
	if !s.at(i).is("FROM") {
		if s.grammar.joinedTargets {
			return s.between(i, "WHERE")
		}
		return "", false
	}
	table, next, found := s.tables(i + 1)
	if !found && s.grammar.joinedTargets && s.at(next).is("USING") {
		return s.between(next, "WHERE")
	}
	return table, found
}

// merged: MERGE INTO [ONLY] table.
func (s *statement) merged(i int, _ token) (string, bool) {
	table, _, found := s.table(s.skip(i+1, "INTO", "ONLY"))
	return table, found
}

// truncated: TRUNCATE [TABLE] tables. As a function, it has parentheses.
func (s *statement) truncated(i int, _ token) (string, bool) {
	table, _, found := s.tables(s.skip(i+1, "TABLE"))
	return table, found
}

// copied: COPY table [(columns)] FROM. COPY table TO only reads.
func (s *statement) copied(i int, _ token) (string, bool) {
	table, next, found := s.table(i + 1)
	if !found {
		return "", false
	}
	for ; next < len(s.tokens); next++ {
		if s.tokens[next].is("TO") {
			return "", false
		}
		if s.tokens[next].is("FROM") {
			break
		}
	}
	return table, true
}

// loaded: LOAD DATA … INTO TABLE table.
func (s *statement) loaded(i int, _ token) (string, bool) {
	for ; i < len(s.tokens); i++ {
		if s.tokens[i].is("INTO") && s.at(i+1).is("TABLE") {
			table, _, found := s.table(i + 2)
			return table, found
		}
	}
	return "", false
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
	for {
		any := false
		for _, w := range words {
			any = any || s.at(i).is(w)
		}
		if !any {
			return i
		}
		i++
	}
}

// mentions reports whether the keyword is anywhere in the statement.
func (s *statement) mentions(keyword string) bool {
	for _, t := range s.tokens {
		if t.is(keyword) {
			return true
		}
	}
	return false
}

// quoted returns a guarded table that is mentioned in a string.
func (s *statement) quoted() (string, bool) {
	for _, t := range s.tokens {
		if t.kind != literal {
			continue
		}
		inner := s.grammar.tokens(t.text, reading{})
		for _, u := range inner {
			if u.kind == opaque || (u.kind == word || u.kind == name) && s.guarded(u.text) {
				return u.text, true
			}
		}
	}
	return "", false
}

// table reads the name of a table at i, with or without a schema before it, and reports whether it is guarded. next is where
// the statement goes on.
func (s *statement) table(i int) (table string, next int, found bool) {
	for s.canName(s.at(i)) && s.at(i+1).isSign('.') && i+2 < len(s.tokens) {
		i += 2
	}
	t := s.at(i)
	if !s.canName(t) {
		return "", i, false
	}
	return t.text, i + 1, t.kind == opaque || s.guarded(t.text)
}

// tables reads a list of names at i, as table does, and returns the first guarded one.
func (s *statement) tables(i int) (table string, next int, found bool) {
	for {
		i = s.skip(i, "ONLY")
		for s.at(i).isSign('(') {
			i++
		}
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

// between returns the first guarded table that is named from i up to a keyword at the same depth of parentheses.
func (s *statement) between(i int, keyword string) (string, bool) {
	depth := 0
	for ; i < len(s.tokens); i++ {
		t := s.tokens[i]
		switch {
		case t.isSign('('):
			depth++
		case t.isSign(')'):
			depth--
		}
		if depth < 0 || depth == 0 && t.is(keyword) {
			break
		}
		if t.kind == opaque || s.canName(t) && s.guarded(t.text) {
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
