package rawsql

import "strings"

// created looks for rows in a CREATE TABLE of a guarded table, and for what the routines of
// PostgreSQL, whose text is in a string, write.
func (s *statement) created(i int) (verb, table string, found bool) {
	replaces := s.at(i+1).is("OR") && s.at(i+2).is("REPLACE")
	i = s.skip(i+1, "OR", "REPLACE", "TEMPORARY", "TEMP", "LOCAL", "GLOBAL", "UNLOGGED")
	switch {
	case s.at(i).isAny("FUNCTION", "PROCEDURE"):
		if table, found = s.quotedWrite(i); found && s.grammar.dollarQuotes {
			return "CREATE " + strings.ToUpper(s.at(i).text), table, true
		}
	case s.at(i).is("TABLE"):
		var next int
		table, next, found = s.table(s.behind(i+1, "IF", "NOT", "EXISTS"))
		if found && (replaces || s.hasQuery(next)) {
			return "CREATE TABLE", table, true
		}
	}
	return "", "", false
}

// hasQuery reports whether a CREATE TABLE, from behind the table's name on, takes rows from a
// query.
func (s *statement) hasQuery(i int) bool {
	depth := 0
	for ; i < len(s.tokens); i++ {
		t := s.tokens[i]
		switch {
		case t.isSign('('):
			depth++
		case t.isSign(')'):
			depth--
		case t.is("SELECT"), depth == 0 && t.is("AS"):
			return true
		case depth == 0 && s.grammar.joinedTargets && t.isAny("TABLE", "VALUES"):
			return true
		}
	}
	return false
}
