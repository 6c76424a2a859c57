package rawsql

import (
	"strings"
	"testing"
)

func TestEndsTransaction(t *testing.T) {
	for _, c := range []struct {
		in, sql string
		want    string
	}{
		{everywhere, "COMMIT", "COMMIT"},
		{everywhere, "-- a\n commit work", "COMMIT"},
		{everywhere, "SELECT 1; COMMIT", "COMMIT"},
		{everywhere, "ROLLBACK", "ROLLBACK"},
		{everywhere, "ROLLBACK TO SAVEPOINT a", "ROLLBACK TO SAVEPOINT"},
		{everywhere, "ROLLBACK WORK TO a", "ROLLBACK TO SAVEPOINT"},
		{everywhere, "/* a */ SAVEPOINT a", "SAVEPOINT"},
		{everywhere, "SAVEPOINT \u00e9", "SAVEPOINT"},
		{everywhere, `SAVEPOINT "a"`, "SAVEPOINT"},
		{everywhere, "SAVEPOINT " + strings.Repeat("a", 64), "SAVEPOINT"},
		{everywhere, "SELECT 1; RELEASE SAVEPOINT a", "RELEASE SAVEPOINT"},
		{everywhere, "SELECT savepoint FROM x", ""},
		{everywhere, "UPDATE x SET y = 'ROLLBACK TO s'", ""},
		{"postgres sqlite", "RELEASE a", "RELEASE SAVEPOINT"},
		{"mysql", "/*! ROLLBACK TO s */", "SCRIPT"},
		{"mysql", "INSERT /*!50000 IGNORE */ INTO x VALUES (1)", "SCRIPT"},
		{"mysql", "/*!99999 /* */ SELECT */ COMMIT", "SCRIPT"},
		{"postgres sqlite", "/*!50000 COMMIT */", ""},
		{everywhere, "/* /* */ ' */ COMMIT -- '", "SCRIPT"},
		{"mysql", "EXECUTE s", "EXECUTE S"},
		{"mysql", "BEGIN NOT ATOMIC ROLLBACK TO s; END", "BEGIN"},
		{"mysql", "SET STATEMENT max_statement_time = 1 FOR ROLLBACK TO s", "SET STATEMENT"},
		{everywhere, "INSERT INTO x VALUES ('; COMMIT')", ""},
		{everywhere, "WITH a AS (SELECT 1) DELETE FROM x", ""},
		{everywhere, "CREATE TEMPORARY TABLE x (id INT)", ""},
		{"postgres sqlite", "END", "END"},
		{"postgres", "ABORT", "ABORT"},
		{"postgres", "PREPARE TRANSACTION 'x'", "PREPARE TRANSACTION"},
		{"postgres", "PREPARE s AS DELETE FROM x", ""},
		{"postgres", "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END", "END"},
		{"sqlite", "CREATE TRIGGER t AFTER INSERT ON x BEGIN DELETE FROM y; END", "END"},
		{"sqlite", "INSERT OR ROLLBACK INTO x VALUES (1)", "INSERT OR ROLLBACK"},
		{"sqlite", "INSERT OR REPLACE INTO x VALUES ('rollback')", ""},
		{"mysql", "CREATE TABLE x (id INT)", "CREATE TABLE"},
		{"mysql", "COMMIT\xa0WORK", "SCRIPT"},
		{"mysql", "CREATE OR REPLACE TEMPORARY TABLE x (id INT)", ""},
		{"mysql", "BEGIN", "BEGIN"},
		{"mysql", "SET x = 1, @@SESSION.`autocommit` := ON", "SET autocommit"},
		{"mysql", "SET PASSWORD = 'x'", "SET PASSWORD"},
		{"mysql", "SET foreign_key_checks = 0", ""},
		{"mysql", "ANALYZE TABLE x", "ANALYZE TABLE"}, //nolint:misspell // as SQL spells it
		{"mysql", "ANALYZE UPDATE x SET id = 1", ""},  //nolint:misspell // as SQL spells it
		{"mysql", "LOAD DATA INFILE 'x' INTO TABLE x", ""},
		{"mysql", "l: LOOP COMMIT; LEAVE l; END LOOP", "L"},
	} {
		for in := range strings.FieldsSeq(c.in) {
			if got, _ := EndsTransaction(dialects[in].grammar, c.sql); got != c.want {
				t.Errorf("%s: %q: got %q, want %q", in, c.sql, got, c.want)
			}
		}
	}
}
