package rawsql

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// dialects know one guarded table.
var dialects = map[string]*Names{
	"mysql":    NewNames(dialect.MySQL.Grammar, "suites"),
	"postgres": NewNames(dialect.PostgreSQL.Grammar, "suites"),
	"sqlite":   NewNames(dialect.SQLite.Grammar, "suites"),
}

// everywhere stands for all dialects.
const everywhere = "mysql postgres sqlite"

func TestFindWrite(t *testing.T) {
	for _, c := range []struct {
		in, sql string
		// want is the word that refuses the text; "" where it passes.
		want string
	}{
		// What writes.
		{everywhere, "UPDATE suites SET name = 'x'", "UPDATE"},
		{everywhere, "update\n\tSuites\r\nset name = 'x'", "UPDATE"},
		{everywhere, "/* a */ -- b\n UPDATE /* c */ suites SET name = 'x'", "UPDATE"},
		{everywhere, "INSERT INTO suites (name) VALUES ('x')", "INSERT"},
		{"mysql sqlite", "REPLACE INTO suites VALUES (1)", "REPLACE"},
		{everywhere, "DELETE FROM a.b.suites", "DELETE"},
		{everywhere, `DELETE FROM "suites"`, "DELETE"},
		{"mysql sqlite", "DELETE FROM `suites`", "DELETE"},
		{"mysql sqlite", "DELETE FROM [suites]", "DELETE"},
		{"sqlite", "DELETE FROM 'suites'", "DELETE"},
		{"postgres", `DELETE FROM U&"\0073uites"`, "DELETE"},
		{"postgres sqlite", "DELETE FROM suites-- x", "DELETE"},
		{"mysql", "DELETE s FROM others AS o, suites AS s WHERE s.id = o.id", "DELETE"},
		{"postgres", "MERGE INTO suites USING others ON true WHEN MATCHED THEN DELETE", "MERGE"},
		{"mysql postgres", "TRUNCATE suites", "TRUNCATE"},
		{"postgres", "COPY suites (id, name) FROM STDIN", "COPY"},
		{"mysql", "LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE suites (id)", "LOAD"},
		{"mysql", "SET STATEMENT max_statement_time = 1 FOR UPDATE suites SET name = 'x'", "SET"},
		{"mysql", "FOR r IN (SELECT 1) DO UPDATE suites SET name = 'x'; END FOR", "SCRIPT"},
		{everywhere, "CREATE TRIGGER t AFTER INSERT ON others FOR EACH ROW UPDATE suites SET name = 'x'", "CREATE"},
		{"mysql", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM suites", "CREATE"},
		{"postgres", "CREATE RULE r AS ON INSERT TO others DO ALSO DELETE FROM suites", "CREATE"},
		{"postgres", "CREATE FUNCTION f() RETURNS void LANGUAGE sql AS 'DELETE FROM suites'", "CREATE"},

		// In doubt.
		{everywhere, "UPDATE others SET name = (SELECT name FROM suites)", "UPDATE"},
		{everywhere, "INSERT INTO others SELECT * FROM suites", "INSERT"},
		{everywhere, "UPDATE others SET name = 'suites'", "UPDATE"},
		{everywhere, "UPDATE others SET name = 'x' -- not in suites", "UPDATE"},
		{everywhere, "LOCK TABLE suites", "LOCK"},
		{everywhere, "GRANT UPDATE ON suites TO x", "GRANT"},
		{everywhere, "VALUES ((SELECT id FROM suites))", "VALUES"},
		{everywhere, "-- suites", "SCRIPT"},
		{"mysql", "WITH a AS (SELECT 1) UPDATE\xa0suites SET name = 'x'", "SCRIPT"},           // a blank in Latin 1
		{"mysql", "WITH a AS (SELECT '\\'a', '\xbf\\') UPDATE suites SET name = 1", "SCRIPT"}, // one character in GBK
		{"mysql", "WITH a AS (SELECT '\\'a', '\u4e2d\\') UPDATE suites SET name = 1", "SCRIPT"},
		{"postgres", "WITH RECURSIVE t AS (SELECT 1 AS id) CYCLE id SET c USING key UPDATE suites SET name = 'x'", "WITH"},
		{"postgres", "WITH RECURSIVE t AS (SELECT 1 AS id) SEARCH DEPTH FIRST BY id SET zfor UPDATE suites SET name = 'x'", "WITH"},
		{"postgres", "CREATE TABLE c () INHERITS (suites)", "CREATE"},
		{"postgres", "CREATE TABLE c PARTITION OF suites DEFAULT", "CREATE"},
		{everywhere, "CREATE TEMPORARY TABLE suites (id INT)", "CREATE"},
		{everywhere, "/* suites", "SCRIPT"},
		{everywhere, "SELECT * FROM suites /* a /* b */", "SCRIPT"},
		{everywhere, "UPDATE others SET kna\u017f = suites", "UPDATE"},

		// What names no guarded table.
		{everywhere, "", ""},
		{everywhere, "DELETE FROM others", ""},
		{everywhere, "DELETE FROM suites2", ""},
		{everywhere, "SELECT merged_into FROM suites", ""},
		{"mysql", "SELECT * FROM `suites` WHERE `\u540d\u79f0` LIKE '%\u4e2d%'", ""},
		{"postgres", "WITH a AS (SELECT id FROM suites FOR NO KEY UPDATE) SELECT * FROM a FOR UPDATE", ""},
		{everywhere, "DELETE FROM `test-suites`", ""},
		{everywhere, "DELETE FROM suites_old; DELETE FROM `suites-old`", ""},
		{everywhere, "UPDATE others SET name = 'a\\'", ""},
		{"postgres", "SELECT 1 & 2", ""},

		// One plain SELECT or EXPLAIN.
		{everywhere, "SELECT * FROM suites", ""},
		{everywhere, " \n((select id FROM suites) union (select 2));", ""},
		{everywhere, "/* x */ SELECT id FROM suites -- x", ""},
		{everywhere, "SELECT delete FROM suites", ""},
		{everywhere, "SELECT * FROM suites WHERE name = ';UPDATE suites SET' -- ; UPDATE", ""},
		{everywhere, "SELECT replace(name, path, name) FROM suites FOR UPDATE", ""},
		{"postgres", "SELECT * FROM suites FOR UPDATE OF suites SKIP LOCKED", ""},
		{everywhere, `SELECT * FROM suites WHERE name LIKE 'a\_%'`, ""},
		{everywhere, "WITH a AS (SELECT id FROM suites) SELECT * FROM a", ""},
		{everywhere, "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT n FROM t, suites FOR UPDATE", ""},
		{everywhere, "EXPLAIN DELETE FROM suites", ""},
		{everywhere, "EXPLAIN ANALYZE SELECT * FROM suites", ""}, //nolint:misspell // as SQL spells it
		{"mysql", "SHOW CREATE TABLE suites", ""},
		{"mysql", "DESC suites", ""},
		{"mysql", "SELECT /*!40001 SQL_NO_CACHE */ * FROM suites", "SCRIPT"},
		{"mysql", "UPDATE others SET name = 'x' /*!50000 WHERE id = 1 */", ""},
		{"sqlite", "PRAGMA table_info(suites)", ""},
		{everywhere, "SELECTED suites", "SELECTED"},

		// No plain ones.
		{everywhere, "SELECT 1; DELETE FROM suites", "SCRIPT"},
		{everywhere, ";DELETE FROM suites", "SCRIPT"},
		{everywhere, "SELECT 1; SELECT * FROM suites", "SCRIPT"},
		{"postgres", "SELECT * INTO suites FROM others", "SELECT"},
		{"postgres", "SELECT 1INTO suites", "SELECT"},
		{"mysql", "SELECT * FROM suites INTO OUTFILE 'x'", "SELECT"},
		{everywhere, "WITH a AS (SELECT 1) DELETE FROM suites", "WITH"},
		{everywhere, "WITH a AS (SELECT 1) UPDATE suites SET name = 'x'", "WITH"},
		{everywhere, "WITH a AS (SELECT 1) INSERT INTO suites SELECT * FROM a", "WITH"},
		{"sqlite", "WITH a AS (SELECT 1) REPLACE INTO suites SELECT * FROM a", "WITH"},
		{"postgres", "WITH gone AS (DELETE FROM suites RETURNING id) SELECT * FROM gone", "WITH"},
		{"postgres", "SELECT * FROM (WITH gone AS (DELETE FROM suites RETURNING id) SELECT * FROM gone) s", "SELECT"},
		{"postgres", "WITH a AS (SELECT 1), b AS MATERIALIZED (UPDATE suites SET name = 'x' RETURNING id) SELECT 1", "WITH"}, //nolint:misspell // as SQL spells it
		{"postgres", "WITH RECURSIVE a(n) AS (SELECT 1) SEARCH DEPTH FIRST BY n SET s DELETE FROM suites", "WITH"},
		{"postgres", "EXPLAIN ANALYZE DELETE FROM suites", "EXPLAIN"},     //nolint:misspell // as SQL spells it
		{"postgres", `EXPLAIN ("analyze") DELETE FROM suites`, "EXPLAIN"}, //nolint:misspell // as SQL spells it
		{"postgres", `EXPLAIN (U&"\0061nalyze") DELETE FROM suites`, "EXPLAIN"},
		{"postgres", "EXPLAIN (ANALYSE, COSTS) CREATE TABLE x AS SELECT * FROM suites", "EXPLAIN"},                   //nolint:misspell // as SQL spells it
		{"postgres", "EXPLAIN ANALYZE WITH gone AS (DELETE FROM suites RETURNING id) SELECT * FROM gone", "EXPLAIN"}, //nolint:misspell // as SQL spells it
		{"mysql", "EXPLAIN ANALYZE FORMAT = TREE DELETE FROM suites", "EXPLAIN"},                                     //nolint:misspell // as SQL spells it
		{"mysql", "ANALYZE UPDATE suites SET name = 'x'", "ANALYZE"},                                                 //nolint:misspell // as SQL spells it
		{"mysql postgres", `SELECT 'a\'; DELETE FROM suites; -- '`, "SCRIPT"},
		{"mysql", `SELECT 'a\'b', "a\"; DELETE FROM suites; -- "`, "SCRIPT"},
		{"mysql", `SELECT "\"" ; DELETE FROM suites -- "`, "SCRIPT"},
		{"mysql", "SELECT 5 --1; DELETE FROM suites", "SCRIPT"},
		{"mysql", "SELECT 1 --\x7f'\n; DELETE FROM suites -- '", "SCRIPT"},
		{"mysql", "# SELECT\nDELETE FROM suites", "DELETE"},
		{"mysql", "/*!50101 DELETE */ /*M! FROM */ suites", "SCRIPT"},
		{"mysql", "/*!50000 DELETE FROM suites */", "SCRIPT"},
		{"mysql", "/*!99999 /* */ SELECT */ DELETE FROM suites", "SCRIPT"},
		{"mysql", "SELECT 1 /*!50000 ; DELETE FROM suites */", "SCRIPT"},
		{"mysql sqlite", "SELECT 1 /* a /* b */ ; DELETE FROM suites", "SCRIPT"},
		{"postgres", "SELECT 1 /* /* */ ' */ ; DELETE FROM suites -- '", "SCRIPT"},
		{"postgres", "SELECT 1 -- a\r; DELETE FROM suites", "SCRIPT"},
		{"postgres", `SELECT E'a\''; DELETE FROM suites; -- '`, "SCRIPT"},
		{"postgres", "SELECT E'a'\n'\\'', 'b\\'; DELETE FROM suites", "SCRIPT"},
		{"postgres", "SELECT $a$ ' $a$; DELETE FROM suites -- '", "SCRIPT"},
		{"postgres", "SELECT 1$$ ' $$; DELETE FROM suites -- '", "SCRIPT"},
		{"postgres", "SELECT x$y$ FROM z; DELETE FROM suites; SELECT x$y$", "SCRIPT"},
		{"postgres", "SELECT $1; DELETE FROM suites", "SCRIPT"},
		{"mysql sqlite", "SELECT [']; DELETE FROM suites -- '", "SCRIPT"},
		{"sqlite", "\ufeffDELETE FROM suites", "DELETE"},

		// What runs a text, or hides one.
		{"mysql", "PREPARE s FROM 'DELETE FROM sui' 'tes'", "PREPARE"},
		{"mysql", `PREPARE $1 FROM 'DELETE FROM\nsuites'`, "PREPARE"},
		{"mysql", `PREPARE s FROM 'DELETE FROM\nsuites' /*! */`, "SCRIPT"},
		{"mysql", `PREPARE 1s FROM 'DELETE FROM\nsuites'`, "PREPARE"},
		{"mysql", "BEGIN NOT ATOMIC EXECUTE IMMEDIATE @x; END", "SCRIPT"},
		{"mysql", "UPDATE others SET prepare = 1", ""},
		{"postgres", "DO $$ BEGIN EXECUTE 'DELETE FROM suites'; END $$", "DO"},
		{"postgres", `DO E'BEGIN DELETE FROM su\151tes; END'`, "DO"},
		{"postgres", `DO /* /* */ */ E'BEGIN DELETE FROM su\151tes; END'`, "SCRIPT"},
		{"postgres", `DO U&'BEGIN DELETE FROM su\0069tes; END'`, "DO"},
		{"postgres", "DO 'BEGIN DELETE FROM sui'\n'tes; END'", "DO"},
		{"postgres", "CREATE OR REPLACE FUNCTION f() RETURNS void LANGUAGE sql AS 'DELETE FROM sui'\n'tes'", "CREATE"},
		{"postgres", "DO $$ BEGIN UPDATE others SET name = 'x'; END $$", ""},
		{"postgres", "INSERT INTO others VALUES (E'\\n') ON CONFLICT DO NOTHING", ""},

		// What GORM's migrators define.
		{everywhere, "CREATE TABLE `suites` (`id` integer, `values` text, PRIMARY KEY (`id`), CONSTRAINT `c` FOREIGN KEY (`p`) REFERENCES `suites`(`id`) ON DELETE CASCADE ON UPDATE CASCADE)", ""},
		{everywhere, "CREATE TABLE IF NOT EXISTS suites (a INT GENERATED ALWAYS AS (b + 1) STORED)", ""},
		{"mysql", "CREATE TABLE suites (id INT) ENGINE=InnoDB PARTITION BY RANGE (id) (PARTITION p VALUES LESS THAN (10))", ""},
		{everywhere, "CREATE UNIQUE INDEX i ON suites (name)", ""},
		{everywhere, "ALTER TABLE suites ADD COLUMN x INT, ADD type char(1)", ""},
		{everywhere, "ALTER TABLE `suites__temp` RENAME TO `suites`", ""},
		{"mysql", "ALTER TABLE suites MODIFY name VARCHAR(10), DROP COLUMN x, ADD INDEX (name), CONVERT TO CHARACTER SET utf8mb4", ""},
		{"postgres", `ALTER SEQUENCE suites_id_seq OWNED BY "suites"."id"`, ""},
		{"postgres", `COMMENT ON COLUMN "suites"."id" IS 'x'`, ""},
		{everywhere, "CREATE OR REPLACE VIEW v AS SELECT * FROM suites", ""},
		{everywhere, "DROP TABLE IF EXISTS suites CASCADE", ""},
		{"mysql", "RENAME TABLE suites TO x", ""},
		{"sqlite", "INSERT INTO `suites__temp`(`id`,`name`) SELECT `id`,`name` FROM `suites`", ""},
		{"sqlite", "INSERT INTO `suites__temp`(`id`) SELECT `id` FROM `suites`; DELETE FROM suites", "SCRIPT"},
		{"mysql postgres", "INSERT INTO `suites__temp`(`id`,`name`) SELECT `id`,`name` FROM `suites`", "INSERT"},

		// Definitions that change rows.
		{everywhere, "CREATE TABLE suites AS SELECT * FROM x", "CREATE"},
		{"postgres", "CREATE TABLE x AS WITH d AS (DELETE FROM suites RETURNING *) TABLE d", "CREATE"},
		{everywhere, "CREATE TABLE suites AS VALUES (1)", "CREATE"},
		{"mysql", "CREATE TABLE suites TABLE x", "CREATE"},
		{"mysql", "CREATE OR REPLACE TABLE suites (id INT)", "CREATE"},
		{"postgres", "CREATE TABLE suites AS EXECUTE p", "CREATE"},
		{"mysql", "ALTER TABLE suites DROP PARTITION p", "ALTER"},
		{"mysql", "ALTER TABLE suites COMMENT 'x', ENGINE 'blackhole'", "ALTER"},
		{"mysql", "ALTER IGNORE TABLE suites ADD UNIQUE (name)", "ALTER"},
		{"postgres", "ALTER TABLE suites ALTER COLUMN name TYPE text USING name::text", "ALTER"},
		{"postgres", `ALTER TABLE suites ALTER U&"\0061" TYPE text`, "ALTER"},
		{"postgres", "ALTER TABLE suites ALTER COLUMN name SET DATA TYPE numeric(10, 2)", "ALTER"},
		{"postgres", "ALTER TABLE x NO INHERIT suites", "ALTER"},
	} {
		for in := range strings.FieldsSeq(c.in) {
			if got, _ := dialects[in].FindWrite(c.sql); got != c.want {
				t.Errorf("%s: %q: got %q, want %q", in, c.sql, got, c.want)
			}
		}
	}
}

// Which spellings are one table is the database's business: in doubt, they are.
func TestFindWrite_Names(t *testing.T) {
	for _, c := range []struct {
		in, name, sql string
		want          bool
	}{
		{"mysql", "Nodes", "DELETE FROM nODES", true},
		{"sqlite", "knöten", "DELETE FROM KNÖTEN", true},
		{"mysql", "items", "DELETE FROM İtems", true},
		{"mysql", "kinds", "DELETE FROM \u212ainds", true},
		{"mysql", "nodes", "DELETE FROM node", false},
		{"mysql", "sui`tes", "DELETE FROM `sui``tes`", true},
		{"postgres", `sui"tes`, `DELETE FROM "sui""tes"`, true},
		{"sqlite", "sui'tes", `DELETE FROM 'sui''tes'`, true},
		{"sqlite", `sui"t es`, `DELETE FROM [sui"t es]`, true},
		{"mysql", "a``b", "DELETE FROM my.`a````b`", true},
	} {
		n := NewNames(dialects[c.in].grammar, "others", c.name)
		if statement, table := n.FindWrite(c.sql); (statement != "") != c.want || c.want && table != c.name {
			t.Errorf("%q: got %q, %q", c.sql, statement, table)
		}
		if name, found := n.FirstIn(c.sql[len("DELETE FROM "):]); found != c.want || found && name != c.name {
			t.Errorf("%q: the first name is %q, %t", c.sql, name, found)
		}
	}
}

func TestFirstIn(t *testing.T) {
	for _, c := range []struct {
		in, expression string
		want           bool
	}{
		{everywhere, "suites AS s", true},
		{everywhere, `others, main."Suites"`, true},
		{everywhere, "'suites'", true},
		{"postgres", `U&"\0073uites"`, true},
		{everywhere, `suites2, "test-suites"`, false},
	} {
		for in := range strings.FieldsSeq(c.in) {
			if name, found := dialects[in].FirstIn(c.expression); found != c.want {
				t.Errorf("%s: %s: got %q, %t", in, c.expression, name, found)
			}
		}
	}
}

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
		{"mysql", "SELECT s.count()", false},
		{"mysql", "SELECT MAX(f())", false},
		{"mysql", "SELECT 1 /*! , f() */", false},
		{"mysql", "SELECT 1 FROM x WHERE y = '\\'' OR f() = '\\''", false},
		{"mysql", "SELECT `a`.`id` FROM `a` JOIN `b` USING (`id`) WHERE (`a`.`x`, `a`.`y`) IN ((1, 2))", true},
	} {
		for in := range strings.FieldsSeq(c.in) {
			if got := OnlyReads(dialects[in].grammar, c.sql); got != c.want {
				t.Errorf("%s: %q: got %t, want %t", in, c.sql, got, c.want)
			}
		}
	}
}

// Whatever stands around it, a text that begins with a word that writes, and names the table, is
// refused.
func FuzzFindWrite(f *testing.F) {
	beginnings := []string{"UPDATE", "insert", "DELETE\n", "REPLACE", "MERGE", "TRUNCATE", "CALL", "/* */DELETE", "--\nUPDATE", "(DELETE", "\ufeffDELETE", "; DELETE"}
	for i, text := range []string{"", "a\\'b", "/*!5 x */", "$a$ $a$", `U&"x`, "[", "E'\\", "1e", "`x__temp`(", "SELECT", "*/ SELECT"} {
		f.Add(uint8(i), text, text)
	}
	f.Fuzz(func(t *testing.T, beginning uint8, before, after string) {
		sql := beginnings[int(beginning)%len(beginnings)] + " " + before + " suites " + after
		for in, g := range dialects {
			if statement, table := g.FindWrite(sql); statement == "" || table != "suites" {
				t.Errorf("%s: %q: got %q, %q", in, sql, statement, table)
			}
			g.FindWrite(before)
			g.FirstIn(before)
			EndsTransaction(g.grammar, before)
			OnlyReads(g.grammar, before)
		}
	})
}
