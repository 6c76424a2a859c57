package rawsql

import (
	"slices"
	"strings"
	"testing"
)

func TestInspect(t *testing.T) {
	suites := func(name string) bool { return strings.EqualFold(name, "suites") }
	place := func(name string) bool { return slices.Contains([]string{"path", "name", "parent_id"}, name) }
	const (
		writes = 1 << iota
		sets
		skips
		old
		opaque
	)
	for _, c := range []struct {
		what, text string
		grammar    Grammar
		want       int
	}{
		// Writes to the table.
		{"an update", "UPDATE suites SET path = 'x' WHERE id = NEW.id", MySQL, writes},
		{"in a block", "BEGIN IF NEW.id > 0 THEN UPDATE suites SET path = 'x'; END IF; END", MySQL, writes},
		{"an update with modifiers", "UPDATE LOW_PRIORITY IGNORE `suites` SET path = 'x'", MySQL, writes},
		{"an update of a join", "UPDATE others o JOIN suites s ON s.id = o.id SET s.path = 'x'", MySQL, writes},
		{"an insert without INTO", "INSERT IGNORE suites VALUES (1)", MySQL, writes},
		{"a replace without INTO", "REPLACE suites VALUES (1)", MySQL, writes},
		{"a delete by an alias", "DELETE s FROM suites s WHERE s.id = NEW.id", MySQL, writes},
		{"a delete with modifiers", "DELETE QUICK FROM suites", MySQL, writes},
		{"a comment that is executed", "BEGIN /*!50000 DELETE FROM suites */; END", MySQL, writes},
		{"MariaDB's FOR", "FOR i IN 1..3 DO UPDATE suites SET path = i; END FOR", MySQL, writes},
		{"a delete behind WITH", "BEGIN WITH d AS (DELETE FROM public.suites RETURNING id) SELECT count(*) INTO n FROM d; RETURN new; END", PostgreSQL, writes},
		{"a merge", "BEGIN MERGE INTO suites s USING o ON true WHEN MATCHED THEN DELETE; RETURN new; END", PostgreSQL, writes},
		{"of SQLite", "CREATE TRIGGER x AFTER INSERT ON others BEGIN DELETE FROM [suites]; END", SQLite, writes},
		{"of SQLite, that replaces", "CREATE TRIGGER x AFTER INSERT ON suites BEGIN UPDATE OR REPLACE suites SET note = 'x'; END", SQLite, writes},
		{"a counter and the name", "UPDATE suites SET cases = cases + 1, name = 'x'", MySQL, writes},
		{"a list of columns", "BEGIN UPDATE suites SET (cases, path) = (1, 'x'); RETURN new; END", PostgreSQL, writes},

		// No writes.
		{"a counter", "UPDATE suites SET cases = cases + 1 WHERE id = NEW.suite_id", MySQL, 0},
		{"a counter by an alias", "BEGIN UPDATE public.suites AS s SET cases = (SELECT count(*) FROM c), at = now() WHERE s.path = '/x'; RETURN new; END", PostgreSQL, 0},
		{"a counter of SQLite", "CREATE TRIGGER x AFTER INSERT ON suites BEGIN UPDATE suites SET cases = cases + 1 WHERE id = new.parent_id; END", SQLite, 0},
		{"a string", "INSERT INTO log VALUES ('update suites set path', NEW.id)", MySQL, 0},
		{"a comment", "BEGIN /* UPDATE suites SET path = 1 */ INSERT INTO log VALUES (1); END", MySQL, 0},
		{"a comment behind a hash", "BEGIN # UPDATE suites SET path = 1\n INSERT INTO log VALUES (1); END", MySQL, 0},
		{"a locking read", "BEGIN SELECT id INTO @x FROM suites FOR UPDATE; END", MySQL, 0},

		// The new row gets another value.
		{"SET", "SET NEW.path = 'x'", MySQL, sets},
		{"SET with blanks and quotes", "SET @a = 1, NEW . `path` := 'x'", MySQL, sets},
		{"SET with a comment in it", "SET NEW/**/.path = 'x'", MySQL, sets},
		{"SELECT INTO", "SELECT 1, 'x' INTO @a, NEW.path", MySQL, sets},
		{"FETCH INTO", "FETCH c INTO NEW.name", MySQL, sets},
		{"GET DIAGNOSTICS", "GET DIAGNOSTICS CONDITION 1 NEW.name = MESSAGE_TEXT", MySQL, sets},
		{"an argument that may be for output", "CALL p(1, NEW.path)", MySQL, opaque},
		{"Oracle's colon", "BEGIN :NEW.path := 'x'; END", MySQL, sets},
		{"an assignment", "BEGIN new.path = 'x'; RETURN new; END", PostgreSQL, sets},
		{"an assignment to the whole", "BEGIN IF true THEN new := r; END IF; RETURN new; END", PostgreSQL, sets},
		{"SELECT INTO the whole", "BEGIN SELECT * INTO STRICT new FROM t; RETURN new; END", PostgreSQL, sets},
		{"SELECT INTO first", `BEGIN SELECT INTO "new".path 'x'; RETURN NEW; END`, PostgreSQL, sets},
		{"a returned row", "BEGIN RETURN r; END", PostgreSQL, sets},
		{"a returned expression", "BEGIN RETURN jsonb_populate_record(NEW, '{}'); END", PostgreSQL, sets},
		{"FOR", "BEGIN FOR new IN SELECT * FROM t LOOP NULL; END LOOP; RETURN new; END", PostgreSQL, sets},
		{"RETURN NULL", "BEGIN IF old.name = 'x' THEN RETURN NULL; END IF; RETURN NEW; END", PostgreSQL, skips},
		{"RETURN OLD", "BEGIN RETURN OLD; END", PostgreSQL, old},
		{"RAISE(IGNORE)", "CREATE TRIGGER x BEFORE UPDATE ON suites BEGIN SELECT RAISE(IGNORE); END", SQLite, skips},

		// It does not.
		{"another column", "SET NEW.updated_at = NOW(), NEW.note = NEW.path", MySQL, 0},
		{"a comparison", "IF NEW.path = 'x' THEN SET @a = 1; END IF", MySQL, 0},
		{"a comparison in a SET", "SET @a = IF(1, NEW.path = 'x', 2)", MySQL, 0},
		{"a log", "INSERT INTO log (a, b) SELECT 1, NEW.path", MySQL, 0},
		{"a log of all", "BEGIN INSERT INTO log SELECT new.*; RETURN COALESCE(NEW, OLD); END", PostgreSQL, 0},
		{"an exception", "CREATE TRIGGER x BEFORE UPDATE ON suites BEGIN SELECT RAISE(ABORT, 'no'); END", SQLite, 0},
		{"SQL that is put together", "BEGIN EXECUTE format('DELETE FROM %I', 'suites'); RETURN new; END", PostgreSQL, opaque},
	} {
		t.Run(c.what, func(t *testing.T) {
			b := c.grammar.Inspect(c.text, suites, place)
			got := 0
			for bit, set := range map[int]bool{writes: b.Writes, sets: b.SetsNew, skips: b.Skips, old: b.ReturnsOld, opaque: b.Opaque} {
				if set {
					got |= bit
				}
			}
			if got != c.want {
				t.Errorf("%s: %+v", c.text, b)
			}
		})
	}
	calls := MySQL.Inspect("BEGIN CALL db.tidy; SET @a = `f` (1) + NOW(); END", suites, place).Calls
	if want := []string{"tidy", "f", "now"}; !slices.Equal(calls, want) {
		t.Errorf("calls %v, want %v", calls, want)
	}
}
