package gormplugintest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/gormplugin/treeschema"
)

// doubt is a trigger whose text does not tell what it writes.
type doubt struct {
	name string
	// mysql and postgres make it; a dialect without any cannot have it.
	mysql, postgres []string
	// rows makes the rows that are there.
	rows []string
	// says is a part of what a probe finds, "" where it finds nothing.
	says     string
	severity treeschema.Severity
}

// someRows are a tree with a deleted row, and leaves.
var someRows = []string{
	"INSERT INTO branches (id, tree_id, parent_id, name, path, note) VALUES (1, 7, NULL, '', '', 'n'), (2, 7, 1, 'a', '/a', 'n'), (3, 7, 2, 'b', '/a/b', 'n')",
	"INSERT INTO branches (id, tree_id, parent_id, name, path, deleted) VALUES (4, 7, 1, 'a', '/a', '2001-01-01 00:00:00')",
	"INSERT INTO fruits (branch_id, name) VALUES (2, 'x')",
}

// doubts are triggers that only a probe can judge. On MySQL it is a procedure that may write to
// what it is given, on PostgreSQL SQL that is put together when it runs.
func doubts() []doubt {
	const (
		unsafe  = treeschema.Unsafe
		warning = treeschema.Warning
	)
	procedure := func(body, trigger string) []string {
		return []string{"DROP PROCEDURE IF EXISTS meddle", "CREATE PROCEDURE meddle(INOUT given VARCHAR(500)) " + body, "CREATE TRIGGER meddle " + trigger + " FOR EACH ROW CALL meddle(NEW.path)"}
	}
	function := func(body, trigger string) []string {
		return []string{
			"CREATE OR REPLACE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " + body + " END $$",
			"CREATE " + trigger + " FOR EACH ROW EXECUTE FUNCTION meddle()",
		}
	}
	// SQL that is put together when it runs; the table is none that the text names.
	does := func(sql, values, trigger string) []string {
		return function("EXECUTE format('"+strings.ReplaceAll(sql, "'", "''")+"', TG_TABLE_NAME, "+values+"); RETURN coalesce(new, old);", trigger)
	}
	const longer = "UPDATE %I SET path = path || '!' WHERE id = %L"
	return []doubt{
		{
			name: "one that does no harm", rows: someRows,
			mysql:    procedure("SET @seen = given", "BEFORE UPDATE ON branches"),
			postgres: function("EXECUTE format('INSERT INTO %I (name) VALUES (''seen'')', 'others'); RETURN coalesce(new, old);", "TRIGGER meddle BEFORE INSERT OR UPDATE OR DELETE ON branches"),
		},
		{
			name:     "one that does no harm, in an empty table",
			mysql:    procedure("SET @seen = given", "BEFORE INSERT ON branches"),
			postgres: function("EXECUTE 'SELECT 1'; RETURN new;", "TRIGGER meddle BEFORE INSERT ON branches"),
		},
		{
			name: "a path that changes on an insert", says: "after the insert of a row, its path is ", severity: unsafe, rows: someRows,
			mysql:    procedure("SET given = CONCAT(given, '!')", "BEFORE INSERT ON branches"),
			postgres: does(longer, "new.id", "TRIGGER meddle AFTER INSERT ON branches"),
		},
		{
			name: "a path that changes on an insert into an empty table", says: "after the insert of a row, its path is ", severity: unsafe,
			mysql:    procedure("SET given = LOWER(given)", "BEFORE INSERT ON branches"),
			postgres: does("UPDATE %I SET path = lower(path) WHERE id = %L", "new.id", "TRIGGER meddle AFTER INSERT ON branches"),
		},
		{
			name: "a path that changes on a rename", says: "after the rename of a row, its path is ", severity: unsafe, rows: someRows,
			mysql:    procedure("SET given = CONCAT(given, '!')", "BEFORE UPDATE ON branches"),
			postgres: does(longer, "new.id", "TRIGGER meddle AFTER UPDATE OF name ON branches"),
		},
		{
			name: "a path that changes when it is rewritten", says: "after the rewrite of a path, its path is ", severity: unsafe, rows: someRows,
			postgres: []string{
				does(longer, "new.id", "")[0],
				"CREATE TRIGGER meddle AFTER UPDATE ON branches FOR EACH ROW WHEN (new.name = old.name AND pg_trigger_depth() = 0) EXECUTE FUNCTION meddle()",
			},
		},
		{
			name: "a path that changes when its row moves", says: "after the move of a row, its path is ", severity: unsafe, rows: someRows,
			postgres: does(longer, "new.id", "TRIGGER meddle AFTER UPDATE OF parent_id ON branches"),
		},
		{
			name: "an update of the row above", says: "after the insert of a row, other rows of ", severity: unsafe, rows: someRows,
			postgres: does(longer, "new.parent_id", "TRIGGER meddle AFTER INSERT ON branches"),
		},
		{
			name: "a deletion of rows beside", says: "after the deletion of a row, other rows of ", severity: unsafe, rows: someRows,
			postgres: does("DELETE FROM %I WHERE id = %L AND pg_trigger_depth() = 1", "3", "TRIGGER meddle AFTER DELETE ON branches"),
		},
		{
			name: "an update when the transaction ends", says: "after the insert of a row, other rows of ", severity: unsafe, rows: someRows,
			postgres: does("UPDATE %I SET name = name || '!' WHERE id = %L", "2", "CONSTRAINT TRIGGER meddle AFTER INSERT ON branches DEFERRABLE INITIALLY DEFERRED"),
		},
		{
			name: "rows that go", says: "a row that was written is not there", severity: unsafe, rows: someRows,
			postgres: does("DELETE FROM %I WHERE id = %L", "new.id", "TRIGGER meddle AFTER INSERT ON fruits"),
		},
		{
			name: "an update of the row that a leaf hangs below", says: "after the insert of a row, other rows of branches", severity: unsafe, rows: someRows,
			postgres: function("EXECUTE format('UPDATE %I SET name = name || ''!'' WHERE id = %L', 'bran' || 'ches', new.branch_id); RETURN new;", "TRIGGER meddle AFTER INSERT ON fruits"),
		},
		{
			name: "rows that come back", says: "after the deletion of a row, other rows of ", severity: unsafe, rows: someRows,
			postgres: does("INSERT INTO %I (branch_id, name) VALUES (%L, 'back')", "old.branch_id", "TRIGGER meddle AFTER DELETE ON fruits"),
		},
		{
			name: "a constraint that a probe does not meet", says: "a probe could not be carried out", severity: warning, rows: someRows,
			mysql:    append([]string{"ALTER TABLE branches ADD CONSTRAINT short CHECK (CHAR_LENGTH(path) < 10)"}, procedure("SET @seen = given", "BEFORE UPDATE ON branches")...),
			postgres: append([]string{"ALTER TABLE branches ADD CONSTRAINT short CHECK (length(path) < 10)"}, function("EXECUTE 'SELECT 1'; RETURN new;", "TRIGGER meddle BEFORE UPDATE ON branches")...),
		},
		{
			name: "a column that must not be NULL, in an empty table", says: "a probe could not be carried out", severity: warning,
			mysql:    append([]string{"ALTER TABLE branches MODIFY note VARCHAR(10) NOT NULL"}, procedure("SET @seen = given", "BEFORE UPDATE ON branches")...),
			postgres: append([]string{"ALTER TABLE branches ALTER COLUMN note SET NOT NULL"}, function("EXECUTE 'SELECT 1'; RETURN new;", "TRIGGER meddle BEFORE UPDATE ON branches")...),
		},
		{
			name: "columns that must not be NULL, that refer to rows, and that are unique", rows: []string{
				"INSERT INTO others (id, name) VALUES (5, 'x')",
				"INSERT INTO branches (id, tree_id, name, path, note, other_id, code) VALUES (1, 7, '', '', 'good', 5, 'c')",
			},
			mysql: append([]string{
				"ALTER TABLE branches MODIFY note VARCHAR(10) NOT NULL CHECK (note = 'good'), ADD COLUMN other_id BIGINT NOT NULL, ADD COLUMN code VARCHAR(20) NOT NULL UNIQUE, ADD COLUMN number INT UNIQUE, " +
					"ADD FOREIGN KEY (other_id) REFERENCES others (id), ADD FOREIGN KEY (parent_id) REFERENCES branches (id)",
			}, procedure("SET @seen = given", "BEFORE UPDATE ON branches")...),
			postgres: append([]string{
				"ALTER TABLE branches ALTER COLUMN note SET NOT NULL, ADD CHECK (note = 'good'), ADD COLUMN other_id bigint NOT NULL REFERENCES others (id), ADD COLUMN code varchar(20) NOT NULL UNIQUE, " +
					"ADD COLUMN number int GENERATED ALWAYS AS IDENTITY UNIQUE, ADD FOREIGN KEY (parent_id) REFERENCES branches (id)",
			}, function("EXECUTE 'SELECT 1'; RETURN new;", "TRIGGER meddle BEFORE UPDATE ON branches")...),
		},
		{
			name: "a trigger of another table", says: "does not tell what it writes", severity: warning, rows: someRows,
			postgres: function("EXECUTE 'DELETE FROM ' || 'branches'; RETURN new;", "TRIGGER meddle AFTER INSERT ON others"),
		},
		{
			name: "keys that are texts", says: "after the insert of a row, its ids is ", severity: unsafe,
			rows: []string{"INSERT INTO plains (id, tree_id, name, path, ids) VALUES ('r', 't', '', '', '/r')"},
			mysql: []string{
				"DROP PROCEDURE IF EXISTS meddle", "CREATE PROCEDURE meddle(INOUT given VARCHAR(500)) SET given = CONCAT(given, '!')",
				"CREATE TRIGGER meddle BEFORE INSERT ON plains FOR EACH ROW CALL meddle(NEW.ids)",
			},
			postgres: []string{
				does("UPDATE %I SET ids = ids || '!' WHERE id = %L", "new.id", "")[0],
				"CREATE TRIGGER meddle AFTER INSERT ON plains FOR EACH ROW EXECUTE FUNCTION meddle()",
			},
		},
	}
}

// statements are those of a dialect.
func (d doubt) statements(dialect string) []string {
	return map[string][]string{"mysql": d.mysql, "postgres": d.postgres}[dialect]
}

// contents are all rows of all tables.
func (w *schemaWorld) contents() []string {
	w.Helper()
	var all []string
	for _, table := range []string{"branches", "fruits", "plains", "others"} {
		var rows []map[string]any
		w.must(w.db.Table(table).Order("id").Find(&rows).Error)
		for _, row := range rows {
			all = append(all, fmt.Sprint(table, row))
		}
	}
	return all
}

// checkProbes checks what [gormplugin.Verify] says of triggers whose text does not tell, without
// and with a probe, and that a probe leaves nothing behind.
func checkProbes(t *testing.T, d Database) {
	for _, c := range doubts() {
		w := newSchemaWorld(t, d)
		statements := c.statements(w.db.Name())
		if statements == nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			w := newSchemaWorld(t, d)
			w.clear()
			w.must(gormplugin.AutoMigrate(w.db, &Other{}))
			trigger := len(statements) - 1
			for _, statement := range slices.Concat(statements[:trigger], c.rows, statements[trigger:]) {
				w.exec(statement)
			}
			before := w.contents()
			found := w.findings()
			if len(found) != 1 || found[0].Check != treeschema.Triggers || found[0].Severity != treeschema.Warning || found[0].Advice == "" {
				t.Fatalf("without a probe: found %v, want a warning", found)
			}
			probed := gormplugin.Verify(gormplugin.Probing(w.db))
			if after := w.contents(); !slices.Equal(after, before) {
				t.Errorf("the rows were\n%q\nand are\n%q", before, after)
			}
			if c.says == "" {
				w.must(probed)
				return
			}
			lacks, ok := errors.AsType[*gormplugin.SchemaError](probed)
			if !ok || len(lacks.Findings) != 1 || lacks.Findings[0].Severity != c.severity || !strings.Contains(lacks.Findings[0].Missing, c.says) {
				t.Fatalf("with a probe: found %v, want %q (%v)", probed, c.says, c.severity)
			}
			for _, statement := range lacks.Findings[0].Statements {
				w.exec(statement)
			}
			if found := w.findings(); c.severity == treeschema.Unsafe && found != nil {
				t.Errorf("after the statements: %v", found)
			}
		})
	}
}
