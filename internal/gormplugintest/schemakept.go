package gormplugintest

import (
	"errors"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
)

// keptTables are tables whose definitions say more than their model does, by dialect.
var keptTables = map[string][]string{
	"mysql": {
		"CREATE TABLE branches (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'the key', tree_id INT NOT NULL DEFAULT 7, parent_id BIGINT, " +
			"name VARCHAR(100) NOT NULL DEFAULT 'x', path VARCHAR(500) NOT NULL DEFAULT '/x', note VARCHAR(40) NOT NULL DEFAULT 'none' CHECK (note <> 'bad'), " +
			"deleted DATETIME(6), extra INT NOT NULL DEFAULT 3, UNIQUE KEY by_extra (extra, note)) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci",
		"CREATE TABLE others (id BIGINT AUTO_INCREMENT PRIMARY KEY, name LONGTEXT, FOREIGN KEY (id) REFERENCES branches (id) ON DELETE CASCADE)",
		"INSERT INTO branches (id) VALUES (1)", "INSERT INTO others VALUES (1, 'below')",
		"CREATE TRIGGER log AFTER INSERT ON branches FOR EACH ROW INSERT INTO others VALUES (NEW.id, 'by trigger')",
	},
	"postgres": {
		"CREATE TABLE branches (id BIGSERIAL PRIMARY KEY, tree_id INT NOT NULL DEFAULT 7, parent_id BIGINT, name VARCHAR(100) NOT NULL DEFAULT 'x', path VARCHAR(500) NOT NULL DEFAULT '/x', " +
			"note VARCHAR(40) NOT NULL DEFAULT 'none' CHECK (note <> 'bad'), deleted TIMESTAMPTZ(3), extra INT NOT NULL DEFAULT 3, UNIQUE (extra, note))",
		"CREATE TABLE others (id BIGINT PRIMARY KEY REFERENCES branches (id) ON DELETE CASCADE, name text)",
		"INSERT INTO branches DEFAULT VALUES", "INSERT INTO others VALUES (1, 'below')",
	},
	"sqlite": {
		"PRAGMA foreign_keys = ON",
		"CREATE TABLE branches (id INTEGER PRIMARY KEY, tree_id INT NOT NULL DEFAULT 7, parent_id INT, name TEXT NOT NULL DEFAULT 'x', path TEXT NOT NULL DEFAULT '/x', " +
			"note TEXT NOT NULL DEFAULT 'none' CHECK (note <> 'bad'), deleted DATETIME, extra INT NOT NULL DEFAULT 3 UNIQUE)",
		"CREATE TABLE others (id INTEGER PRIMARY KEY REFERENCES branches (id) ON DELETE CASCADE, name TEXT NOT NULL DEFAULT 'x')",
		"INSERT INTO branches (id) VALUES (1)", "INSERT INTO others VALUES (1, 'below')",
		"CREATE TRIGGER log AFTER INSERT ON branches BEGIN INSERT INTO others VALUES (new.id, 'by trigger'); END",
	},
}

// definitions are queries for all that a database says of its tables.
var definitions = map[string][]string{
	"mysql": {
		"SELECT CONCAT_WS(' ', TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, COLLATION_NAME, IS_NULLABLE, COLUMN_DEFAULT, COLUMN_COMMENT, EXTRA) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()",
		"SELECT CONCAT_WS(' ', TABLE_NAME, INDEX_NAME, COLUMN_NAME, NON_UNIQUE) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()",
		"SELECT CONCAT_WS(' ', CONSTRAINT_NAME, DELETE_RULE) FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()",
		"SELECT CONCAT_WS(' ', TRIGGER_NAME, ACTION_STATEMENT) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()",
	},
	"postgres": {
		"SELECT concat_ws(' ', table_name, column_name, data_type, character_maximum_length, datetime_precision, is_nullable, column_default, " +
			"collation_name, col_description(table_name::regclass, ordinal_position)) FROM information_schema.columns WHERE table_schema = 'public'",
		"SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'",
		"SELECT conname || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace",
	},
	"sqlite": {"SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"},
}

// defined is all that the database says of its tables.
func (w *schemaWorld) defined() []string {
	w.Helper()
	var all []string
	for _, query := range append(slices.Clone(definitions[w.db.Name()]), "SELECT name FROM others") {
		var lines []string
		w.must(w.db.Raw(query).Scan(&lines).Error)
		all = append(all, lines...)
	}
	return all
}

// checkKept checks that [gormplugin.AutoMigrate] adds to tables that are there, and takes nothing
// from them.
func checkKept(t *testing.T, d Database) {
	w := newSchemaWorld(t, d, gormplugin.Model(&Branch{}))
	for _, statement := range keptTables[w.db.Name()] {
		w.exec(statement)
	}
	before := w.defined()
	for range 2 {
		if err := gormplugin.AutoMigrate(w.db, &Other{}); !errors.Is(err, gormplugin.ErrUnsafeSchema) {
			w.must(err)
		}
	}
	after := w.defined()
	for _, line := range before {
		if !slices.Contains(after, line) {
			t.Errorf("gone: %s", line)
		}
	}
	if len(after) <= len(before) {
		t.Errorf("AutoMigrate has added nothing to %q", after)
	}
}
