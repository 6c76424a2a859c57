package gormplugintest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/gormplugin/treeschema"
)

// foundTable is a table as teams have it, made by plain SQL. The statements that
// [gormplugin.Verify] proposes make it right.
type foundTable struct {
	name                    string
	mysql, postgres, sqlite []string
	// keeps is a query for what may not go: a number other than 0.
	keeps string
	// mariaDB makes it where MySQL cannot.
	mariaDB []string
	// byHand are checks that have advice in the place of statements.
	byHand []treeschema.Check
}

// foundTables are tables that have caught a migration out.
func foundTables() []foundTable {
	branches := func(rest string) string {
		return "CREATE TABLE branches (id BIGINT NOT NULL AUTO_INCREMENT, tree_id BIGINT NOT NULL, parent_id BIGINT, name VARCHAR(100) NOT NULL DEFAULT 'x' COMMENT 'a \"name\"', " +
			"path VARCHAR(500) NOT NULL, note TEXT, deleted DATETIME(3), " + rest
	}
	plains := func(rest string) []string {
		return []string{
			"CREATE TABLE trees (id CHAR(36) NOT NULL PRIMARY KEY)" + rest,
			"CREATE TABLE plains (id CHAR(36) NOT NULL PRIMARY KEY, tree_id CHAR(36) NOT NULL, parent_id CHAR(36), name VARCHAR(255) NOT NULL, path VARCHAR(500) NOT NULL, ids VARCHAR(500), " +
				"CONSTRAINT of_tree FOREIGN KEY (tree_id) REFERENCES trees (id), CONSTRAINT up FOREIGN KEY (parent_id) REFERENCES plains (id))" + rest,
			"INSERT INTO trees VALUES ('t')",
			"INSERT INTO plains VALUES ('r', 't', NULL, '', '', '/r'), ('a', 't', 'r', 'a', '/a', '/r/a')",
		}
	}
	cased := []string{
		"INSERT INTO branches (id, tree_id, parent_id, name, path) VALUES (1, 1, NULL, 'r', '/r'), (2, 1, NULL, 'R', '/R'), (3, 1, 1, 'a', '/r/a'), (4, 1, 1, 'A', '/r/A')",
	}
	return []foundTable{
		{
			name:  "keys that are CHAR(36) of a language, with foreign keys",
			mysql: plains(" CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"),
		},
		{
			name:  "keys in latin1, with foreign keys",
			mysql: plains(" CHARACTER SET latin1 COLLATE latin1_swedish_ci"),
		},
		{
			name: "keys that are texts",
			mysql: []string{
				"CREATE TABLE plains (id VARCHAR(64) NOT NULL PRIMARY KEY, tree_id TEXT NOT NULL, parent_id TEXT, name TEXT NOT NULL, path TEXT NOT NULL, ids TEXT) CHARACTER SET utf8mb4",
				"INSERT INTO plains VALUES ('r', 't', NULL, '', '', '/r'), ('a', 't', 'r', 'a', '/a', '/r/a')",
			},
			postgres: []string{"CREATE TABLE plains (id text PRIMARY KEY, tree_id text NOT NULL, parent_id text, name text NOT NULL, path text NOT NULL, ids text)"},
			sqlite:   []string{"CREATE TABLE plains (id TEXT PRIMARY KEY, tree_id TEXT NOT NULL, parent_id TEXT, name TEXT NOT NULL, path TEXT NOT NULL, ids TEXT) WITHOUT ROWID"},
		},
		{
			name: "the row format COMPACT", mysql: []string{
				"CREATE TABLE plains (id VARCHAR(36) NOT NULL PRIMARY KEY, tree_id VARCHAR(36) NOT NULL, parent_id VARCHAR(36), name VARCHAR(255) NOT NULL, path VARCHAR(500) NOT NULL, ids VARCHAR(500)) " +
					"ROW_FORMAT=COMPACT CHARACTER SET utf8mb4",
			},
		},
		{
			name: "the row format REDUNDANT, and binary texts", mysql: []string{
				"CREATE TABLE plains (id VARCHAR(36) NOT NULL PRIMARY KEY, tree_id VARCHAR(36) NOT NULL, parent_id VARCHAR(36), name VARCHAR(255) NOT NULL, path VARCHAR(500) NOT NULL, ids VARCHAR(500)) " +
					"ROW_FORMAT=REDUNDANT CHARACTER SET utf8mb4 COLLATE ${binary}",
			},
		},
		{
			name: "partitions by the tree", mysql: []string{branches("PRIMARY KEY (id, tree_id)) CHARACTER SET utf8mb4 PARTITION BY HASH (tree_id) PARTITIONS 4")},
			postgres: []string{
				"CREATE TABLE branches (id bigserial, tree_id bigint NOT NULL, parent_id bigint, name text NOT NULL, path text NOT NULL, note text, deleted timestamptz, PRIMARY KEY (tree_id, id)) PARTITION BY HASH (tree_id)",
				"CREATE TABLE branches0 PARTITION OF branches FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
			},
			byHand: []treeschema.Check{treeschema.PrimaryKey},
		},
		{
			name: "partitions by the key", mysql: []string{branches("PRIMARY KEY (id)) CHARACTER SET utf8mb4 PARTITION BY HASH (id) PARTITIONS 4")},
			postgres: []string{
				"CREATE TABLE branches (id bigserial PRIMARY KEY, tree_id bigint NOT NULL, parent_id bigint, name text NOT NULL, path text NOT NULL, note text, deleted timestamptz) PARTITION BY HASH (id)",
				"CREATE TABLE branches0 PARTITION OF branches FOR VALUES WITH (MODULUS 1, REMAINDER 0)",
			},
			byHand: []treeschema.Check{treeschema.Siblings, treeschema.TopRows},
		},
		{
			name:  "a name that refers to a list of names, and is referred to",
			keeps: "SELECT COUNT(*) FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE() AND CONSTRAINT_NAME = 'named'",
			mysql: []string{
				"CREATE TABLE trees (id VARCHAR(100) NOT NULL PRIMARY KEY COMMENT 'a') CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci", "INSERT INTO trees VALUES ('a')",
				branches("PRIMARY KEY (id), KEY (name), CONSTRAINT named FOREIGN KEY (name) REFERENCES trees (id)) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"),
				"INSERT INTO branches (tree_id, name, path) VALUES (1, 'a', '/a')",
			},
		},
		{
			name: "columns in indexes that cannot hold them any more",
			mysql: []string{
				"CREATE TABLE branches (id BIGINT AUTO_INCREMENT PRIMARY KEY, tree_id BIGINT NOT NULL, parent_id BIGINT, name VARCHAR(100) NOT NULL, path VARCHAR(500) CHARACTER SET latin1 NOT NULL, " +
					"note VARCHAR(1500) CHARACTER SET latin1, deleted DATETIME(3), FULLTEXT KEY words (name, extra), KEY long_one (path, note), extra VARCHAR(100)) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci",
			},
			byHand: []treeschema.Check{treeschema.Collation},
		},
		{
			name:  "a system-versioned table",
			keeps: "SELECT COUNT(*) FROM branches FOR SYSTEM_TIME ALL WHERE path = '/old'",
			mariaDB: []string{
				branches("PRIMARY KEY (id)) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci WITH SYSTEM VERSIONING"),
				"INSERT INTO branches (tree_id, name, path) VALUES (1, 'a', '/old')", "UPDATE branches SET path = '/a'",
			},
		},
		{
			name:  "a system-versioned table whose period has columns of its own",
			keeps: "SELECT COUNT(*) FROM branches FOR SYSTEM_TIME ALL WHERE path = '/old'",
			mariaDB: []string{
				branches("since TIMESTAMP(6) GENERATED ALWAYS AS ROW START, til TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (since, til), " +
					"PRIMARY KEY (id), UNIQUE KEY u (tree_id, parent_id, name), KEY (til)) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci WITH SYSTEM VERSIONING"),
				"INSERT INTO branches (tree_id, name, path) VALUES (1, 'a', '/old')", "UPDATE branches SET path = '/a'",
			},
		},
		{
			name: "siblings that the column of names holds equal",
			mysql: append([]string{
				branches("PRIMARY KEY (id), extra VARCHAR(100), FULLTEXT KEY words (name, extra)) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"),
			}, cased...),
			postgres: append([]string{
				"CREATE COLLATION IF NOT EXISTS caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
				"CREATE TABLE branches (id bigserial PRIMARY KEY, tree_id bigint NOT NULL, parent_id bigint, name text COLLATE caseless NOT NULL, path text NOT NULL, note text, deleted timestamptz)",
				"CREATE VIEW seen AS SELECT name FROM branches",
			}, cased...),
			sqlite: append([]string{
				"CREATE TABLE branches (id INTEGER PRIMARY KEY, tree_id INT NOT NULL, parent_id INT, name TEXT NOT NULL COLLATE NOCASE, path TEXT NOT NULL, note TEXT, deleted DATETIME)",
			}, cased...),
			byHand: []treeschema.Check{treeschema.Collation, treeschema.Siblings, treeschema.TopRows},
		},
		{
			name: "names of a type that does without case",
			postgres: append([]string{
				"CREATE EXTENSION IF NOT EXISTS citext",
				"CREATE TABLE branches (id bigserial PRIMARY KEY, tree_id bigint NOT NULL, parent_id bigint, name citext NOT NULL, path citext NOT NULL, note text, deleted timestamptz)",
			}, cased...),
		},
		{
			name: "compressed columns",
			mariaDB: []string{
				"CREATE TABLE plains (id VARCHAR(36) NOT NULL PRIMARY KEY, tree_id VARCHAR(36) COMPRESSED NOT NULL, parent_id VARCHAR(36) COMPRESSED, name VARCHAR(255) COMPRESSED NOT NULL DEFAULT 'x', path VARCHAR(500) COMPRESSED, ids VARCHAR(500) COMPRESSED) " +
					"CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
				"INSERT INTO plains VALUES ('r', 't', NULL, '', '', '/r'), ('a', 't', 'r', 'a', '/a', '/r/a')",
			},
		},
		{
			name: "keys of the type uuid",
			mariaDB: []string{
				"CREATE TABLE plains (id UUID NOT NULL PRIMARY KEY, tree_id UUID NOT NULL, parent_id UUID, name VARCHAR(255) NOT NULL, path VARCHAR(500) NOT NULL, ids VARCHAR(500)) CHARACTER SET utf8mb4",
				"INSERT INTO plains VALUES (UUID(), UUID(), NULL, '', '', '/r')",
			},
		},
		{
			name:  "columns that a view, a generated column and triggers use",
			keeps: "SELECT COUNT(*) FROM pg_trigger WHERE tgname = 'same' AND EXISTS (SELECT FROM pg_views WHERE viewname = 'seen')",
			postgres: []string{
				"CREATE TABLE branches (id bigserial PRIMARY KEY, tree_id bigint NOT NULL, parent_id bigint, name varchar(100) COLLATE \"en-x-icu\" NOT NULL, path varchar(500) COLLATE \"en-x-icu\" NOT NULL, " +
					"note text, deleted timestamptz, depth int GENERATED ALWAYS AS (length(path)) STORED)",
				"CREATE VIEW seen AS SELECT path FROM branches",
				"CREATE TRIGGER same BEFORE UPDATE OF path ON branches FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
			},
			byHand: []treeschema.Check{treeschema.Collation, treeschema.Triggers},
		},
		{
			name:  "columns of domains",
			keeps: "SELECT CASE WHEN COUNT(*) = 2 THEN 1 ELSE 0 END FROM information_schema.columns WHERE table_name = 'branches' AND domain_name IS NOT NULL",
			postgres: []string{
				"DROP DOMAIN IF EXISTS label, way",
				"CREATE DOMAIN way AS varchar(500) CHECK (value <> 'bad')", "CREATE DOMAIN label AS varchar(100) CHECK (value <> 'bad')",
				"CREATE TABLE branches (id bigserial PRIMARY KEY, tree_id bigint NOT NULL, parent_id bigint, name label NOT NULL, path way NOT NULL, note text, deleted timestamptz)",
			},
		},
		{
			name:  "columns of domains that are too short, or pad",
			keeps: "SELECT CASE WHEN COUNT(*) = 2 THEN 1 ELSE 0 END FROM information_schema.columns WHERE table_name = 'branches' AND domain_name IS NOT NULL",
			postgres: []string{
				"DROP DOMAIN IF EXISTS label, way",
				"CREATE DOMAIN way AS varchar(300) CHECK (value <> 'bad')", "CREATE DOMAIN label AS char(100)",
				"CREATE TABLE branches (id bigserial PRIMARY KEY, tree_id bigint NOT NULL, parent_id bigint, name label NOT NULL, path way NOT NULL, note text, deleted timestamptz)",
			},
			byHand: []treeschema.Check{treeschema.Collation, treeschema.Length},
		},
		{
			name: "an engine whose indexes are short", mysql: []string{
				branches("PRIMARY KEY (id), KEY p (tree_id, path(100))) ENGINE = MyISAM CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci"),
				"INSERT INTO branches (tree_id, name, path) VALUES (1, 'a', '/a')",
			},
		},
		{
			name: "no keys at all", mysql: []string{branches("KEY (id)) CHARACTER SET utf8mb4")},
		},
		{
			name: "a strict unique index beside", mysql: []string{branches("PRIMARY KEY (id), UNIQUE KEY u (tree_id, parent_id, name)) CHARACTER SET utf8mb4")},
			postgres: []string{
				"CREATE TABLE branches (id bigserial PRIMARY KEY, tree_id bigint NOT NULL, parent_id bigint, name varchar(200) NOT NULL, path text NOT NULL, note text, deleted timestamptz, UNIQUE (tree_id, parent_id, name))",
			},
			sqlite: []string{
				"CREATE TABLE branches (id INTEGER PRIMARY KEY, tree_id INT NOT NULL, parent_id INT, name TEXT NOT NULL, path TEXT NOT NULL, note TEXT, deleted DATETIME)",
				"CREATE UNIQUE INDEX u ON branches (tree_id, parent_id, name)",
			},
		},
	}
}

// statements are those of a dialect.
func (f foundTable) statements(w *schemaWorld) []string {
	w.Helper()
	if f.mariaDB != nil && w.db.Name() == "mysql" && strings.Contains(w.binary(), "nopad") {
		return f.mariaDB
	}
	dialect := w.db.Name()
	return map[string][]string{"mysql": f.mysql, "postgres": f.postgres, "sqlite": f.sqlite}[dialect]
}

// clear drops all tables.
func (w *schemaWorld) clear() {
	w.Helper()
	// A flaw may have put a view in the place of a table; of a table the statement fails.
	for _, view := range []string{"fruits", "seen"} {
		_ = gormplugin.AllowRawWrites(w.db).Exec("DROP VIEW " + view).Error
	}
	w.must(w.db.Migrator().DropTable("fruits0", "heirs", &Fruit{}, &Branch{}, &Plain{}, &Other{}, "trees"))
}

// holds checks that a query, if there is one, does not answer 0.
func (w *schemaWorld) holds(query string) {
	w.Helper()
	var number int
	if query == "" {
		return
	}
	if err := w.db.Raw(query).Row().Scan(&number); err != nil || number == 0 {
		w.Errorf("%s: %d (%v)", query, number, err)
	}
}

// checkFound runs what is proposed for tables as they were found, one statement after the other,
// and then lets [gormplugin.AutoMigrate] have the same tables.
func checkFound(t *testing.T, d Database) {
	for _, f := range foundTables() {
		w := newSchemaWorld(t, d)
		statements := f.statements(w)
		if statements == nil {
			continue
		}
		t.Run(f.name+": statements", func(t *testing.T) {
			w := newSchemaWorld(t, d)
			w.clear()
			for _, statement := range statements {
				w.exec(statement)
			}
			found := w.findings()
			if len(found) == 0 {
				t.Fatal("nothing is found")
			}
			for _, finding := range found {
				if len(finding.Statements) == 0 && finding.Advice == "" {
					t.Errorf("nothing is proposed: %v", finding)
				}
				for _, statement := range finding.Statements {
					w.exec(statement)
				}
			}
			for _, finding := range w.findings() {
				if finding.Check != treeschema.TableExists && !slices.Contains(f.byHand, finding.Check) {
					t.Errorf("after the statements: %v", finding)
				}
			}
			w.holds(f.keeps)
		})
		t.Run(f.name+": AutoMigrate", func(t *testing.T) {
			w := newSchemaWorld(t, d)
			w.clear()
			for _, statement := range statements {
				w.exec(statement)
			}
			first, err := gormplugin.AutoMigrate(w.db), gormplugin.AutoMigrate(w.db)
			if (first == nil) != (err == nil) {
				t.Errorf("AutoMigrate: %v, and again: %v", first, err)
			}
			if left, ok := errors.AsType[*gormplugin.SchemaError](err); err != nil && !ok {
				t.Fatal(err)
			} else if ok {
				for _, finding := range left.Findings {
					if finding.Automatic() {
						t.Errorf("left undone: %v", finding)
					}
					for _, statement := range finding.Statements {
						w.exec(statement)
					}
				}
			}
			for _, finding := range w.findings() {
				if finding.Severity == treeschema.Unsafe && !slices.Contains(f.byHand, finding.Check) {
					t.Errorf("after AutoMigrate and the rest: %v", finding)
				}
			}
			w.holds(f.keeps)
		})
	}
}
