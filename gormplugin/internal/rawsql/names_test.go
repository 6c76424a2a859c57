package rawsql

import "testing"

// Which spellings are one table is the database's business.
func TestNames(t *testing.T) {
	for name, c := range map[string]struct {
		names *Names
		text  string
		want  bool
	}{
		"as registered":              {NewNames(&MySQL, "Nodes"), "Nodes", true},
		"another case":               {NewNames(&MySQL, "Nodes"), "nODES", true},
		"another case, beyond ASCII": {NewNames(&SQLite, "knöten"), "KNÖTEN", true},
		"İ is i":                     {NewNames(&MySQL, "items"), "İtems", true},
		"another name":               {NewNames(&MySQL, "nodes"), "node", false},
	} {
		if got := c.names.Has(c.text); got != c.want {
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
		{NewNames(&MySQL, "suites"), "DELETE FROM suites", true},
		{NewNames(&MySQL, "suites"), "DELETE FROM others", false},
		{NewNames(&MySQL, "kinds"), "DELETE FROM \u212ainds", true},
		{NewNames(&MySQL, "sui`tes"), "DELETE FROM `sui``tes`", true},
		{NewNames(&MySQL, "suites"), `PREPARE s FROM 'DELETE FROM s\uites'`, true},
		{NewNames(&PostgreSQL, "suites"), `DELETE FROM U&"s\0075ites"`, true},
		{NewNames(&PostgreSQL, "suites"), `DO U&'x'`, true},
		{NewNames(&PostgreSQL, "suites"), `SELECT 1 & 2`, false},
		{NewNames(&SQLite, "suites"), "DELETE FROM SUITES", true},
	} {
		if got := c.names.MayMention(c.sql); got != c.want {
			t.Errorf("%q: got %v", c.sql, got)
		}
	}
}

// A name in quotes is what the quotes stand for.
func TestFindWriteUnquotes(t *testing.T) {
	for sql, names := range map[string]*Names{
		"DELETE FROM `sui``tes`":  NewNames(&MySQL, "sui`tes"),
		`DELETE FROM "sui""tes"`:  NewNames(&PostgreSQL, `sui"tes`),
		`DELETE FROM 'sui''tes'`:  NewNames(&SQLite, "sui'tes"),
		`DELETE FROM [sui"t es]`:  NewNames(&SQLite, `sui"t es`),
		"DELETE FROM `knöten`":    NewNames(&MySQL, "KNÖTEN"),
		"DELETE FROM my.`knöten`": NewNames(&MySQL, "knöten"),
	} {
		if w, found := names.FindWrite(sql); !found {
			t.Errorf("%s: got %+v", sql, w)
		}
		if name, found := names.FirstIn(sql); !found || name != names.names[0] {
			t.Errorf("%s: the first name is %q", sql, name)
		}
	}
}
