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

// exchanges are the actions of an ALTER TABLE that add rows to a table or take rows away.
var exchanges = [][2]string{
	{"TRUNCATE", "PARTITION"}, {"DROP", "PARTITION"}, {"EXCHANGE", "PARTITION"}, {"TRUNCATE", "SUBPARTITION"},
	{"CONVERT", "PARTITION"}, {"CONVERT", "TABLE"}, {"ATTACH", "PARTITION"}, {"DETACH", "PARTITION"},
	{"DISCARD", "TABLESPACE"}, {"IMPORT", "TABLESPACE"}, {"DISCARD", "PARTITION"}, {"IMPORT", "PARTITION"},
}

// altered looks for actions of an ALTER TABLE that change rows of a guarded table, as the one that
// is altered or as the other one. ALTER IGNORE TABLE deletes what a new unique index would refuse.
func (s *statement) altered(i int) (verb, table string, found bool) {
	i = s.skip(i+1, "ONLINE", "FOREIGN")
	ignores := s.at(i).is("IGNORE")
	i = s.skip(i, "IGNORE")
	if !s.at(i).is("TABLE") {
		return "", "", false
	}
	table, i, found = s.table(s.behind(i+1, "IF", "EXISTS"))
	if found && ignores {
		return "ALTER TABLE", table, true
	}
	for ; i < len(s.tokens); i++ {
		other, named := s.exchanged(i)
		switch {
		case named:
			return "ALTER TABLE", other, true
		case found && (s.isExchange(i) || s.isInherit(i) || s.rewrites(i) || s.cuts(i) || s.forgets(i)):
			return "ALTER TABLE", table, true
		}
	}
	return "", "", false
}

// isExchange reports whether an action at i is one of the exchanges.
func (s *statement) isExchange(i int) bool {
	for _, action := range exchanges {
		if s.at(i).is(action[0]) && s.at(i+1).is(action[1]) {
			return true
		}
	}
	return false
}

// isInherit reports whether an action at i is PostgreSQL's [NO] INHERIT table, which a constraint's
// NO INHERIT is not.
func (s *statement) isInherit(i int) bool {
	return s.grammar.dollarQuotes && s.at(i).is("INHERIT") && s.canName(s.at(i+1))
}

// exchanged returns the guarded table that an exchange at i names beside the one that is altered.
func (s *statement) exchanged(i int) (string, bool) {
	switch {
	case s.isInherit(i):
		table, _, found := s.table(i + 1)
		return table, found
	case s.isExchange(i):
		return s.between(i+2, "")
	default:
		return "", false
	}
}

// rewrites reports whether there is a USING at i by which PostgreSQL's ALTER COLUMN … TYPE … USING
// gives a column other values than its own, cast.
func (s *statement) rewrites(i int) bool {
	if !s.grammar.dollarQuotes || !s.at(i).is("USING") {
		return false
	}
	typed := i
	for ; typed > 0 && !s.at(typed).is("TYPE"); typed-- {
		if s.at(typed).is("ADD") {
			return false // a constraint's USING INDEX
		}
	}
	column := s.at(typed - 1)
	if column.is("DATA") && s.at(typed-2).is("SET") {
		column = s.at(typed - 3)
	}
	return typed > 0 && !s.isCast(i+1, column)
}
