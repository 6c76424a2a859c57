package gormplugintest

import "github.com/pathlock-go/pathlock/gormplugin/treeschema"

// behindFlaws are ways in which a database writes other rows than those that it was told to, and
// what only looks like one.
func behindFlaws() []flaw {
	const (
		unsafe  = treeschema.Unsafe
		warning = treeschema.Warning
	)
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
			name: "a rule", want: []treeschema.Check{treeschema.Rules}, severity: warning, byHand: true,
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
			name: "a trigger", want: []treeschema.Check{treeschema.Triggers}, severity: warning, byHand: true,
			mysql: []string{"CREATE TRIGGER log AFTER UPDATE ON branches FOR EACH ROW INSERT INTO others (name) VALUES (NEW.path)"},
			postgres: []string{
				"CREATE OR REPLACE FUNCTION log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO others (name) VALUES (new.path); RETURN new; END $$",
				"CREATE TRIGGER log AFTER UPDATE ON branches FOR EACH ROW EXECUTE FUNCTION log()",
			},
			sqlite: []string{"CREATE TRIGGER log AFTER UPDATE ON branches BEGIN INSERT INTO others (name) VALUES (new.path); END"},
		},
	}
}
