package gormplugintest

import (
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/treeschema"
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
	// statements make it, by the dialect's name; a dialect without any cannot have the flaw.
	mysql, postgres, sqlite []string
	// want are the checks that fail, in the order of the findings, and severity that of the first.
	want     []treeschema.Check
	severity treeschema.Severity
	// byHand is set where SQL cannot mend it.
	byHand bool
	// vanishes is set where the statements only make room for [gormplugin.AutoMigrate].
	vanishes bool
	// advised is set where an index may be advised beside, as far as the database can have it.
	advised bool
}

// statements are those of a dialect.
func (f flaw) statements(dialect string) []string {
	return map[string][]string{"mysql": f.mysql, "postgres": f.postgres, "sqlite": f.sqlite}[dialect]
}

// flaws are all the things that can be wrong with a table.
func flaws() []flaw {
	drop := func(index string) (mysql, others []string) {
		return []string{"ALTER TABLE " + index[:strings.IndexByte(index, '_')] + " DROP INDEX " + index}, []string{"DROP INDEX " + index}
	}
	dropSibling, dropSiblingIndex := drop("branches_sibling")
	dropTop, dropTopIndex := drop("branches_top")
	dropPath, dropPathIndex := drop("branches_path")
	dropLeaf, dropLeafIndex := drop("fruits_sibling")
	// A unique path keeps siblings apart, too; where it is in the way, the index is as it often is.
	plainMySQL := []string{"ALTER TABLE branches DROP INDEX branches_path, ADD KEY branches_path (tree_id, path)"}
	plainPostgres := []string{"DROP INDEX branches_path", `CREATE INDEX branches_path ON branches (tree_id, path COLLATE "C")`}
	plainSQLite := []string{"DROP INDEX branches_path", "CREATE INDEX branches_path ON branches (tree_id, path)"}
	dropSibling, dropTop = slices.Concat(plainMySQL, dropSibling), slices.Concat(plainMySQL, dropTop)
	dropSiblingPostgres, dropSiblingSQLite := slices.Concat(plainPostgres, dropSiblingIndex), slices.Concat(plainSQLite, dropSiblingIndex)
	dropTopPostgres, dropTopSQLite := slices.Concat(plainPostgres, dropTopIndex), slices.Concat(plainSQLite, dropTopIndex)
	and := func(first []string, then ...string) []string { return append(slices.Clone(first), then...) }
	const (
		unsafe  = treeschema.Unsafe
		warning = treeschema.Warning
	)
	return []flaw{
		{
			name: "no unique index over parent and name", want: []treeschema.Check{treeschema.Siblings, treeschema.Paths}, severity: unsafe,
			mysql: dropSibling, postgres: dropSiblingPostgres, sqlite: dropSiblingSQLite,
		},
		{
			name: "a unique index with a column that is NULL in live rows", want: []treeschema.Check{treeschema.Siblings, treeschema.Paths}, severity: unsafe,
			mysql:    and(dropSibling, "CREATE UNIQUE INDEX hollow ON branches (tree_id, parent_id, name, deleted)"),
			postgres: and(dropSiblingPostgres, "CREATE UNIQUE INDEX hollow ON branches (tree_id, parent_id, name, deleted)"),
			sqlite:   and(dropSiblingSQLite, "CREATE UNIQUE INDEX hollow ON branches (tree_id, parent_id, name, deleted)"),
		},
		{
			name: "a unique index with a column in which siblings differ", want: []treeschema.Check{treeschema.Siblings, treeschema.Paths}, severity: unsafe,
			mysql:    and(dropSibling, "CREATE UNIQUE INDEX wide ON branches (parent_id, name, id)"),
			postgres: and(dropSiblingPostgres, "CREATE UNIQUE INDEX wide ON branches (parent_id, name, id)"),
			sqlite:   and(dropSiblingSQLite, "CREATE UNIQUE INDEX wide ON branches (parent_id, name, id)"),
		},
		{
			name: "an index that is not unique", want: []treeschema.Check{treeschema.Siblings, treeschema.Paths}, severity: unsafe,
			mysql:    and(dropSibling, "CREATE INDEX loose ON branches (parent_id, name)"),
			postgres: and(dropSiblingPostgres, "CREATE INDEX loose ON branches (parent_id, name)"),
			sqlite:   and(dropSiblingSQLite, "CREATE INDEX loose ON branches (parent_id, name)"),
		},
		{
			name: "a unique index over the deleted rows", want: []treeschema.Check{treeschema.Siblings, treeschema.DeletedNames, treeschema.Paths}, severity: unsafe,
			postgres: and(dropSiblingPostgres, "CREATE UNIQUE INDEX dead ON branches (parent_id, name) WHERE deleted IS NOT NULL"),
			sqlite:   and(dropSiblingSQLite, "CREATE UNIQUE INDEX dead ON branches (parent_id, name) WHERE deleted IS NOT NULL"),
		},
		{
			name: "a generated column that is NULL in live rows", want: []treeschema.Check{treeschema.Siblings, treeschema.Paths}, severity: unsafe,
			mysql: and(dropSibling, "ALTER TABLE branches ADD COLUMN dead INT AS (IF(deleted IS NULL, NULL, TO_DAYS(deleted))) VIRTUAL, ADD UNIQUE KEY dead (parent_id, name, dead)"),
			postgres: and(dropSiblingPostgres, "ALTER TABLE branches ADD COLUMN dead bigint GENERATED ALWAYS AS (CASE WHEN deleted IS NOT NULL THEN id END) STORED",
				"CREATE UNIQUE INDEX dead ON branches (parent_id, name, dead)"),
			sqlite: and(dropSiblingSQLite, "ALTER TABLE branches ADD COLUMN dead INT AS (CASE WHEN deleted IS NOT NULL THEN id END) VIRTUAL",
				"CREATE UNIQUE INDEX dead ON branches (parent_id, name, dead)"),
		},
		{
			name: "a unique index that holds deleted rows against live ones", want: []treeschema.Check{treeschema.DeletedNames}, severity: warning,
			mysql:    []string{"CREATE UNIQUE INDEX strict ON branches (tree_id, parent_id, name)"},
			postgres: []string{"CREATE UNIQUE INDEX strict ON branches (tree_id, parent_id, name)"},
			sqlite:   []string{"CREATE UNIQUE INDEX strict ON branches (tree_id, parent_id, name)"},
		},
		{
			name: "only a unique index that holds deleted rows against live ones", want: []treeschema.Check{treeschema.DeletedNames, treeschema.Paths}, severity: warning,
			mysql:    and(dropSibling, "CREATE UNIQUE INDEX strict ON branches (tree_id, parent_id, name)"),
			postgres: and(dropSiblingPostgres, "ALTER TABLE branches ADD CONSTRAINT strict UNIQUE (tree_id, parent_id, name)"),
			sqlite:   and(dropSiblingSQLite, "CREATE UNIQUE INDEX strict ON branches (tree_id, parent_id, name)"),
		},
		{
			name: "a unique path of ids", want: []treeschema.Check{treeschema.Siblings, treeschema.TopRows}, severity: unsafe, advised: true,
			mysql: []string{"ALTER TABLE plains DROP INDEX plains_sibling, DROP INDEX plains_top, ADD UNIQUE KEY u (tree_id, ids(500))"},
			postgres: []string{
				"DROP INDEX plains_sibling", "DROP INDEX plains_top", "DROP INDEX plains_path", `CREATE INDEX plains_path ON plains (tree_id, path COLLATE "C")`,
				"CREATE UNIQUE INDEX u ON plains (tree_id, ids)",
			},
			sqlite: []string{
				"DROP INDEX plains_sibling", "DROP INDEX plains_top", "DROP INDEX plains_path", "CREATE INDEX plains_path ON plains (tree_id, path)",
				"CREATE UNIQUE INDEX u ON plains (tree_id, ids)",
			},
		},
		{
			name: "no unique index over rows at the top", want: []treeschema.Check{treeschema.TopRows, treeschema.Paths}, severity: unsafe,
			mysql: dropTop, postgres: dropTopPostgres, sqlite: dropTopSQLite,
		},
		{
			name: "a unique path in the place of all", want: nil,
			mysql: and([]string{dropSibling[0], dropSibling[1], dropTop[1]},
				"ALTER TABLE branches ADD COLUMN live_path VARCHAR(500) COLLATE utf8mb4_bin AS (IF(deleted IS NULL, path, NULL)) VIRTUAL, ADD UNIQUE KEY place (tree_id, live_path)"),
			postgres: and(append(slices.Clone(dropSiblingPostgres), dropTopIndex...), "CREATE UNIQUE INDEX place ON branches (tree_id, path) WHERE (deleted IS NULL)"),
			sqlite: and(append(slices.Clone(dropSiblingSQLite), dropTopIndex...),
				"CREATE UNIQUE INDEX place /* (tree_id) */ ON branches (tree_id, (CASE WHEN deleted IS NULL THEN path END) COLLATE BINARY ASC) -- WHERE"),
		},
		{
			name: "no index over tree and path", want: []treeschema.Check{treeschema.PathIndex}, severity: warning,
			mysql: dropPath, postgres: dropPathIndex, sqlite: dropPathIndex,
		},
		{
			name: "an index over path and tree", want: []treeschema.Check{treeschema.PathIndex}, severity: warning,
			mysql:    and(dropPath, "CREATE INDEX reversed ON branches (path, tree_id)"),
			postgres: and(dropPathIndex, `CREATE INDEX reversed ON branches (path, tree_id)`),
			sqlite:   and(dropPathIndex, "CREATE INDEX reversed ON branches (path, tree_id)"),
		},
		{
			name: "an index that holds little of the path", want: []treeschema.Check{treeschema.PathIndex}, severity: warning,
			mysql: and(dropPath, "CREATE INDEX short ON branches (tree_id, path(10))"),
		},
		{
			name: "an index in another order", want: []treeschema.Check{treeschema.PathIndex}, severity: warning,
			postgres: and(dropPathIndex, `CREATE INDEX words ON branches (tree_id, path COLLATE "en-x-icu")`),
			sqlite:   and(dropPathIndex, "CREATE INDEX words ON branches (tree_id, path COLLATE NOCASE)"),
		},
		{
			name: "an index for LIKE", want: []treeschema.Check{treeschema.PathIndex}, severity: warning,
			postgres: and(dropPathIndex, "CREATE INDEX patterns ON branches (tree_id, path text_pattern_ops)"),
		},
		{
			name: "an index over some rows", want: []treeschema.Check{treeschema.PathIndex}, severity: warning,
			postgres: and(dropPathIndex, "CREATE INDEX upper_rows ON branches (tree_id, path) WHERE parent_id IS NOT NULL"),
			sqlite:   and(dropPathIndex, "CREATE INDEX upper_rows ON branches (tree_id, path) WHERE parent_id IS NOT NULL"),
		},
		{
			name: "an index over the live rows", want: []treeschema.Check{treeschema.Paths}, severity: treeschema.Advice,
			postgres: and(dropPathIndex, "CREATE INDEX live ON branches (tree_id, path) WHERE deleted IS NULL"),
			sqlite:   and(dropPathIndex, "CREATE INDEX live ON branches (tree_id, path) WHERE deleted IS NULL"),
		},
		{
			name: "no unique index over a leaf's parent and name", want: []treeschema.Check{treeschema.Siblings}, severity: unsafe,
			mysql: dropLeaf, postgres: dropLeafIndex, sqlite: dropLeafIndex,
		},
		{
			name: "a path in the order of a language", want: []treeschema.Check{treeschema.Collation}, severity: unsafe,
			mysql: []string{"ALTER TABLE branches MODIFY path VARCHAR(500) COLLATE utf8mb4_unicode_ci NOT NULL DEFAULT '/it''s' COMMENT 'a, b'"},
		},
		{
			name: "a path in the order of a language that the plugin asks no order of", want: []treeschema.Check{treeschema.Collation}, severity: warning,
			postgres: []string{`ALTER TABLE branches ALTER COLUMN path TYPE varchar(500) COLLATE "en-x-icu"`},
		},
		{
			name: "a path without regard to trailing spaces", want: []treeschema.Check{treeschema.Collation}, severity: warning,
			mysql: []string{"ALTER TABLE branches MODIFY path VARCHAR(500) COLLATE utf8mb4_bin"},
		},
		{
			name: "a path of bytes", want: []treeschema.Check{treeschema.Collation}, severity: unsafe,
			mysql: []string{"ALTER TABLE branches MODIFY path VARBINARY(500)"},
		},
		{
			name: "names without regard to case", want: []treeschema.Check{treeschema.Collation}, severity: warning,
			mysql: []string{"ALTER TABLE branches MODIFY name VARCHAR(100) COLLATE utf8mb4_general_ci"},
			postgres: []string{
				"CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
				"ALTER TABLE branches ALTER COLUMN name TYPE varchar(100) COLLATE nocase",
			},
		},
		{
			name: "names padded with spaces", want: []treeschema.Check{treeschema.Collation}, severity: warning,
			mysql:    []string{"ALTER TABLE branches MODIFY name CHAR(100) COLLATE utf8mb4_bin"},
			postgres: []string{"ALTER TABLE branches ALTER COLUMN name TYPE char(100)"},
		},
		{
			name: "a table with other collations", want: []treeschema.Check{treeschema.Collation, treeschema.Collation}, severity: warning, byHand: true,
			sqlite: []string{
				"DROP TABLE branches",
				"CREATE TABLE branches (id INTEGER PRIMARY KEY, tree_id INT, parent_id INT, name TEXT DEFAULT ('COLLATE, x') COLLATE NOCASE, `path` NUMERIC, note TEXT, deleted DATETIME)",
				"CREATE UNIQUE INDEX branches_place ON branches (tree_id, path) WHERE deleted IS NULL",
			},
		},
		{
			name: "a name that no index can hold", want: []treeschema.Check{treeschema.Collation, treeschema.Siblings, treeschema.TopRows, treeschema.Paths}, severity: warning,
			mysql: []string{dropSibling[0], dropSibling[1], dropTop[1], "ALTER TABLE branches MODIFY name LONGTEXT COLLATE utf8mb4_unicode_ci"},
		},
		{
			name: "trees whose ids are held equal", want: []treeschema.Check{treeschema.Collation}, severity: unsafe,
			mysql: []string{"ALTER TABLE plains MODIFY tree_id VARCHAR(191) COLLATE utf8mb4_general_ci"},
			postgres: []string{
				"CREATE COLLATION lax (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
				"ALTER TABLE plains ALTER COLUMN tree_id TYPE text COLLATE lax",
			},
		},
		{
			name: "keys and parents that are held equal", want: []treeschema.Check{treeschema.Collation, treeschema.Collation}, severity: warning,
			mysql: []string{"ALTER TABLE plains MODIFY id VARCHAR(191) COLLATE utf8mb4_general_ci", "ALTER TABLE plains MODIFY parent_id VARCHAR(191) COLLATE utf8mb4_general_ci"},
			postgres: []string{
				"CREATE COLLATION IF NOT EXISTS lax (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
				"ALTER TABLE plains ALTER COLUMN id TYPE text COLLATE lax, ALTER COLUMN parent_id TYPE text COLLATE lax",
			},
		},
		{
			name:     "keys that are padded, as the plugin knows",
			postgres: []string{"ALTER TABLE plains ALTER COLUMN id TYPE char(36), ALTER COLUMN tree_id TYPE char(36)"},
		},
		{
			name: "a column shorter than the model says", want: []treeschema.Check{treeschema.Length}, severity: warning,
			mysql:    []string{"ALTER TABLE branches MODIFY path VARCHAR(300) COLLATE utf8mb4_bin", "ALTER TABLE branches MODIFY path VARCHAR(300) COLLATE ${binary}"},
			postgres: []string{`ALTER TABLE branches ALTER COLUMN path TYPE varchar(300) COLLATE "C"`},
		},
		{
			name: "a path shorter than a name", want: []treeschema.Check{treeschema.Length}, severity: warning,
			mysql:    []string{"ALTER TABLE branches MODIFY name VARCHAR(600) COLLATE ${binary}"},
			postgres: []string{"ALTER TABLE branches ALTER COLUMN name TYPE varchar(600)"},
		},
		{
			name: "no primary key", want: []treeschema.Check{treeschema.PrimaryKey}, severity: unsafe,
			mysql:    []string{"ALTER TABLE branches MODIFY id BIGINT NOT NULL, DROP PRIMARY KEY"},
			postgres: []string{"ALTER TABLE branches DROP CONSTRAINT branches_pkey"},
		},
		{
			name: "another primary key", want: []treeschema.Check{treeschema.PrimaryKey}, severity: unsafe,
			mysql:    []string{"ALTER TABLE branches MODIFY id BIGINT NOT NULL, DROP PRIMARY KEY, ADD PRIMARY KEY (tree_id, id)"},
			postgres: []string{"ALTER TABLE branches DROP CONSTRAINT branches_pkey, ADD PRIMARY KEY (tree_id, id)"},
		},
		{
			name: "a primary key that is unique by another index", want: []treeschema.Check{treeschema.PrimaryKey}, severity: warning,
			mysql: []string{"ALTER TABLE branches ADD UNIQUE KEY u (id), DROP PRIMARY KEY, ADD PRIMARY KEY (tree_id, id)"},
		},
		{
			name: "an engine without transactions", want: []treeschema.Check{treeschema.Engine}, severity: unsafe,
			mysql: []string{"ALTER TABLE fruits ENGINE = MyISAM"},
		},
		{
			name: "a foreign key that empties the parent", want: []treeschema.Check{treeschema.ForeignKeys}, severity: unsafe,
			mysql:    []string{"ALTER TABLE branches ADD CONSTRAINT up FOREIGN KEY (parent_id) REFERENCES branches (id) ON DELETE SET NULL"},
			postgres: []string{"ALTER TABLE branches ADD CONSTRAINT up FOREIGN KEY (parent_id) REFERENCES branches (id) ON DELETE SET NULL"},
		},
		{
			name: "a foreign key that deletes", want: []treeschema.Check{treeschema.ForeignKeys}, severity: warning,
			mysql:    []string{"ALTER TABLE branches ADD CONSTRAINT up FOREIGN KEY (parent_id) REFERENCES branches (id) ON DELETE CASCADE ON UPDATE CASCADE"},
			postgres: []string{"ALTER TABLE branches ADD CONSTRAINT up FOREIGN KEY (parent_id) REFERENCES branches (id) ON DELETE CASCADE ON UPDATE CASCADE"},
		},
		{
			name: "foreign keys of a table made by hand", want: []treeschema.Check{treeschema.ForeignKeys}, severity: unsafe, byHand: true,
			sqlite: []string{
				"DROP TABLE fruits", "PRAGMA foreign_keys = ON",
				"CREATE TABLE fruits (id INTEGER PRIMARY KEY, branch_id INT REFERENCES branches (id) ON DELETE SET NULL, name TEXT, UNIQUE (branch_id, name))",
			},
		},
		{
			name: "a foreign key that does nothing by itself", want: nil,
			mysql:    []string{"ALTER TABLE branches ADD CONSTRAINT up FOREIGN KEY (parent_id) REFERENCES branches (id) ON DELETE RESTRICT"},
			postgres: []string{"ALTER TABLE branches ADD CONSTRAINT up FOREIGN KEY (parent_id) REFERENCES branches (id) ON DELETE RESTRICT"},
		},
		{
			name: "no table", want: []treeschema.Check{treeschema.TableExists}, severity: unsafe, byHand: true, vanishes: true,
			mysql: []string{"DROP TABLE fruits"}, postgres: []string{"DROP TABLE fruits"}, sqlite: []string{"DROP TABLE fruits"},
		},
		{
			name: "no column", want: []treeschema.Check{treeschema.TableExists}, severity: unsafe, byHand: true, vanishes: true,
			mysql: []string{"ALTER TABLE branches DROP COLUMN note"}, postgres: []string{"ALTER TABLE branches DROP COLUMN note"},
			sqlite: []string{"ALTER TABLE branches DROP COLUMN note"},
		},
	}
}
