package rawsql

import (
	"strings"
	"testing"
)

func TestOnlyReads(t *testing.T) {
	for _, c := range []struct {
		in, sql string
		want    bool
	}{
		{everywhere, "SELECT 1", true},
		{everywhere, " (select id FROM x)", true},
		{everywhere, "SELECT COUNT(*), max (id) FROM x WHERE id IN (1, 2) AND NOT EXISTS (SELECT 1)", true},
		{everywhere, "SELECT 'f()' FROM x -- f()", true},
		{everywhere, "SAVEPOINT a", true},
		{"mysql sqlite", "SAVEPOINT a; ROLLBACK TO a", false},
		{"mysql sqlite", "SELECT 1; DELETE FROM x", false},
		{everywhere, "WITH a AS (SELECT 1) SELECT * FROM a", false},
		{everywhere, "UPDATE x SET y = 1", false},
		{"mysql sqlite", "CALL f()", false},
		{"mysql sqlite", "", false},
		{"sqlite", "SELECT f()", true},
		{"postgres", "SELECT f()", false},
		{"postgres", "CALL f()", false},
		{"postgres", "SELECT count(*), sum(x) FROM a WHERE b IN ($1)", true},
		{"mysql", "SELECT f()", false},
		{"mysql", "SELECT f ()", false},
		{"mysql", "SELECT `f`()", false},
		{"mysql", "SELECT s . `count` ()", false},
		{"mysql", "SELECT MAX(f())", false},
		{"mysql", "SELECT 1 /*! , f() */", false},
		{"mysql", "SELECT 1 FROM x WHERE y = '\\'' OR f() = '\\''", false},
		{"mysql", "SELECT `a`.`id` FROM `a` JOIN `b` USING (`id`) WHERE (`a`.`x`, `a`.`y`) IN ((1, 2))", true},
	} {
		for in := range strings.FieldsSeq(c.in) {
			if got := dialects[in].grammar.OnlyReads(c.sql); got != c.want {
				t.Errorf("%s: %q: got %t, want %t", in, c.sql, got, c.want)
			}
		}
	}
}
