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

func TestFindWrite(t *testing.T) {
	for _, c := range []struct {
		in, sql string
		// want is the kind of statement; "" where none writes to the table.
		want string
	}{
		{everywhere, "UPDATE suites SET name = 'x'", "UPDATE"},
		{everywhere, "update\n\tSuites\r\nset name = 'x'", "UPDATE"},
		{everywhere, `UPDATE "suites" SET name = 'x'`, "UPDATE"},
		{everywhere, "UPDATE main.suites SET name = 'x'", "UPDATE"},
		{everywhere, `UPDATE "main"."suites" SET name = 'x'`, "UPDATE"},
		{everywhere, "UPDATE a.b.suites SET name = 'x'", "UPDATE"},
		{everywhere, "UPDATE suites AS s SET name = 'x'", "UPDATE"},
		{everywhere, "/* a */ -- b\n UPDATE /* c */ suites SET name = 'x'", "UPDATE"},
		{everywhere, "UPDATE others SET name = (SELECT name FROM suites LIMIT 1)", ""},
		{everywhere, "UPDATE others SET name = 'UPDATE suites SET'", ""},
		{everywhere, "UPDATE others SET suites = 1", ""},
		{everywhere, "UPDATE suites2 SET name = 'x'", ""},
		{everywhere, "UPDATE others SET name = 'x' /* UPDATE suites SET */ -- UPDATE suites SET", ""},
		{"mysql sqlite", "UPDATE `suites` SET name = 'x'", "UPDATE"},
		{"mysql", "UPDATE LOW_PRIORITY IGNORE suites SET name = 'x'", "UPDATE"},
		{"mysql", "UPDATE others o JOIN suites s ON s.id = o.id SET s.name = 'x'", "UPDATE"},
		{"mysql", "UPDATE others, suites SET suites.name = 'x'", "UPDATE"},
		{"mysql", "UPDATE others o JOIN (SELECT 1 AS x) AS d SET o.name = 'x' WHERE o.id IN (SELECT id FROM suites)", ""},
		{"postgres", "UPDATE ONLY suites SET name = 'x'", "UPDATE"},
		{"postgres", `UPDATE U&"\0073uites" SET name = 'x'`, "UPDATE"},
		{"postgres", "UPDATE others SET name = s.name FROM suites s WHERE s.id = others.id", ""},
		{"sqlite", "UPDATE OR IGNORE suites SET name = 'x'", "UPDATE"},
		{"sqlite", "UPDATE [suites] SET name = 'x'", "UPDATE"},
		{"sqlite", "UPDATE 'suites' SET name = 'x'", "UPDATE"},

		{everywhere, "INSERT INTO suites (name) VALUES ('x')", "INSERT"},
		{everywhere, "INSERT INTO suites SELECT * FROM others", "INSERT"},
		{everywhere, "INSERT INTO others SELECT * FROM suites", ""},
		{everywhere, "INSERT INTO suites (id) VALUES (1) RETURNING id", "INSERT"},
		{everywhere, "INSERT INTO others (name) VALUES ('suites')", ""},
		{"mysql", "INSERT suites VALUES (1)", "INSERT"},
		{"mysql", "INSERT DELAYED IGNORE INTO suites SET id = 1", "INSERT"},
		{"mysql", "INSERT INTO others (id) SELECT id FROM suites ON DUPLICATE KEY UPDATE name = 'x'", ""},
		{"mysql", "INSERT INTO suites (id) VALUES (1) ON DUPLICATE KEY UPDATE name = 'x'", "INSERT"},
		{"mysql", "UPDATE others SET name = INSERT(name, 1, 1, 'suites')", ""},
		{"mysql", "UPDATE others SET name = REPLACE(name, suites, 'x')", ""},
		{"mysql sqlite", "REPLACE INTO suites VALUES (1)", "REPLACE"},
		{"sqlite", "INSERT OR REPLACE INTO suites VALUES (1)", "INSERT"},
		{"postgres sqlite", "INSERT INTO others (id) SELECT id FROM suites WHERE true ON CONFLICT DO UPDATE SET name = 'x'", ""},

		{everywhere, "DELETE FROM suites", "DELETE"},
		{everywhere, "DELETE FROM suites WHERE id = 1", "DELETE"},
		{everywhere, "DELETE FROM main.suites WHERE id = 1", "DELETE"},
		{everywhere, "DELETE FROM others WHERE id IN (SELECT id FROM suites)", ""},
		{"mysql", "DELETE suites FROM suites JOIN others ON true", "DELETE"},
		{"mysql", "DELETE s FROM others AS o, suites AS s WHERE s.id = o.id", "DELETE"},
		{"mysql", "DELETE FROM others, suites USING others JOIN suites", "DELETE"},
		{"mysql", "DELETE FROM s USING suites AS s", "DELETE"},
		{"mysql", "DELETE QUICK FROM suites", "DELETE"},
		{"postgres", "DELETE FROM ONLY suites", "DELETE"},
		{"postgres", "DELETE FROM others USING suites WHERE others.id = suites.id", ""},

		{"postgres", "WITH gone AS (DELETE FROM suites RETURNING id) SELECT * FROM gone", "DELETE"},
		{"postgres", "WITH a AS (SELECT 1), b AS MATERIALIZED (UPDATE suites SET name = 'x' RETURNING id) SELECT 1", "UPDATE"}, //nolint:misspell // as SQL spells it
		{everywhere, "WITH a AS (SELECT 1) UPDATE suites SET name = 'x'", "UPDATE"},
		{everywhere, "WITH a AS (SELECT id FROM suites) UPDATE others SET name = 'x' WHERE id IN (SELECT id FROM a)", ""},
		{everywhere, "WITH a AS (SELECT id FROM suites) SELECT * FROM a", ""},
		{"postgres", "WITH a AS (SELECT id FROM suites FOR UPDATE OF suites) UPDATE others SET name = 'x'", ""},
		{"postgres", "(WITH gone AS (DELETE FROM suites RETURNING id) SELECT * FROM gone)", "DELETE"},

		{"postgres", "MERGE INTO suites USING others ON true WHEN MATCHED THEN DELETE", "MERGE"},
		{"postgres", "MERGE INTO others USING suites ON true WHEN MATCHED THEN UPDATE SET name = 'x'", ""},
		{"mysql postgres", "TRUNCATE suites", "TRUNCATE"},
		{"mysql postgres", "TRUNCATE TABLE suites", "TRUNCATE"},
		{"postgres", "TRUNCATE TABLE ONLY others, public.suites * CASCADE", "TRUNCATE"},
		{"mysql", "SELECT TRUNCATE(suites, 1) FROM others", ""},
		{"postgres", "COPY suites (id, name) FROM STDIN", "COPY"},
		{"postgres", "COPY suites TO STDOUT", ""},
		{"postgres", "COPY (DELETE FROM suites RETURNING *) TO STDOUT", "DELETE"},
		{"mysql", "LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE suites (id)", "LOAD"},
		{"mysql", "LOAD DATA INFILE 'suites' INTO TABLE others", ""},
		{"postgres", "DO $$ BEGIN UPDATE suites SET name = 'x'; END $$", "DO"},
		{"mysql", "DO GET_LOCK('suites', 1)", ""},
		{"mysql", "PREPARE s FROM 'DELETE FROM suites'", "PREPARE"},
		{"mysql", "EXECUTE IMMEDIATE 'DELETE FROM suites'", "EXECUTE"},
		{"postgres", "PREPARE s AS DELETE FROM suites", "DELETE"},
		{"mysql", "SET STATEMENT max_statement_time = 1 FOR UPDATE suites SET name = 'x'", "UPDATE"},
		{"mysql", "ANALYZE UPDATE suites SET name = 'x'", "UPDATE"},    //nolint:misspell // as SQL spells it
		{"postgres", "EXPLAIN (ANALYZE) DELETE FROM suites", "DELETE"}, //nolint:misspell // as SQL spells it
		{everywhere, "EXPLAIN DELETE FROM suites", ""},
		{"mysql", "BEGIN NOT ATOMIC DELETE FROM suites; END", "DELETE"},

		{everywhere, "SELECT 1; DELETE FROM suites", "DELETE"},
		{everywhere, "SELECT ';DELETE FROM suites'", ""},
		{everywhere, ";;DELETE FROM suites;", "DELETE"},
		{everywhere, "SELECT * FROM suites WHERE name = 'DELETE FROM suites'", ""},
		{everywhere, "(SELECT id FROM suites) UNION SELECT 1", ""},
		{"mysql postgres", "SELECT * FROM suites FOR UPDATE", ""},
		{"mysql postgres", "SELECT * FROM suites FOR UPDATE OF suites SKIP LOCKED", ""},
		{everywhere, "SELECT 'it''s' ; UPDATE suites SET name = 'it''s'", "UPDATE"},
		{everywhere, "", ""},
		{everywhere, "'", ""},
		{everywhere, "/*", ""},
		{everywhere, "--", ""},
		{everywhere, "UPDATE", ""},
		{everywhere, "INSERT INTO", ""},

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
		{"postgres", "INSERT INTO others WITH d AS (DELETE FROM suites RETURNING *) SELECT * FROM d", "DELETE"},
		{"postgres", `EXPLAIN ("analyze") DELETE FROM suites`, "DELETE"}, //nolint:misspell // as SQL spells it
		{"postgres", "SELECT * INTO suites FROM others", "SELECT INTO"},
		{"postgres", "SELECT * INTO UNLOGGED TABLE public.suites FROM others", "SELECT INTO"},
		{"postgres", "WITH a AS (SELECT 1) SELECT * INTO suites FROM a", "SELECT INTO"},
		{"postgres", "SELECT 1 ` 'a' ; DELETE FROM suites WHERE name = '`'", "DELETE"},
		{"postgres", "SELECT * INTO x FROM suites", ""},
		{"postgres", "UPDATE ONLY (suites) SET name = 'x'", "UPDATE"},
		{"postgres", "DELETE FROM ONLY (public.suites) WHERE true", "DELETE"},
		{"postgres", "UPDATE suites * SET name = 'x'", "UPDATE"},
		{"postgres", "MERGE INTO ONLY (suites) USING others ON true WHEN MATCHED THEN DELETE", "MERGE"},
		{"postgres", "DO $$ BEGIN EXECUTE 'DELETE FROM suites'; END $$", "DO"},
		{"postgres", "DO $$ BEGIN EXECUTE format('DELETE FROM %I', 'suites'); END $$", "DO"},
		{"postgres", `DO E'BEGIN DELETE FROM su\151tes; END'`, "DO"},
		{"postgres", `DO U&'BEGIN DELETE FROM su\0069tes; END'`, "DO"},
		{"postgres", "DO $$ BEGIN UPDATE others SET name = 'x'; END $$", ""},
		{"postgres", "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'DELETE FROM suites'", "CREATE FUNCTION"},
		{"postgres", "CREATE OR REPLACE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN IF true THEN UPDATE suites SET name = ''; END IF; END $$", "CREATE PROCEDURE"},
		{"postgres", "CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'DELETE FROM suites'; END $$", "CREATE FUNCTION"},
		{"postgres", "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT count(*) FROM suites'", "CREATE FUNCTION"},
		{"postgres", "CREATE FUNCTION f() RETURNS void BEGIN ATOMIC SELECT 1; DELETE FROM suites; END", "DELETE"},
		{"postgres", "CREATE RULE r AS ON INSERT TO others DO ALSO DELETE FROM suites", "DELETE"},
		{"postgres", "CREATE RULE r AS ON INSERT TO others DO INSTEAD UPDATE suites SET name = 'x'", "UPDATE"},
		{"postgres", "CREATE RULE r AS ON UPDATE TO suites DO INSTEAD NOTHING", ""},
		{"postgres", "CREATE TRIGGER t AFTER INSERT OR UPDATE OF name OR DELETE ON suites FOR EACH ROW EXECUTE FUNCTION f('suites')", ""},
		{"postgres", "CREATE TRIGGER t AFTER TRUNCATE ON suites EXECUTE FUNCTION f()", ""},
		{"postgres", "CREATE POLICY p ON suites FOR UPDATE TO x USING (true)", ""},
		{"postgres", "COPY BINARY suites FROM STDIN", "COPY"},
		{"postgres", "SELECT $1$$ $$; DELETE FROM suites; SELECT $$ $$", "DELETE"},
		{"postgres", "SELECT 1$$ $$; DELETE FROM suites; SELECT $$ $$", "DELETE"},
		{"postgres", "SELECT 1 -- a\rDELETE FROM x; DELETE FROM suites", "DELETE"},
		{"postgres", `SELECT E'a'` + "\n" + `'\''; DELETE FROM suites; SELECT 'b\'`, "DELETE"},
		{"postgres", "ALTER TABLE suites ALTER COLUMN name TYPE text USING name::text", "ALTER TABLE"},
		{"postgres", "ALTER TABLE suites ALTER COLUMN name SET DATA TYPE numeric(10, 2) USING (name)::numeric(10, 2), ALTER id TYPE bigint", "ALTER TABLE"},
		{"postgres", `ALTER TABLE "suites" ALTER COLUMN "name" TYPE text USING "name"::text`, "ALTER TABLE"},
		{"postgres", "ALTER TABLE suites ALTER COLUMN name TYPE text USING 'x'", "ALTER TABLE"},
		{"postgres", "ALTER TABLE suites ALTER COLUMN name TYPE text USING lower(name)", "ALTER TABLE"},
		{"postgres", "ALTER TABLE suites ALTER COLUMN name TYPE text USING path::text", "ALTER TABLE"},
		{"postgres", "ALTER TABLE suites ADD CONSTRAINT u UNIQUE USING INDEX i", ""},
		{"postgres", "ALTER TABLE suites ATTACH PARTITION x DEFAULT", "ALTER TABLE"},
		{"postgres", "ALTER TABLE others ATTACH PARTITION suites DEFAULT", "ALTER TABLE"},
		{"postgres", "ALTER TABLE x INHERIT suites", "ALTER TABLE"},
		{"postgres", "ALTER TABLE suites ADD CONSTRAINT c CHECK (true) NO INHERIT", "ALTER TABLE"},
		{"postgres", `UPDATE "SUITES" SET name = 'x'`, "UPDATE"},
		{"postgres", "UPDATE PUBLIC.SUITES SET name = 'x'", "UPDATE"},
		{"postgres", "INSERT INTO x SELECT 1 FROM y FOR UPDATE OF suites", ""},

		{"mysql", "FOR r IN (SELECT 1) DO UPDATE suites SET name = 'x'; END FOR", "UPDATE"},
		{"mysql", "FOR i IN 1 .. 2 DO DELETE FROM suites; END FOR", "DELETE"},
		{"mysql", "BEGIN NOT ATOMIC IF true THEN SELECT 1; ELSE UPDATE suites SET name = 'x'; END IF; END", "UPDATE"},
		{"mysql", "WHILE @x DO UPDATE suites SET name = 'x'; END WHILE", "UPDATE"},
		{"mysql", "BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR SQLEXCEPTION UPDATE suites SET name = 'x'; END", "UPDATE"},
		{"mysql", "BEGIN NOT ATOMIC PREPARE s FROM 'DELETE FROM suites'; EXECUTE s; END", "PREPARE"},
		{"mysql", `PREPARE s FROM "DELETE FROM suites"`, "PREPARE"},
		{"mysql", `PREPARE s FROM 'DELETE FROM s\uites'`, "PREPARE"},
		{"mysql", "SET STATEMENT max_statement_time = 1 FOR EXECUTE IMMEDIATE 'DELETE FROM suites'", "EXECUTE"},
		{"mysql", "DELETE FROM .suites", "DELETE"},
		{"mysql", "DELETE FROM [suites]", "DELETE"},
		{"mysql", "UPDATE {oj others LEFT JOIN suites ON true} SET suites.name = 'x'", "UPDATE"},
		{"mysql", "UPDATE others o JOIN (SELECT id FROM suites) AS s ON s.id = o.id SET o.name = 'x'", ""},
		{"mysql", "UPDATE (others, (suites)) SET suites.name = 'x'", "UPDATE"},
		{"mysql", "CREATE TRIGGER t AFTER INSERT ON others FOR EACH ROW UPDATE suites SET name = 'x'", "UPDATE"},
		{"mysql", "CREATE TRIGGER t BEFORE DELETE ON suites FOR EACH ROW INSERT INTO others VALUES (1)", ""},
		{"mysql", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM suites", "DELETE"},
		{"mysql", "CREATE PROCEDURE p() UPDATE suites SET name = 'x'", "UPDATE"},
		{"mysql", "CREATE TABLE x (id INT, suites INT, t TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, FOREIGN KEY (suites) REFERENCES suites (id) ON DELETE CASCADE ON UPDATE CASCADE)", ""},
		{"mysql", "CREATE TABLE suites SELECT * FROM x", "CREATE TABLE"},
		{"mysql", "CREATE TABLE IF NOT EXISTS suites (id INT) IGNORE SELECT * FROM x", "CREATE TABLE"},
		{"mysql", "CREATE TABLE suites TABLE x", "CREATE TABLE"},
		{"mysql", "CREATE OR REPLACE TABLE suites (id INT)", "CREATE TABLE"},
		{"mysql", "CREATE TABLE suites LIKE x", ""},
		{"mysql", "CREATE TABLE suites (id INT, x INT AS (id + 1))", ""},
		{"postgres sqlite", "CREATE TABLE suites AS SELECT * FROM x", "CREATE TABLE"},
		{"sqlite", "CREATE TABLE `suites__temp` (id integer); INSERT INTO `suites__temp` SELECT id FROM `suites`; DROP TABLE `suites`; ALTER TABLE `suites__temp` RENAME TO `suites`", ""},
		{"mysql", "ALTER TABLE suites TRUNCATE PARTITION p", "ALTER TABLE"},
		{"mysql", "ALTER TABLE suites DROP PARTITION p", "ALTER TABLE"},
		{"mysql", "ALTER TABLE others EXCHANGE PARTITION p WITH TABLE suites", "ALTER TABLE"},
		{"mysql", "ALTER TABLE others CONVERT TABLE suites TO PARTITION p", "ALTER TABLE"},
		{"mysql", "ALTER IGNORE TABLE suites ADD UNIQUE (name)", "ALTER TABLE"},
		{"mysql", "ALTER TABLE suites IMPORT TABLESPACE", "ALTER TABLE"},
		{"mysql", "ALTER TABLE suites MODIFY name VARCHAR(10), DROP COLUMN x, ADD INDEX (name), CONVERT TO CHARACTER SET utf8mb4", ""},
		{"mysql", "ALTER TABLE suites ADD PARTITION (PARTITION p VALUES LESS THAN (3))", "ALTER TABLE"},
		{"mysql", "ALTER TABLE suites ENGINE=BLACKHOLE", "ALTER TABLE"},
		{"mysql", "ALTER TABLE suites COMMENT 'x', ENGINE 'blackhole'", "ALTER TABLE"},
		{"mysql", "ALTER TABLE suites ENGINE = InnoDB", "ALTER TABLE"},
		{"mysql", "EXECUTE IMMEDIATE 'DELETE FROM sui' 'tes'", "EXECUTE"},
		{"mysql", "EXECUTE IMMEDIATE 'DELETE FROM sui' /* x */ \"tes\"", "EXECUTE"},
		{"mysql", "PREPARE s FROM 'DELETE FROM su'\n'it' 'es'", "PREPARE"},
		{"mysql", "BEGIN NOT ATOMIC EXECUTE IMMEDIATE N'DELETE FROM sui' 'tes'; END", "EXECUTE"},
		{"mysql", "EXECUTE IMMEDIATE 0x44454c4554452046524f4d20737569746573", "EXECUTE"},
		{"mysql", "EXECUTE IMMEDIATE X'44454C4554452046524F4D20737569746573'", "EXECUTE"},
		{"mysql", "EXECUTE IMMEDIATE _utf8mb4 x'44454C4554452046524F4D20737569746573'", "EXECUTE"},
		{"mysql", "EXECUTE IMMEDIATE CONCAT('DELETE FROM ', 0x737569746573)", "EXECUTE"},
		{"mysql", "EXECUTE IMMEDIATE CONCAT('DELETE FROM ', b'011100110111010101101001011101000110010101110011')", "EXECUTE"},
		{"mysql", `EXECUTE IMMEDIATE 'DELETE FROM\tsuites'`, "EXECUTE"},
		{"mysql", `PREPARE s FROM 'DELETE FROM\nsuites\nWHERE true'`, "PREPARE"},
		{"mysql", "EXECUTE IMMEDIATE 'EXECUTE IMMEDIATE ''DELETE FROM sui'' ''tes'''", "EXECUTE"},
		{"mysql", "EXECUTE IMMEDIATE 'DELETE FROM oth' 'ers'", "EXECUTE"},
		{"postgres", "DO 'BEGIN DELETE FROM sui'\n'tes; END'", "DO"},
		{"postgres", "DO $$ BEGIN EXECUTE 'DELETE FROM sui'\n'tes'; END $$", "DO"},
		{"postgres", `DO $$ BEGIN EXECUTE E'DELETE FROM su\151tes'; END $$`, "DO"},
		{"postgres", "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'DELETE FROM sui'\n'tes'", "CREATE FUNCTION"},
		{"postgres", "EXPLAIN (ANALYZE false) DELETE FROM suites", "DELETE"},          //nolint:misspell // as SQL spells it
		{"postgres", "EXPLAIN (ANALYZE false, ANALYZE) DELETE FROM suites", "DELETE"}, //nolint:misspell // as SQL spells it
		{"postgres", "EXPLAIN (ANALYZE 'on') DELETE FROM suites", "DELETE"},           //nolint:misspell // as SQL spells it
		{"postgres", "EXPLAIN ANALYZE DELETE FROM suites", "DELETE"},                  //nolint:misspell // as SQL spells it
		{"postgres", "ALTER TABLE suites ALTER name TYPE varchar(40)", "ALTER TABLE"},
		{"postgres", "ALTER TABLE suites ADD COLUMN type char(1), DROP type", ""},
		{"mysql", "RENAME TABLE suites TO x", ""},
		{"mysql", "SELECT * FROM suites INTO OUTFILE 'x'", ""},
		{"mysql", "HANDLER suites OPEN", ""},
		{"mysql", "TABLE suites", ""},
		{"mysql", "LOAD XML INFILE 'x' INTO TABLE suites", "LOAD"},
		{"mysql", "/*!99999 ' */ /*!50000 DELETE FROM suites */ -- '", "DELETE"},
		{"mysql", "/*!50000 INSERT */ INTO /*!99999 others */ suites VALUES (1)", "INSERT"},
		{"mysql", "/*!1*/ /*!2*/ /*!3*/ /*!4*/ /*!5*/ SELECT * FROM suites", "SCRIPT"},
		{"mysql", "/*!1*/ /*!2*/ /*!3*/ /*!4*/ /*!5*/ SELECT * FROM others", ""},
		{"mysql", "SELECT 1 --\x7f'\n; DELETE FROM suites -- '", "DELETE"},
		{"mysql", `SELECT 'a\'b', "a\"; DELETE FROM suites; -- "`, "DELETE"},
		{"mysql", "REPLACE suites TABLE x", "REPLACE"},
		{"mysql", "WITH c AS (SELECT 1) DELETE s FROM suites AS s JOIN c", "DELETE"},

		{"sqlite", "\xef\xbb\xbfDELETE FROM suites", "DELETE"},
		{"sqlite", "DELETE\xef\xbb\xbfFROM suites", ""},
		{"sqlite", "SELECT $a('); DELETE FROM suites; SELECT $b(')", "DELETE"},
		{"sqlite", "DELETE FROM temp.suites", "DELETE"},
		{"sqlite", `DELETE FROM "main" . 'suites' INDEXED BY i`, "DELETE"},
		{"sqlite", "CREATE TEMP TRIGGER t AFTER INSERT ON others BEGIN SELECT 1; DELETE FROM suites; END", "DELETE"},
		{"sqlite", "CREATE TRIGGER t AFTER UPDATE OF name ON suites BEGIN INSERT INTO others VALUES (1); END", ""},
		{"sqlite", "VACUUM INTO 'suites'", ""},
		{"sqlite", "PRAGMA table_info(suites)", ""},
		{"sqlite", "UPDATE SuItEs SET name = 'x'", "UPDATE"},
		{"sqlite", `UPDATE "SUITES" SET name = 'x'`, "UPDATE"},

		{"mysql", "/*!50000 DELETE FROM suites */", "DELETE"},
		{"mysql", "/*M!100100 DELETE FROM suites */", "DELETE"},
		{"mysql", "/*!99999 SELECT */ DELETE FROM suites", "DELETE"},
		{"mysql", "DELETE /*! FROM suites */", "DELETE"},
		{"postgres sqlite", "SELECT 1 /*!50000 ; DELETE FROM suites */", ""},
		{"mysql", "# DELETE FROM suites\nSELECT 1", ""},
		{"mysql", "SELECT 5 --1; DELETE FROM suites", "DELETE"},
		{"postgres sqlite", "SELECT 5 --1; DELETE FROM suites", ""},
		{"postgres", "SELECT 1 /* a /* b */ ; DELETE FROM suites */", ""},
		{"mysql sqlite", "SELECT 1 /* a /* b */ ; DELETE FROM suites", "DELETE"},
		{"mysql", `SELECT 'a\'; DELETE FROM suites; -- '`, "DELETE"},
		{"mysql", `SELECT 'a\\'; DELETE FROM suites; -- '`, "DELETE"},
		{"postgres", `SELECT E'a\'; DELETE FROM suites; -- '`, ""},
		{"postgres", `SELECT E'a''b'; DELETE FROM suites`, "DELETE"},
		{"sqlite", `SELECT 'a\'; DELETE FROM suites`, "DELETE"},
		{"postgres", "SELECT $1; DELETE FROM suites", "DELETE"},
		{"postgres", "SELECT $a$ $b$ ; DELETE FROM suites $a$", ""},
		{"postgres", "SELECT $$ $$; DELETE FROM suites", "DELETE"},
		{"postgres", "SELECT x$y$ FROM z; DELETE FROM suites; SELECT x$y$", "DELETE"},
	} {
		for in := range strings.FieldsSeq(c.in) {
			w, found := dialects[in].FindWrite(c.sql)
			if found != (c.want != "") || w.Statement != c.want {
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
	for _, sql := range []string{"UPDATE suites SET x = 'a\\'b'", "/*!5 x */", "$a$ $a$", `U&"x`, "DELETE a.b.c.* FROM (suites)", "[", "E'\\"} {
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
