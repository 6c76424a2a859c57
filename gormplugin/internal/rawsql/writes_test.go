package rawsql

import (
	"strings"
	"testing"
)

// dialects know one guarded table.
var dialects = map[string]*Names{
	"mysql":    NewNames(&MySQL, "suites"),
	"postgres": NewNames(&PostgreSQL, "suites"),
	"sqlite":   NewNames(&SQLite, "suites"),
}

// everywhere stands for all dialects.
const everywhere = "mysql postgres sqlite"

// What the databases' parsers can decide is in the corpus of sqloracle. Here are the names of
// statements, and what no parser decides: bodies of routines and triggers, and texts that are run.
func TestFindWrite(t *testing.T) {
	for _, c := range []struct {
		in, sql string
		// want is the kind of statement; "" where none writes to the table.
		want string
	}{
		{everywhere, "UPDATE suites SET name = 'x'", "UPDATE"},

		{everywhere, "INSERT INTO suites (name) VALUES ('x')", "INSERT"},
		{"mysql sqlite", "REPLACE INTO suites VALUES (1)", "REPLACE"},

		{everywhere, "DELETE FROM suites", "DELETE"},

		{"postgres", "MERGE INTO suites USING others ON true WHEN MATCHED THEN DELETE", "MERGE"},
		{"mysql postgres", "TRUNCATE suites", "TRUNCATE"},
		{"postgres", "COPY suites (id, name) FROM STDIN", "COPY"},
		{"postgres", "COPY suites TO STDOUT", ""},
		{"postgres", "COPY (DELETE FROM suites RETURNING *) TO STDOUT", "DELETE"},
		{"mysql", "LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE suites (id)", "LOAD"},
		{"mysql", "LOAD DATA INFILE 'suites' INTO TABLE others", ""},
		{"postgres", "DO $$ BEGIN UPDATE suites SET name = 'x'; END $$", "DO"},
		{"mysql", "DO GET_LOCK('suites', 1)", ""},
		{"postgres", "INSERT INTO others VALUES ($$; DELETE FROM suites; $$)", ""},
		{"mysql", "UPDATE others JOIN (SELECT id FROM suites) s ON s.id = others.id SET x = 1", ""},
		{"mysql", "PREPARE s FROM 'DELETE FROM suites'", "PREPARE"},
		{"mysql", "EXECUTE IMMEDIATE 'DELETE FROM suites'", "EXECUTE"},
		{"mysql", "UPDATE others SET prepare = (SELECT id FROM suites)", ""},
		{"postgres", "PREPARE s AS DELETE FROM suites", "DELETE"},
		{"mysql", "SET STATEMENT max_statement_time = 1 FOR UPDATE suites SET name = 'x'", "UPDATE"},
		{everywhere, "EXPLAIN DELETE FROM suites", ""},

		{everywhere, "", ""},

		{everywhere, "ALTER TABLE suites ADD COLUMN x INT", ""},
		{everywhere, "CREATE INDEX i ON suites (name)", ""},
		{everywhere, "CREATE TRIGGER t AFTER UPDATE ON suites FOR EACH ROW SET x = 1", ""},
		{everywhere, "DROP TABLE suites", ""},
		{everywhere, "CREATE TABLE x AS SELECT * FROM suites", ""},
		{"mysql postgres", "GRANT UPDATE, DELETE ON suites TO x", ""},
		{"mysql postgres", "LOCK TABLES suites WRITE", ""},

		{"postgres", "CREATE TABLE x AS WITH d AS (DELETE FROM suites RETURNING *) SELECT * FROM d", "DELETE"},
		{"postgres", "CREATE TEMP TABLE x AS WITH d AS (UPDATE suites SET name = 'x' RETURNING *) TABLE d", "UPDATE"},
		{"postgres", "EXPLAIN (ANALYZE) CREATE TABLE x AS WITH d AS (DELETE FROM suites RETURNING *) SELECT 1", "DELETE"}, //nolint:misspell // as SQL spells it
		{"postgres", `EXPLAIN ("analyze") DELETE FROM suites`, "DELETE"},                                                  //nolint:misspell // as SQL spells it
		{"postgres", "SELECT * INTO suites FROM others", "SELECT INTO"},
		{"postgres", "DO $$ BEGIN EXECUTE 'DELETE FROM suites'; END $$", "DO"},
		{"postgres", `DO E'BEGIN DELETE FROM su\151tes; END'`, "DO"},
		{"postgres", `DO U&'BEGIN DELETE FROM su\0069tes; END'`, "DO"},
		{"postgres", "DO $$ BEGIN UPDATE others SET name = 'x'; END $$", ""},
		{"postgres", "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'DELETE FROM suites'", "CREATE FUNCTION"},
		{"postgres", "CREATE OR REPLACE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN IF true THEN UPDATE suites SET name = ''; END IF; END $$", "CREATE PROCEDURE"},
		{"postgres", "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DELETE FROM suites'; END $$", "CREATE FUNCTION"},
		{"postgres", "CREATE FUNCTION f() RETURNS void BEGIN ATOMIC SELECT 1; DELETE FROM suites; END", "DELETE"},
		{"postgres", "CREATE RULE r AS ON INSERT TO others DO ALSO DELETE FROM suites", "DELETE"},
		{"postgres", "CREATE RULE r AS ON INSERT TO others DO INSTEAD UPDATE suites SET name = 'x'", "UPDATE"},
		{"postgres", "CREATE RULE r AS ON UPDATE TO suites DO INSTEAD NOTHING", ""},
		{"postgres", "CREATE TRIGGER t AFTER INSERT OR UPDATE OF name OR DELETE ON suites FOR EACH ROW EXECUTE FUNCTION f('suites')", ""},
		{"postgres", "CREATE TRIGGER t AFTER TRUNCATE ON suites EXECUTE FUNCTION f()", ""},
		{"postgres", "CREATE POLICY p ON suites FOR UPDATE TO x USING (true)", ""},
		{"postgres", "COPY BINARY suites FROM STDIN", "COPY"},
		{"postgres", `SELECT E'a'` + "\n" + `'\''; DELETE FROM suites; SELECT 'b\'`, "DELETE"},
		{"postgres", "ALTER TABLE suites ALTER COLUMN name TYPE text USING name::text", "ALTER TABLE"},
		{"postgres", "ALTER TABLE suites ALTER COLUMN name SET DATA TYPE numeric(10, 2) USING (name)::numeric(10, 2), ALTER id TYPE bigint", "ALTER TABLE"},
		{"postgres", "ALTER TABLE suites ADD CONSTRAINT u UNIQUE USING INDEX i", ""},

		{"mysql", "FOR r IN (SELECT 1) DO UPDATE suites SET name = 'x'; END FOR", "UPDATE"},
		{"mysql", "BEGIN NOT ATOMIC IF true THEN SELECT 1; ELSE UPDATE suites SET name = 'x'; END IF; END", "UPDATE"},
		{"mysql", "BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR SQLEXCEPTION UPDATE suites SET name = 'x'; END", "UPDATE"},
		{"mysql", "BEGIN NOT ATOMIC PREPARE s FROM 'DELETE FROM suites'; EXECUTE s; END", "PREPARE"},
		{"mysql", `PREPARE s FROM "DELETE FROM suites"`, "PREPARE"},
		{"mysql", "SET STATEMENT max_statement_time = 1 FOR EXECUTE IMMEDIATE 'DELETE FROM suites'", "EXECUTE"},
		{"mysql", "DELETE FROM [suites]", "DELETE"},
		{"mysql", "CREATE TRIGGER t AFTER INSERT ON others FOR EACH ROW UPDATE suites SET name = 'x'", "UPDATE"},
		{"mysql", "CREATE TRIGGER t BEFORE DELETE ON suites FOR EACH ROW INSERT INTO others VALUES (1)", ""},
		{"mysql", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM suites", "DELETE"},
		{"mysql", "CREATE TABLE x (id INT, suites INT, t TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, FOREIGN KEY (suites) REFERENCES suites (id) ON DELETE CASCADE ON UPDATE CASCADE)", ""},
		{"mysql", "CREATE TABLE suites TABLE x", "CREATE TABLE"},
		{"mysql", "CREATE TABLE IF NOT EXISTS suites (id INT) IGNORE SELECT * FROM x", "CREATE TABLE"},
		{"mysql", "CREATE OR REPLACE TABLE suites (id INT)", "CREATE TABLE"},
		{"mysql", "CREATE TABLE suites LIKE x", ""},
		{"postgres sqlite", "CREATE TABLE suites AS VALUES (1)", "CREATE TABLE"},
		{"sqlite", "CREATE TABLE `suites__temp` (id integer); INSERT INTO `suites__temp` SELECT id FROM `suites`; DROP TABLE `suites`; ALTER TABLE `suites__temp` RENAME TO `suites`", ""},
		{"mysql", "ALTER TABLE suites TRUNCATE PARTITION p", "ALTER TABLE"},
		{"mysql", "ALTER TABLE suites DROP PARTITION p", "ALTER TABLE"},
		{"mysql", "ALTER IGNORE TABLE suites ADD UNIQUE (name)", "ALTER TABLE"},
		{"mysql", "ALTER TABLE suites MODIFY name VARCHAR(10), DROP COLUMN x, ADD INDEX (name), CONVERT TO CHARACTER SET utf8mb4", ""},
		{"mysql", "EXECUTE IMMEDIATE 'DELETE FROM sui' 'tes'", "EXECUTE"},
		{"mysql", "BEGIN NOT ATOMIC EXECUTE IMMEDIATE N'DELETE FROM sui' 'tes'; END", "EXECUTE"},
		{"postgres", "DO 'BEGIN DELETE FROM sui'\n'tes; END'", "DO"},
		{"postgres", "EXPLAIN (ANALYZE false) DELETE FROM suites", "DELETE"}, //nolint:misspell // as SQL spells it
		{"postgres", "EXPLAIN ANALYZE DELETE FROM suites", "DELETE"},         //nolint:misspell // as SQL spells it
		{"postgres", "ALTER TABLE suites ADD COLUMN type char(1), DROP type", ""},
		{everywhere, "/* x */ SELECT delete FROM suites", ""},
		{"mysql", "/*!1*/ /*!2*/ /*!3*/ /*!4*/ /*!5*/ SELECT * FROM suites", "SCRIPT"},
		{"mysql", "/*!1*/ /*!2*/ /*!3*/ /*!4*/ /*!5*/ SELECT * FROM others", ""},
		{"mysql", "/* 1 */ /*!2*/ SELECT * FROM suites", ""},
		{"mysql", "SELECT 1 --\x7f'\n; DELETE FROM suites -- '", "DELETE"},

		{"sqlite", "\xef\xbb\xbfDELETE FROM suites", "DELETE"},
		{"sqlite", "DELETE\xef\xbb\xbfFROM suites", ""},
		{"sqlite", "CREATE TEMP TRIGGER t AFTER INSERT ON others BEGIN SELECT 1; DELETE FROM suites; END", "DELETE"},
		{"sqlite", "CREATE TRIGGER t AFTER UPDATE OF name ON suites BEGIN INSERT INTO others VALUES (1); END", ""},
	} {
		for in := range strings.FieldsSeq(c.in) {
			w, found := dialects[in].FindWrite(c.sql)
			if found != (c.want != "") || w.Statement != c.want || found && strings.Contains(c.sql, "suites") != (w.Table == "suites") {
				t.Errorf("%s: %q: got %+v, want %q", in, c.sql, w, c.want)
			}
		}
	}
}

func TestIsPlainRead(t *testing.T) {
	for sql, want := range map[string]bool{
		"SELECT * FROM suites":                true,
		" \n((select 1) union (select 2))":    true,
		"SELECT 1; DELETE FROM suites":        false,
		"SELECTED":                            false,
		"SELECT":                              false,
		"/* */ SELECT 1":                      false,
		"WITH a AS (SELECT 1) SELECT 1":       false,
		"UPDATE suites SET name = (SELECT 1)": false,
		"":                                    false,
	} {
		if got := MySQL.isPlainRead(sql); got != want {
			t.Errorf("%q: %v, want %v", sql, got, want)
		}
	}
}

// Whatever the text is, reading it comes to an end, and what is found is one of the names that were
// asked for.
func FuzzFindWrite(f *testing.F) {
	for _, sql := range []string{"UPDATE suites SET x = 'a\\'b'", "/*!5 x */", "$a$ $a$", `U&"x`, "DELETE a.b.c.* FROM (suites)", "[", "E'\\", "1e"} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		for _, g := range dialects {
			g.grammar.EndsTransaction(sql)
			w, found := g.FindWrite(sql)
			if found && w.Table != "" && !g.Has(w.Table) && !strings.Contains(strings.ToLower(sql), `u&"`) {
				t.Errorf("%q: %+v", sql, w)
			}
		}
	})
}

func BenchmarkFindWrite(b *testing.B) {
	const sql = "INSERT INTO others (id, name, created_at) SELECT s.id, s.name, NOW() FROM suites AS s WHERE s.plan_id = ? AND s.path >= ? AND s.path < ?"
	for b.Loop() {
		dialects["mysql"].FindWrite(sql)
	}
}
