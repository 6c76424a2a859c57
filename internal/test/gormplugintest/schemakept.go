package gormplugintest

import (
	"errors"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// keptTables are tables whose definitions say more than their model does, by dialect.
var keptTables = map[string][]string{
	"mysql": {
		"CREATE TABLE branches (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'the key', tree_id INT NOT NULL DEFAULT 7, parent_id BIGINT, " +
			"name VARCHAR(100) NOT NULL DEFAULT 'x', path VARCHAR(500) NOT NULL DEFAULT '/x''\\\\' COMMENT 'the \\\\ ''path''', note VARCHAR(40) NOT NULL DEFAULT 'none' CHECK (note <> 'bad'), " +
			"deleted DATETIME(6), extra INT NOT NULL DEFAULT 3, UNIQUE KEY by_extra (extra, note)) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci",
		"CREATE TABLE others (id BIGINT AUTO_INCREMENT PRIMARY KEY, name LONGTEXT, FOREIGN KEY (id) REFERENCES branches (id) ON DELETE CASCADE)",
		"INSERT INTO branches (id) VALUES (1)", "INSERT INTO others VALUES (1, 'below')",
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
	},
}

// Counted is a branch with a column, from before, that is to be unique.
type Counted struct {
	Branch
	Extra int `gorm:"unique"`
}

// TableName implements GORM's interface.
func (Counted) TableName() string { return "branches" }

// Keeper is a model of the program's, which knows nothing of trees.
type Keeper struct {
	ID       int64
	BranchID int64
	Branch   *Branch
}

// defined is the database's full description of its tables, and a row.
func (w *schemaWorld) defined() []string {
	w.Helper()
	queries := map[string][]string{
		"mysql": {
			"SELECT CONCAT_WS(' ', TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, COLLATION_NAME, IS_NULLABLE, COLUMN_DEFAULT, COLUMN_COMMENT, EXTRA) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()",
			"SELECT CONCAT_WS(' ', TABLE_NAME, INDEX_NAME, COLUMN_NAME, NON_UNIQUE) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()",
		},
		"postgres": {
			"SELECT concat_ws(' ', table_name, column_name, data_type, character_maximum_length, is_nullable, column_default, collation_name) FROM information_schema.columns WHERE table_schema = 'public'",
			"SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' UNION ALL SELECT conname || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace",
		},
		"sqlite": {"SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"},
	}[w.db.Name()]
	var all []string
	for _, query := range append(queries, "SELECT name FROM others") {
		var lines []string
		w.must(w.db.Raw(query).Scan(&lines).Error)
		all = append(all, lines...)
	}
	return all
}

// checkKept checks that [gormplugin.AutoMigrate] adds to tables that are there, and takes nothing
// from them.
func checkKept(t *testing.T, d Database) {
	w := newSchemaWorld(t, d, gormplugin.Model(&Counted{}))
	for _, statement := range keptTables[w.db.Name()] {
		w.exec(statement)
	}
	before := w.defined()
	adds := func(db *gorm.DB) error { return gormplugin.AutoMigrate(db, &Other{}) }
	for _, err := range []error{adds(w.db), w.db.Connection(adds), w.db.Transaction(adds)} {
		if !errors.Is(err, gormplugin.ErrUnsafeSchema) {
			w.must(err)
		}
	}
	if err := w.db.Create(&Counted{Branch: Branch{TreeID: 9, Name: "y"}, Extra: 3}).Error; w.plugin.FailureOf(err) != pathlock.FailureDuplicate {
		t.Errorf("the column is not unique: %v", err)
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
	if w.db.Name() != "mysql" {
		return
	}
	// Statements keep the rest of a definition.
	const definition = "SELECT CONCAT_WS(' ', IS_NULLABLE, COLUMN_DEFAULT, COLUMN_COMMENT) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'branches' AND COLUMN_NAME = 'path'"
	var said, says string
	w.must(w.db.Raw(definition).Scan(&said).Error)
	for _, f := range w.findings() {
		for _, statement := range f.Statements {
			w.exec(statement)
		}
	}
	w.must(w.db.Raw(definition).Scan(&says).Error)
	if found := w.findings(); says != said || slices.ContainsFunc(found, func(f gormplugin.Finding) bool { return f.Severity == gormplugin.Unsafe }) {
		t.Errorf("the statements have made %q of %q, and leave %v", says, said, found)
	}
	// GORM's own finds another default, even by the association of another model. It would alter
	// the column, which would lose its collation.
	if refused, ok := errors.AsType[*gormplugin.RawWriteError](w.db.AutoMigrate(&Keeper{})); !ok || refused.Statement != "ALTER" || refused.Table != "branches" {
		t.Errorf("GORM's AutoMigrate may alter a guarded table: %v", refused)
	}
}
