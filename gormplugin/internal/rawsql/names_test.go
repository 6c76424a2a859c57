package rawsql

import (
	"strings"
	"testing"
)

// Which spellings are one table is the database's business.
func TestNames(t *testing.T) {
	long := strings.Repeat("n", 63)
	for name, c := range map[string]struct {
		names  *Names
		text   string
		quoted bool
		want   bool
	}{
		"MySQL at 0, as registered":       {NewNames(&MySQL, CaseExact, "Nodes"), "Nodes", false, true},
		"MySQL at 0, another case":        {NewNames(&MySQL, CaseExact, "Nodes"), "nodes", true, false},
		"MySQL at 1":                      {NewNames(&MySQL, CaseUnicode, "Nodes"), "nODES", true, true},
		"MySQL at 1, beyond ASCII":        {NewNames(&MySQL, CaseUnicode, "knöten"), "KNÖTEN", true, true},
		"MySQL at 1, İ is i":              {NewNames(&MySQL, CaseUnicode, "items"), "İtems", true, true},
		"SQLite":                          {NewNames(&SQLite, CaseASCII, "Nodes"), "NODES", true, true},
		"SQLite, beyond ASCII":            {NewNames(&SQLite, CaseASCII, "knöten"), "KNÖTEN", true, false},
		"PostgreSQL, folded":              {NewNames(&PostgreSQL, CaseFolded, "nodes"), "NODES", false, true},
		"PostgreSQL, quoted":              {NewNames(&PostgreSQL, CaseFolded, "nodes"), "NODES", true, false},
		"PostgreSQL, capitals":            {NewNames(&PostgreSQL, CaseFolded, "Nodes"), "Nodes", true, true},
		"PostgreSQL, capitals, folded":    {NewNames(&PostgreSQL, CaseFolded, "Nodes"), "Nodes", false, false},
		"PostgreSQL, cut off":             {NewNames(&PostgreSQL, CaseFolded, long+"o"), long, true, true},
		"PostgreSQL, cut off the other":   {NewNames(&PostgreSQL, CaseFolded, long), long + "o", false, true},
		"PostgreSQL, differs before that": {NewNames(&PostgreSQL, CaseFolded, long), long[1:] + "o", false, false},
	} {
		if got := c.names.Has(c.text, c.quoted); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// The quick search never misses what the lexer would find.
func TestMayMention(t *testing.T) {
	for _, c := range []struct {
		names *Names
		sql   string
		want  bool
	}{
		{NewNames(&MySQL, CaseExact, "suites"), "DELETE FROM suites", true},
		{NewNames(&MySQL, CaseExact, "suites"), "DELETE FROM others", false},
		{NewNames(&MySQL, CaseUnicode, "kinds"), "DELETE FROM \u212ainds", true},
		{NewNames(&MySQL, CaseExact, "sui`tes"), "DELETE FROM `sui``tes`", true},
		{NewNames(&MySQL, CaseExact, "suites"), `PREPARE s FROM 'DELETE FROM s\uites'`, true},
		{NewNames(&PostgreSQL, CaseFolded, "suites"), `DELETE FROM U&"s\0075ites"`, true},
		{NewNames(&PostgreSQL, CaseFolded, "suites"), `DO U&'x'`, true},
		{NewNames(&PostgreSQL, CaseFolded, "suites"), `SELECT 1 & 2`, false},
		{NewNames(&SQLite, CaseASCII, "suites"), "DELETE FROM SUITES", true},
	} {
		if got := c.names.MayMention(c.sql); got != c.want {
			t.Errorf("%q: got %v", c.sql, got)
		}
	}
}

// A name in quotes is what the quotes stand for.
func TestFindWriteUnquotes(t *testing.T) {
	for sql, names := range map[string]*Names{
		"DELETE FROM `sui``tes`":  NewNames(&MySQL, CaseExact, "sui`tes"),
		`DELETE FROM "sui""tes"`:  NewNames(&PostgreSQL, CaseFolded, `sui"tes`),
		`DELETE FROM 'sui''tes'`:  NewNames(&SQLite, CaseASCII, "sui'tes"),
		`DELETE FROM [sui"t es]`:  NewNames(&SQLite, CaseASCII, `sui"t es`),
		"DELETE FROM `knöten`":    NewNames(&MySQL, CaseUnicode, "KNÖTEN"),
		"DELETE FROM my.`knöten`": NewNames(&MySQL, CaseExact, "knöten"),
	} {
		if w, found := names.FindWrite(sql); !found {
			t.Errorf("%s: got %+v", sql, w)
		}
	}
}
