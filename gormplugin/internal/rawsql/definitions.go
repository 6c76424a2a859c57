package rawsql

import (
	"slices"
	"strings"
)

// created looks for rows in a CREATE TABLE of a guarded table. What the routines of PostgreSQL do
// is in a string: they are refused where that may mention a table.
func (s *statement) created(i int) (verb, table string, found bool) {
	replaces := s.at(i + 1).is("OR")
	i = s.skip(i+1, "OR", "REPLACE", "TEMPORARY", "TEMP", "LOCAL", "GLOBAL", "UNLOGGED")
	switch {
	case s.at(i).isAny("FUNCTION", "PROCEDURE") && s.grammar.dollarQuotes && s.hasText():
		return "CREATE " + strings.ToUpper(s.at(i).text), "", true
	case s.at(i).is("TABLE"):
		var next int
		table, next, found = s.table(s.behind(i+1, "IF", "NOT", "EXISTS"))
		if found && (replaces || s.hasQuery(next)) {
			return "CREATE TABLE", table, true
		}
	}
	return "", "", false
}

// hasText reports whether the statement has a string.
func (s *statement) hasText() bool {
	return slices.ContainsFunc(s.tokens, token.isText)
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

// altered looks for an ALTER TABLE that may change what is in the rows of a guarded table, or add
// rows or take them away. ALTER IGNORE TABLE deletes what a new unique index would refuse.
func (s *statement) altered(i int) (verb, table string, found bool) {
	i = s.skip(i+1, "ONLINE", "FOREIGN")
	loses := s.at(i).is("IGNORE")
	i = s.skip(i, "IGNORE")
	if !s.at(i).is("TABLE") {
		return "", "", false
	}
	for at := i; at < len(s.tokens); at++ {
		loses = loses || s.mayLose(at)
	}
	if loses {
		table, found = s.between(i+1, "")
	}
	return "ALTER TABLE", table, found
}

// mayLose reports whether an action at i may change rows, or not keep them: exchanges of
// partitions and tablespaces; inheritance and another type of a column in PostgreSQL; another
// engine in MySQL.
func (s *statement) mayLose(i int) bool {
	t := s.at(i)
	switch {
	case t.isAny("PARTITION", "SUBPARTITION", "TABLESPACE"):
		return true
	case s.grammar.dollarQuotes:
		return t.is("INHERIT") || t.is("TYPE") && (s.at(i-1).is("DATA") || s.at(i-2).isAny("ALTER", "COLUMN"))
	default:
		return s.grammar.joinedTargets && t.is("ENGINE")
	}
}
