package gormplugintest

import (
	"slices"
	"strings"

	"gorm.io/gorm"
)

// Branch is a tree whose model says nothing about indexes: [gormplugin.AutoMigrate] makes them.
type Branch struct {
	ID       int64
	TreeID   int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path" gorm:"size:500"`
	Note     string
	Deleted  gorm.DeletedAt
}

// Fruit is a leaf below a branch.
type Fruit struct {
	ID       int64
	BranchID int64  `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Route    string `pathlock:"path" gorm:"size:700"`
	Code     string `gorm:"size:20"`
}

// Plain is a tree as short as it can be written: no sizes, and ids that are texts.
type Plain struct {
	ID       string  `gorm:"primaryKey"`
	TreeID   string  `pathlock:"tree"`
	ParentID *string `pathlock:"parent"`
	Name     string  `pathlock:"name"`
	Path     string  `pathlock:"path"`
	IDs      string  `pathlock:"idpath" gorm:"column:ids"`
}

// flaw is something that is wrong with a schema that [gormplugin.AutoMigrate] made.
type flaw struct {
	name string
	// want are the findings, in their order: how bad, and which check. One that gives no statement
	// is in words.
	want string
	// statements make it, by the dialect's name; a dialect without any cannot have the flaw.
	mysql, postgres, sqlite []string
}

// statements are those of a database.
func (f flaw) statements(w *schemaWorld) []string {
	return map[string][]string{"mysql": f.mysql, "postgres": f.postgres, "sqlite": f.sqlite}[w.db.Name()]
}

// flaws are all the things that can be wrong with a table.
func flaws() []flaw {
	drop := func(index string) (mysql, others []string) {
		return []string{"ALTER TABLE " + index[:strings.IndexByte(index, '_')] + " DROP INDEX " + index}, []string{"DROP INDEX " + index}
	}
	dropSibling, dropSiblingIndex := drop("branches_sibling")
	dropTop, dropTopIndex := drop("branches_top")
	dropPath, dropPathIndex := drop("branches_path")
	dropFruit, dropFruitIndex := drop("fruits_sibling")
	dropCode, dropCodeIndex := drop("fruits_code")
	branches := func(rest string) string {
		return "CREATE TABLE branches (id BIGINT NOT NULL AUTO_INCREMENT, tree_id BIGINT NOT NULL, parent_id BIGINT, name VARCHAR(100) NOT NULL, path VARCHAR(500) NOT NULL, " +
			"note TEXT, deleted DATETIME(3), " + rest
	}
	branchesOfPostgres := func(rest string) string {
		return `CREATE TABLE branches (id bigserial, tree_id bigint NOT NULL, parent_id bigint, name varchar(100) NOT NULL, path varchar(500) COLLATE "C" NOT NULL, ` +
			"note text, deleted timestamptz, " + rest
	}
	and := func(first []string, then ...string) []string { return append(slices.Clone(first), then...) }
	return []flaw{
		{
			name: "no unique index over what a resolver looks rows up by", want: "warning lookup",
			mysql: dropCode, postgres: dropCodeIndex, sqlite: dropCodeIndex,
		},
		{
			name: "one over more than that", want: "warning lookup",
			mysql:    and(dropCode, "ALTER TABLE fruits ADD UNIQUE KEY codes (code, name)"),
			postgres: and(dropCodeIndex, "CREATE UNIQUE INDEX codes ON fruits (code, name)"),
			sqlite:   and(dropCodeIndex, "CREATE UNIQUE INDEX codes ON fruits (code, name)"),
		},
		{
			name: "no unique index over parent and name", want: "unsafe siblings",
			mysql: dropSibling, postgres: dropSiblingIndex, sqlite: dropSiblingIndex,
		},
		{
			name: "a unique index over the beginning of names", want: "warning siblings in words, unsafe siblings",
			mysql: and(dropSibling, "CREATE UNIQUE INDEX short ON branches (parent_id, name(10))"),
		},
		{
			name: "a unique index with a column that is NULL in live rows", want: "unsafe siblings",
			mysql:    and(dropSibling, "CREATE UNIQUE INDEX hollow ON branches (tree_id, parent_id, name, deleted)"),
			postgres: and(dropSiblingIndex, "CREATE UNIQUE INDEX hollow ON branches (tree_id, parent_id, name, deleted)"),
			sqlite:   and(dropSiblingIndex, "CREATE UNIQUE INDEX hollow ON branches (tree_id, parent_id, name, deleted)"),
		},
		{
			name: "a unique index whose condition is another", want: "unsafe siblings",
			postgres: and(dropSiblingIndex, "CREATE UNIQUE INDEX odd ON branches (tree_id, parent_id, name) WHERE deleted IS NULL AND note <> 'x'"),
			sqlite:   and(dropSiblingIndex, "CREATE UNIQUE INDEX odd ON branches (tree_id, parent_id, name)WHERE(deleted IS NULL AND note <> 'x')"),
		},
		{
			name: "a unique index over an expression", want: "unsafe siblings",
			mysql:    and(dropSibling, "ALTER TABLE branches ADD COLUMN odd VARCHAR(100) AS (IF(note IS NULL, name, NULL)) VIRTUAL, ADD UNIQUE KEY odd (tree_id, parent_id, odd)"),
			postgres: and(dropSiblingIndex, "CREATE UNIQUE INDEX odd ON branches (tree_id, parent_id, name, COALESCE(note, ''))"),
			sqlite:   and(dropSiblingIndex, "CREATE UNIQUE INDEX odd ON branches (tree_id, parent_id, name, COALESCE(note, ''))"),
		},
		{
			name: "no unique index over rows at the top", want: "unsafe top rows",
			mysql: dropTop, postgres: dropTopIndex, sqlite: dropTopIndex,
		},
		{
			name: "no index over tree and path", want: "warning path index",
			mysql: dropPath, postgres: dropPathIndex, sqlite: dropPathIndex,
		},
		{
			name: "no index that finds the leaves below a row", want: "warning path index",
			mysql:    and(dropFruit, "CREATE UNIQUE INDEX backwards ON fruits (name, branch_id)"),
			postgres: and(dropFruitIndex, "CREATE UNIQUE INDEX backwards ON fruits (name, branch_id)"),
			sqlite:   and(dropFruitIndex, "CREATE UNIQUE INDEX backwards ON fruits (name, branch_id)"),
		},
		{
			name: "a leaf's path in the order of a language", want: "warning collation",
			mysql: []string{"ALTER TABLE fruits MODIFY route VARCHAR(700) COLLATE utf8mb4_unicode_ci"},
		},
		{
			name: "a path in the order of a language, with more to its definition", want: "unsafe collation",
			mysql: []string{"ALTER TABLE branches MODIFY path VARCHAR(500) COLLATE utf8mb4_unicode_ci NOT NULL DEFAULT '/it''s' COMMENT 'a, b'"},
		},
		{
			name: "a path without regard to trailing spaces", want: "warning collation",
			mysql: []string{"ALTER TABLE branches MODIFY path VARCHAR(500) COLLATE utf8mb4_bin"},
		},
		{
			name: "names without regard to case", want: "warning collation",
			mysql: []string{"ALTER TABLE branches MODIFY name VARCHAR(100) COLLATE utf8mb4_general_ci"},
			postgres: []string{
				"CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
				"ALTER TABLE branches ALTER COLUMN name TYPE varchar(100) COLLATE nocase",
			},
		},
		{
			name: "a table with other collations", want: "warning collation in words, unsafe type in words",
			sqlite: []string{
				"DROP TABLE branches",
				"CREATE TABLE branches (id INTEGER PRIMARY KEY, tree_id INT, parent_id INT, name TEXT DEFAULT ('COLLATE, x') COLLATE NOCASE, `path` NUMERIC, note TEXT, deleted DATETIME)",
				"CREATE UNIQUE INDEX branches_sibling ON branches (tree_id, parent_id, name COLLATE BINARY) WHERE deleted IS NULL",
				"CREATE UNIQUE INDEX branches_top ON branches (tree_id, name COLLATE BINARY) WHERE parent_id IS NULL AND deleted IS NULL",
				"CREATE INDEX branches_path ON branches (tree_id, path COLLATE BINARY)",
			},
		},
		{
			name: "names in a column that changes their spaces", want: "unsafe type",
			mysql:    []string{"ALTER TABLE branches MODIFY name CHAR(100) COLLATE ${binary}"},
			postgres: []string{"ALTER TABLE branches ALTER COLUMN name TYPE char(100)"},
		},
		{
			name: "paths in a column that changes their spaces", want: "unsafe type",
			mysql:    []string{"ALTER TABLE fruits MODIFY route CHAR(200) COLLATE ${binary}"},
			postgres: []string{`ALTER TABLE fruits ALTER COLUMN route TYPE char(700) COLLATE "C"`},
		},
		{
			name: "names in a column that changes their letter case or their length", want: "unsafe type",
			mysql:    []string{"ALTER TABLE branches MODIFY name ENUM ('a', 'bc') COLLATE ${binary}"},
			postgres: []string{"ALTER TABLE branches ALTER COLUMN name TYPE name"},
		},
		{
			name: "names in a column of bytes", want: "unsafe type in words",
			mysql: []string{"ALTER TABLE branches MODIFY name VARBINARY(100)"}, postgres: []string{"ALTER TABLE branches ALTER COLUMN name TYPE bytea USING ''"},
		},
		{
			name: "keys that are texts in columns of numbers", want: "unsafe type in words",
			mysql: []string{"ALTER TABLE plains MODIFY tree_id INT"}, postgres: []string{"ALTER TABLE plains ALTER COLUMN tree_id TYPE int USING 0"},
		},
		{
			name: "keys that are numbers in columns that round them", want: "unsafe type in words",
			mysql: []string{"ALTER TABLE branches MODIFY tree_id DOUBLE"}, postgres: []string{"ALTER TABLE branches ALTER COLUMN tree_id TYPE real"},
		},
		{
			name: "columns of numbers for names and keys", want: "unsafe type in words, unsafe type in words",
			sqlite: []string{
				"DROP TABLE fruits",
				"CREATE TABLE fruits (id INTEGER PRIMARY KEY, branch_id REAL, name STRING, route TEXT, code TEXT UNIQUE)",
				"CREATE UNIQUE INDEX fruits_sibling ON fruits (branch_id, name)",
			},
		},
		{
			name: "trees whose ids are held equal", want: "unsafe collation in words",
			mysql: []string{"ALTER TABLE plains MODIFY tree_id VARCHAR(191) COLLATE utf8mb4_general_ci"},
			postgres: []string{
				"CREATE COLLATION lax (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
				"ALTER TABLE plains ALTER COLUMN tree_id TYPE text COLLATE lax",
			},
		},
		{
			name: "a column shorter than the model says", want: "warning length",
			mysql:    []string{"ALTER TABLE branches MODIFY path VARCHAR(300) COLLATE utf8mb4_bin", "ALTER TABLE branches MODIFY path VARCHAR(300) COLLATE ${binary}"},
			postgres: []string{`ALTER TABLE branches ALTER COLUMN path TYPE varchar(300) COLLATE "C"`},
		},
		{
			name: "no primary key", want: "unsafe primary key in words",
			mysql:    []string{"ALTER TABLE branches MODIFY id BIGINT NOT NULL, DROP PRIMARY KEY"},
			postgres: []string{"ALTER TABLE branches DROP CONSTRAINT branches_pkey"},
		},
		{
			name: "an engine without transactions", want: "unsafe engine",
			mysql: []string{"ALTER TABLE fruits ENGINE = MyISAM"},
		},
		{
			name: "a foreign key that empties the parent", want: "unsafe foreign keys in words",
			mysql:    []string{"ALTER TABLE branches ADD CONSTRAINT up FOREIGN KEY (parent_id) REFERENCES branches (id) ON DELETE SET NULL"},
			postgres: []string{"ALTER TABLE branches ADD CONSTRAINT up FOREIGN KEY (parent_id) REFERENCES branches (id) ON DELETE SET NULL"},
		},
		{
			name: "conflicts that replace rows", want: "unsafe conflicts in words, unsafe conflicts in words",
			sqlite: []string{
				"DROP TABLE fruits",
				"CREATE TABLE fruits (id INTEGER PRIMARY KEY, branch_id INT, name TEXT NOT NULL ON CONFLICT IGNORE DEFAULT ('ON CONFLICT FAIL'), route TEXT, code TEXT UNIQUE, UNIQUE (branch_id, name) ON CONFLICT REPLACE)",
			},
		},
		{
			name: "a table that inherits", want: "unsafe inheritance in words",
			postgres: []string{"CREATE TABLE heirs () INHERITS (branches)"},
		},
		{
			name: "a rule", want: "warning rules in words",
			postgres: []string{"CREATE RULE note AS ON UPDATE TO branches DO ALSO INSERT INTO others (name) VALUES (old.name)"},
		},
		{
			name: "a trigger", want: "warning triggers in words",
			mysql: []string{"CREATE TRIGGER log AFTER UPDATE ON branches FOR EACH ROW INSERT INTO others (name) VALUES (NEW.path)"},
			postgres: []string{
				"CREATE OR REPLACE FUNCTION log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO others (name) VALUES (new.path); RETURN new; END $$",
				"CREATE TRIGGER log AFTER UPDATE ON branches FOR EACH ROW EXECUTE FUNCTION log()",
			},
			sqlite: []string{"CREATE TRIGGER log AFTER UPDATE ON branches BEGIN INSERT INTO others (name) VALUES (new.path); END"},
		},
		{
			name:  "partitions by the tree",
			want:  "unsafe primary key in words, unsafe siblings in words, unsafe top rows in words, warning path index, warning partitions in words",
			mysql: []string{"DROP TABLE branches", branches("PRIMARY KEY (id, tree_id)) COLLATE ${binary} PARTITION BY HASH (tree_id) PARTITIONS 4")},
			postgres: []string{
				"DROP TABLE branches", branchesOfPostgres("PRIMARY KEY (tree_id, id)) PARTITION BY HASH (tree_id)"),
				"CREATE TABLE branches0 PARTITION OF branches FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
			},
		},
	}
}
