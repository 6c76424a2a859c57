package gormplugintest

import "github.com/pathlock-go/pathlock/gormplugin/treeschema"

// behindFlaws are ways in which a database writes other rows than those that it was told to, and
// what only looks like one.
func behindFlaws() []flaw {
	const (
		unsafe  = treeschema.Unsafe
		warning = treeschema.Warning
	)
	function := func(name, body string) string {
		return "CREATE OR REPLACE FUNCTION " + name + "() RETURNS trigger LANGUAGE plpgsql AS $$ " + body + " $$"
	}
	before := func(name string) string {
		return "CREATE TRIGGER " + name + " BEFORE UPDATE ON branches FOR EACH ROW EXECUTE FUNCTION " + name + "()"
	}
	return []flaw{
		{
			name: "rows at the top with 0 beside NULL", want: []treeschema.Check{treeschema.TopRows, treeschema.Paths}, severity: unsafe,
			mysql: []string{
				"ALTER TABLE branches DROP INDEX branches_path, DROP INDEX branches_top, ADD KEY branches_path (tree_id, path)",
				"ALTER TABLE branches DROP COLUMN branches_top",
				"ALTER TABLE branches ADD COLUMN branches_top BIGINT AS (IF(parent_id IS NULL AND deleted IS NULL, tree_id, NULL)) VIRTUAL, ADD UNIQUE KEY old (branches_top, name)",
				"INSERT INTO branches (tree_id, parent_id, name, path) VALUES (1, 0, 'zero', '/zero')",
			},
			postgres: []string{
				"DROP INDEX branches_path", `CREATE INDEX branches_path ON branches (tree_id, path COLLATE "C")`, "DROP INDEX branches_top",
				"CREATE UNIQUE INDEX old ON branches (tree_id, name) WHERE parent_id IS NULL AND deleted IS NULL",
				"INSERT INTO branches (tree_id, parent_id, name, path) VALUES (1, 0, 'zero', '/zero')",
			},
			sqlite: []string{
				"DROP INDEX branches_path", "CREATE INDEX branches_path ON branches (tree_id, path)", "DROP INDEX branches_top",
				"CREATE UNIQUE INDEX old ON branches (tree_id, name) WHERE parent_id IS NULL AND deleted IS NULL",
				"INSERT INTO branches (tree_id, parent_id, name, path) VALUES (1, 0, 'zero', '/zero')",
			},
		},
		{
			name: "rows at the top, of which an index leaves out those with 0", want: []treeschema.Check{treeschema.TopRows, treeschema.Paths}, severity: treeschema.Advice,
			mysql: []string{
				"ALTER TABLE branches DROP INDEX branches_path, DROP INDEX branches_top, ADD KEY branches_path (tree_id, path)",
				"ALTER TABLE branches DROP COLUMN branches_top",
				"ALTER TABLE branches ADD COLUMN branches_top BIGINT AS (IF(parent_id IS NULL AND deleted IS NULL, tree_id, NULL)) VIRTUAL, ADD UNIQUE KEY old (branches_top, name)",
			},
			postgres: []string{
				"DROP INDEX branches_path", `CREATE INDEX branches_path ON branches (tree_id, path COLLATE "C")`, "DROP INDEX branches_top",
				"CREATE UNIQUE INDEX old ON branches (tree_id, name) WHERE parent_id IS NULL AND deleted IS NULL",
			},
			sqlite: []string{
				"DROP INDEX branches_path", "CREATE INDEX branches_path ON branches (tree_id, path)", "DROP INDEX branches_top",
				"CREATE UNIQUE INDEX old ON branches (tree_id, name) WHERE parent_id IS NULL AND deleted IS NULL",
			},
		},
		{
			name: "rows at the top where a foreign key keeps 0 out", want: []treeschema.Check{treeschema.Paths}, severity: treeschema.Advice,
			postgres: []string{
				"DROP INDEX branches_path", `CREATE INDEX branches_path ON branches (tree_id, path COLLATE "C")`, "DROP INDEX branches_top",
				"CREATE UNIQUE INDEX old ON branches (tree_id, name) WHERE parent_id IS NULL AND deleted IS NULL",
				"ALTER TABLE branches ADD CONSTRAINT up FOREIGN KEY (parent_id) REFERENCES branches (id)",
			},
		},
		{
			name: "rows at the top under COALESCE", want: []treeschema.Check{treeschema.Paths}, severity: treeschema.Advice,
			postgres: []string{
				"DROP INDEX branches_path", `CREATE INDEX branches_path ON branches (tree_id, path COLLATE "C")`, "DROP INDEX branches_top",
				"CREATE UNIQUE INDEX old ON branches (tree_id, COALESCE(parent_id, 0), name) WHERE deleted IS NULL",
			},
			sqlite: []string{
				"DROP INDEX branches_path", "CREATE INDEX branches_path ON branches (tree_id, path)", "DROP INDEX branches_top",
				"CREATE UNIQUE INDEX old ON branches (tree_id, COALESCE(parent_id, 0), name) WHERE deleted IS NULL",
			},
		},
		{
			name: "conflicts that replace rows", want: []treeschema.Check{treeschema.Conflicts, treeschema.Conflicts}, severity: unsafe, byHand: true,
			sqlite: []string{
				"DROP TABLE fruits",
				"CREATE TABLE fruits (id INTEGER PRIMARY KEY, branch_id INT, name TEXT NOT NULL ON CONFLICT IGNORE DEFAULT ('ON CONFLICT FAIL'), UNIQUE (branch_id, name) ON CONFLICT REPLACE)",
			},
		},
		{
			name: "conflicts that abort, and a default for NULL", want: nil,
			sqlite: []string{
				"DROP TABLE fruits",
				"CREATE TABLE fruits (id INTEGER PRIMARY KEY, branch_id INT, name TEXT NOT NULL ON CONFLICT REPLACE DEFAULT '', UNIQUE (branch_id, name) ON CONFLICT ABORT)",
			},
		},
		{
			name: "a table that inherits", want: []treeschema.Check{treeschema.Inheritance}, severity: unsafe, byHand: true,
			postgres: []string{"CREATE TABLE heirs () INHERITS (branches)"},
		},
		{
			name: "a rule in the place of a write", want: []treeschema.Check{treeschema.Rules}, severity: unsafe,
			postgres: []string{"CREATE RULE keep AS ON DELETE TO branches DO INSTEAD UPDATE branches SET deleted = now() WHERE id = old.id"},
		},
		{
			name: "a rule beside a write", want: nil,
			postgres: []string{"CREATE RULE note AS ON UPDATE TO branches DO ALSO INSERT INTO others (name) VALUES (old.name)"},
		},
		{
			name: "a view", want: []treeschema.Check{treeschema.TableExists}, severity: unsafe, byHand: true,
			mysql:    []string{"ALTER TABLE fruits RENAME TO fruits0", "CREATE VIEW fruits AS SELECT * FROM fruits0"},
			postgres: []string{"ALTER TABLE fruits RENAME TO fruits0", "CREATE VIEW fruits AS SELECT * FROM fruits0"},
			sqlite:   []string{"ALTER TABLE fruits RENAME TO fruits0", "CREATE VIEW fruits AS SELECT * FROM fruits0"},
		},
		{
			name: "a generated path", want: []treeschema.Check{treeschema.Generated}, severity: unsafe, byHand: true,
			mysql:    []string{"ALTER TABLE branches DROP COLUMN path, DROP INDEX branches_path, ADD COLUMN path VARCHAR(500) COLLATE ${binary} AS (CONCAT('/', name)) STORED"},
			postgres: []string{"ALTER TABLE branches DROP COLUMN path", `ALTER TABLE branches ADD COLUMN path varchar(500) COLLATE "C" GENERATED ALWAYS AS ('/' || name) STORED`},
		},
		{
			name: "a trigger that writes the path in an unusual way", want: []treeschema.Check{treeschema.Triggers}, severity: unsafe,
			mysql:    []string{"CREATE TRIGGER meddle BEFORE UPDATE ON branches FOR EACH ROW SET @one = 1, NEW . `path` := CONCAT(NEW.path, 'x')"},
			postgres: []string{function("meddle", "BEGIN SELECT new.path || 'x' INTO new.path; RETURN new; END"), before("meddle")},
		},
		{
			name: "a trigger that returns another row", want: []treeschema.Check{treeschema.Triggers}, severity: unsafe,
			postgres: []string{function("meddle", "DECLARE r branches; BEGIN r := new; r.path := 'x'; RETURN r; END"), before("meddle")},
		},
		{
			name: "a trigger that skips rows", want: []treeschema.Check{treeschema.Triggers}, severity: unsafe,
			postgres: []string{function("meddle", "BEGIN IF new.path = '/x' THEN RETURN NULL; END IF; RETURN new; END"), before("meddle")},
			sqlite:   []string{"CREATE TRIGGER meddle BEFORE UPDATE ON branches WHEN new.path = '/x' BEGIN SELECT RAISE(IGNORE); END"},
		},
		{
			name: "a trigger that calls what writes", want: []treeschema.Check{treeschema.Triggers}, severity: unsafe,
			mysql: []string{
				"DROP PROCEDURE IF EXISTS prune", "CREATE PROCEDURE prune(IN which BIGINT) DELETE b FROM branches b WHERE b.id = which",
				"CREATE TRIGGER meddle AFTER INSERT ON others FOR EACH ROW CALL prune(NEW.id)",
			},
			postgres: []string{
				"CREATE OR REPLACE FUNCTION prune_one(which bigint) RETURNS void LANGUAGE sql AS $$ DELETE FROM branches WHERE id = which $$",
				function("prune_by", "BEGIN PERFORM prune_one(new.id); RETURN new; END"),
				"CREATE TRIGGER prune_by AFTER INSERT ON others FOR EACH ROW EXECUTE FUNCTION prune_by()",
			},
		},
		{
			name: "a trigger whose SQL is put together", want: []treeschema.Check{treeschema.Triggers}, severity: warning, byHand: true,
			postgres: []string{function("audit", "BEGIN EXECUTE format('UPDATE %I SET path = path', TG_TABLE_NAME); RETURN new; END"), before("audit")},
		},
		{
			name: "a trigger that counts", want: nil,
			mysql: []string{"CREATE TRIGGER count AFTER INSERT ON fruits FOR EACH ROW UPDATE branches SET note = CONCAT(note, '+') WHERE id = NEW.branch_id"},
			postgres: []string{
				function("count_fruits", "BEGIN UPDATE branches SET note = note || '+' WHERE id = new.branch_id; RETURN new; END"),
				"CREATE TRIGGER count_fruits AFTER INSERT ON fruits FOR EACH ROW EXECUTE FUNCTION count_fruits()",
			},
			sqlite: []string{"CREATE TRIGGER count_fruits AFTER INSERT ON fruits BEGIN UPDATE branches SET note = note || '+' WHERE id = new.branch_id; END"},
		},
		{
			name: "a trigger with SQL in a text", want: nil,
			mysql: []string{"CREATE TRIGGER log AFTER UPDATE ON branches FOR EACH ROW INSERT INTO others (name) VALUES ('update branches set path = 1')"},
			postgres: []string{
				function("log_text", "BEGIN INSERT INTO others (name) VALUES ('update branches set path = 1'); RETURN new; END"),
				"CREATE TRIGGER log_text AFTER UPDATE ON branches FOR EACH ROW EXECUTE FUNCTION log_text()",
			},
			sqlite: []string{"CREATE TRIGGER log AFTER UPDATE ON branches BEGIN INSERT INTO others (name) VALUES ('update branches set path = 1'); END"},
		},
	}
}
