package rawsql

import (
	"strings"
	"testing"
)

func TestMayGoBackUnseen(t *testing.T) {
	for _, c := range []struct {
		in, sql string
		want    bool
	}{
		{everywhere, "ROLLBACK TO s", false},
		{everywhere, "/* a */ rollback work to savepoint s;", false},
		{everywhere, "SAVEPOINT s", false},
		{everywhere, "RELEASE SAVEPOINT s", false},
		{everywhere, "SELECT 'ROLLBACK TO s'", false},
		{everywhere, "UPDATE x SET y = 'ROLLBACK TO s'", false},
		{everywhere, "INSERT INTO x VALUES ('CALL p()')", false},
		{everywhere, "CREATE TABLE x (id INT)", false},
		{everywhere, "SELECT 1; SELECT 2", false},
		{"mysql sqlite", "SAVEPOINT s; ROLLBACK TO s", true},
		{"mysql sqlite", "SELECT 1; ROLLBACK TO s", true},
		{"mysql sqlite", "ROLLBACK TO s; SELECT 1", true},
		{"mysql sqlite", "SAVEPOINT s; INSERT INTO x VALUES (1)", true},
		{"postgres", "SAVEPOINT s; ROLLBACK TO s", false}, // an error undoes all of it
		{"postgres sqlite", "CALL p()", false},
		{"postgres", "DO 'BEGIN PERFORM 1; END'", false},
		{"mysql", "CALL p()", true},
		{"mysql", "call p", true},
		{"mysql", "EXECUTE s", true},
		{"mysql", "EXECUTE IMMEDIATE 'ROLLBACK TO s'", true},
		{"mysql", "EXECUTE IMMEDIATE CONCAT('ROLL', 'BACK TO s')", true},
		{"mysql", "PREPARE s FROM 'SELECT 1'", false},
		{"mysql", "/*! ROLLBACK TO s */", true},
		{"mysql", "/*!50000 ROLLBACK */ TO s", true},
		{"mysql", "/*M!100000 ROLLBACK TO s */", true},
		{"mysql", "ROLLBACK /*! TO */ s", true},
		{"mysql", "ROLLBACK TO /*! s */", true},
		{"mysql", "/* CALL p() */ DO 1", false},
		{"mysql", "DO 1 # CALL p()", false},
		{"mysql", "SET @a = 'CALL'", false},
		{"mysql", "SET STATEMENT max_statement_time = 1 FOR ROLLBACK TO s", true},
		{"mysql", "BEGIN NOT ATOMIC ROLLBACK TO s; END", true},
		{"mysql", "IF TRUE THEN CALL p(); END IF", true},
		{"mysql", "SELECT 1; CALL p()", true},
		{"mysql", "/*!1 a */ /*!2 b */ /*!3 c */ /*!4 d */ /*!5 CALL p() */", true},
		{"sqlite", "/*! ROLLBACK TO s */", false},
	} {
		for in := range strings.FieldsSeq(c.in) {
			if got := dialects[in].grammar.MayGoBackUnseen(c.sql); got != c.want {
				t.Errorf("%s: %q: got %t, want %t", in, c.sql, got, c.want)
			}
		}
	}
}

func TestSavepointNames(t *testing.T) {
	const same, other, perhaps = "same", "other", "perhaps"
	for _, c := range []struct {
		in, a, b string
		want     string
	}{
		{everywhere, "s", "s", same},
		{everywhere, "s", "S", same},
		{everywhere, "s", "t", other},
		{everywhere, "s", "s1", other},
		{everywhere, "\u00e9", "\u00e9", same},
		{everywhere, `"s"`, "s", same},
		{"mysql sqlite", `"S"`, "s", same},
		{"mysql sqlite", "`S`", "s", same},
		{"mysql", "\u00e9", "\u00c9", perhaps},
		{"mysql", "\u00e9", "e", perhaps},
		{"mysql", "`s `", "s", perhaps},
		{"mysql", "`s\u200b`", "s", perhaps},
		{"mysql", "/*! s */", "t", perhaps},
		{"sqlite", "\u00e9", "\u00c9", other},
		{"sqlite", "'S'", "[s]", same},
		{"postgres", `"S"`, "s", other},
		{"postgres", `"S"`, "S", other},
		{"postgres", `"\u00e9"`, `U&"\00e9"`, perhaps},
		{"postgres", `U&"s"`, "t", perhaps},
		{"postgres", "\u00e9", "\u00c9", perhaps},
		{"postgres", "\"\u00e9\"", "\"\u00c9\"", other},
		{"postgres", "\"\u00e9\"", "\u00e9", perhaps},
		{"postgres", strings.Repeat("a", 63) + "b", strings.Repeat("a", 63) + "c", same},
		{"mysql sqlite", strings.Repeat("a", 63) + "b", strings.Repeat("a", 63) + "c", other},
	} {
		for in := range strings.FieldsSeq(c.in) {
			name := func(spelling string) SavepointName {
				steps, _ := dialects[in].grammar.Savepoints("SAVEPOINT " + spelling)
				return steps[0].Name
			}
			for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
				got := map[[2]bool]string{{true, true}: same, {false, true}: other, {true, false}: perhaps}
				may, certain := name(pair[0]).Same(name(pair[1]))
				if got[[2]bool{may, certain}] != c.want {
					t.Errorf("%s: %s and %s: got %t, certain: %t, want %s", in, pair[0], pair[1], may, certain, c.want)
				}
			}
		}
	}
}
