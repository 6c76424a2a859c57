package rawsql

import (
	"slices"
	"strings"
)

// EndsTransaction returns the first statement in sql that ends the transaction that it runs in, or
// a part of it: "COMMIT", "CREATE TABLE" which commits implicitly, "ROLLBACK TO SAVEPOINT".
func (g *Grammar) EndsTransaction(sql string) (ended string, found bool) {
	if g.cannotEnd(sql) {
		return "", false
	}
	if g.isAmbiguous(sql) {
		return "SCRIPT", true
	}
	for _, r := range g.readings(sql) {
		for piece := range pieces(g.tokens(sql, r)) {
			s := statement{grammar: g, tokens: piece}
			if ended, found = s.ends(); found {
				return ended, true
			}
		}
	}
	return "", false
}

// cannotEnd is a quick way to see that sql is one statement that reads, or writes rows.
func (g *Grammar) cannotEnd(sql string) bool {
	l := lexer{sql: strings.TrimLeft(sql, " \t\r\n(")}
	return l.word().isAny("SELECT", "INSERT", "UPDATE", "DELETE", "WITH") && strings.IndexByte(sql, ';') < 0 &&
		(!g.stringsName || !containsWord(sql, "ROLLBACK"))
}

// ends reports whether the statement ends the transaction, or may.
func (s *statement) ends() (string, bool) {
	first := s.at(0)
	switch {
	case !s.grammar.commitsDDL:
		return s.endsPlainly()
	case s.at(1).isSign(':'), first.isAny("BEGIN", "IF", "WHILE", "FOR", "LOOP", "REPEAT", "CASE", "DECLARE"):
		// MariaDB's compound statements hold others, of which any may end the transaction.
		return strings.ToUpper(first.text), true
	case first.is("SET") && s.at(1).is("STATEMENT"):
		return "SET STATEMENT", true // whatever follows in it
	}
	return s.commits(0)
}

// holds reports whether the statement has a keyword.
func (s *statement) holds(keyword string) bool {
	return slices.ContainsFunc(s.tokens, func(t token) bool { return t.is(keyword) })
}

// endsPlainly is for PostgreSQL and SQLite, where nothing commits but what says so. The END of a
// trigger's or a routine's body is taken for one. SQLite's OR ROLLBACK ends the transaction where a
// row is refused.
func (s *statement) endsPlainly() (string, bool) {
	first := s.at(0)
	switch {
	case s.savepoint(0) != "":
		return string(s.savepoint(0)), true
	case first.isAny("COMMIT", "END", "ABORT", "ROLLBACK"):
		return strings.ToUpper(first.text), true
	case first.is("PREPARE") && s.at(1).is("TRANSACTION"):
		return "PREPARE TRANSACTION", true
	}
	for i := range s.tokens {
		if s.grammar.stringsName && s.at(i).is("OR") && s.at(i+1).is("ROLLBACK") && s.at(i-1).isAny("INSERT", "UPDATE") {
			return strings.ToUpper(s.at(i-1).text) + " OR ROLLBACK", true
		}
	}
	return "", false
}

// committers are the words that begin statements of MySQL and MariaDB which commit, whatever
// follows.
var committers = []string{
	"ALTER", "BACKUP", "CACHE", "CHANGE", "CHECK", "CLONE", "COMMIT", "FLUSH", "GRANT", "IMPORT", "INSTALL", "LOCK", "OPTIMIZE", "RENAME", //nolint:misspell // as SQL spells it
	"REPAIR", "RESET", "RESTART", "REVOKE", "SHUTDOWN", "START", "STOP", "TRUNCATE", "UNINSTALL", "UNLOCK",
}

// commits reports whether the statement of MySQL or MariaDB that begins at i commits, or rolls
// back.
func (s *statement) commits(i int) (string, bool) {
	first, second := s.at(i), s.at(i+1)
	both := strings.ToUpper(first.text)
	if second.kind == word && !first.isAny("COMMIT", "TRUNCATE") {
		both += " " + strings.ToUpper(second.text)
	}
	switch {
	case s.savepoint(i) != "":
		return string(s.savepoint(i)), true
	case first.isAny(committers...):
		return both, true
	case first.isAny("CREATE", "DROP"):
		// Temporary tables come and go within a transaction.
		next := s.skip(i+1, "OR", "REPLACE")
		return both, !s.at(next).isAny("TEMPORARY", "PREPARE")
	case first.is("ROLLBACK"):
		return "ROLLBACK", true
	case first.is("ANALYZE"):
		return "ANALYZE TABLE", second.isAny("TABLE", "LOCAL", "NO_WRITE_TO_BINLOG")
	case first.is("XA"):
		return both, !second.is("RECOVER")
	case first.is("LOAD"):
		return "LOAD INDEX", second.is("INDEX")
	case first.is("SET"):
		return s.sets(i + 1)
	case first.is("EXECUTE"):
		return both, true // nobody knows what
	}
	return "", false
}

// sets: SET PASSWORD, SET DEFAULT ROLE, and SET autocommit in any form.
func (s *statement) sets(i int) (string, bool) {
	if s.at(i).isAny("PASSWORD", "DEFAULT") {
		return "SET " + strings.ToUpper(s.at(i).text), true
	}
	return "SET autocommit", slices.ContainsFunc(s.tokens[i:], func(t token) bool {
		return (t.kind == word || t.kind == name) && strings.EqualFold(t.text, "autocommit")
	})
}
