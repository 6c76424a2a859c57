package rawsql

import "strings"

// written returns the guarded table that the word at i, if it is one that writes, has among its
// targets.
func (s *statement) written(i int) (verb, table string, found bool) {
	switch t := s.tokens[i]; {
	case t.isAny("INSERT", "REPLACE"):
		table, found = s.inserted(i)
	case t.is("UPDATE"):
		table, found = s.updated(i)
	case t.is("DELETE"):
		table, found = s.deleted(i)
	case t.is("MERGE"): // MERGE INTO [ONLY] table
		table, _, found = s.table(s.skip(i+1, "INTO"))
	case t.is("TRUNCATE"):
		table, found = s.truncated(i)
	case t.is("COPY"):
		table, found = s.copied(i)
	case t.is("LOAD"):
		table, found = s.loaded(i)
	case t.isAny("PREPARE", "EXECUTE"):
		found = s.prepares(i)
	case t.is("INTO") && s.grammar.selectInto:
		// SELECT … INTO [TEMPORARY] [TABLE] table makes a table in PostgreSQL.
		table, _, found = s.table(s.skip(i+1, "TEMPORARY", "TEMP", "UNLOGGED", "LOCAL", "GLOBAL", "TABLE"))
		return "SELECT INTO", table, found
	case t.is("CREATE"):
		return s.created(i)
	case t.is("ALTER"):
		return s.altered(i)
	}
	if !found {
		return "", "", false
	}
	return strings.ToUpper(s.tokens[i].text), table, true
}

// inserted: INSERT [IGNORE | OR IGNORE …] [INTO] table, and REPLACE likewise. As functions, both
// have parentheses.
func (s *statement) inserted(i int) (string, bool) {
	i = s.skip(i+1, "LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE", "OR", "REPLACE", "ABORT", "FAIL", "ROLLBACK", "INTO")
	if s.at(i).isSign('(') {
		return "", false
	}
	table, _, found := s.table(i)
	return table, found
}

// updated: UPDATE [OR IGNORE …] [ONLY] table, and UPDATE tables SET in MySQL. ON UPDATE, ON
// DUPLICATE KEY UPDATE and FOR UPDATE do not count. In MariaDB, FOR also stands between SET
// STATEMENT and a statement.
func (s *statement) updated(i int) (string, bool) {
	if !s.grammar.joinedTargets {
		i = s.skip(i+1, "OR", "IGNORE", "REPLACE", "ABORT", "FAIL", "ROLLBACK")
		table, _, found := s.table(i)
		return table, found
	}
	before, after := s.at(i-1), s.at(i+1)
	if before.isAny("KEY", "ON") || before.is("FOR") && after.isAny("OF", "NOWAIT", "SKIP", "WAIT", "INTO") || after.isAny("ON") {
		return "", false
	}
	return s.between(i+1, "SET")
}

// deleted: DELETE FROM tables; in MySQL also DELETE tables FROM join, and DELETE FROM tables USING
// join.
func (s *statement) deleted(i int) (string, bool) {
	if s.at(i-1).is("ON") || s.at(i+1).is("ON") {
		return "", false
	}
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

// truncated: TRUNCATE [TABLE] tables. As a function, it has parentheses.
func (s *statement) truncated(i int) (string, bool) {
	i = s.skip(i+1, "TABLE")
	if s.at(i).isSign('(') {
		return "", false
	}
	table, _, found := s.tables(i)
	return table, found
}

// copied: COPY table [(columns)] FROM. COPY table TO only reads.
func (s *statement) copied(i int) (string, bool) {
	if !s.grammar.dollarQuotes {
		return "", false
	}
	table, next, found := s.table(s.skip(i+1, "BINARY"))
	for ; found && next < len(s.tokens) && !s.at(next).is("FROM"); next++ {
		found = !s.at(next).is("TO")
	}
	return table, found
}

// loaded: LOAD DATA … INTO TABLE table.
func (s *statement) loaded(i int) (string, bool) {
	for ; i < len(s.tokens); i++ {
		if s.tokens[i].is("TABLE") {
			table, _, found := s.table(i + 1)
			return table, found
		}
	}
	return "", false
}

// prepares: PREPARE … FROM and EXECUTE IMMEDIATE run a string in MySQL, of which nobody knows what
// it is put together from.
func (s *statement) prepares(i int) bool {
	return s.grammar.joinedTargets && (s.at(i).is("PREPARE") && s.at(i+2).is("FROM") || s.at(i+1).is("IMMEDIATE"))
}
