package gormplugin_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/gormplugin/treeschema"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"gorm.io/gorm"
)

// In a session that is not strict, AutoMigrate cuts nothing off.
func TestMySQLAutoMigrateCutsNothingOff(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		long := strings.Repeat("x", 300)
		for _, c := range []struct{ name, column string }{
			{"a name", "name VARCHAR(300), path VARCHAR(500)"},
			{"a name that is a text", "name TEXT, path VARCHAR(500)"},
		} {
			t.Run(c.name, func(t *testing.T) {
				db := opened(t, mysqlDatabase(t, server, map[string]string{"sql_mode": "''"}), gormplugin.Model(&gormplugintest.Branch{}))
				run(t, db, "CREATE TABLE branches (id BIGINT AUTO_INCREMENT PRIMARY KEY, tree_id BIGINT NOT NULL, parent_id BIGINT, "+c.column+", note LONGTEXT, deleted DATETIME(3)) CHARACTER SET utf8mb4",
					"INSERT INTO branches (tree_id, name, path) VALUES (1, '"+long+"', '/x')")
				if _, ok := errors.AsType[*gormplugin.TooLongError](gormplugin.AutoMigrate(db)); !ok {
					t.Error("AutoMigrate does not say that a name is too long")
				}
				var length int
				must(t, db.Raw("SELECT CHAR_LENGTH(name) FROM branches").Scan(&length).Error)
				if length != 300 {
					t.Errorf("the name has %d characters, want 300", length)
				}
				var mode string
				must(t, db.Raw("SELECT @@SESSION.sql_mode").Scan(&mode).Error)
				if mode != "" {
					t.Errorf("sql_mode is %q afterwards", mode)
				}
			})
		}
	})
}

// What Verify proposes cuts nothing off either: where texts are too long for an index, it says so.
func TestMySQLVerifyCutsNothingOff(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		for _, c := range []struct {
			name, definition, value string
			says                    string
		}{
			{"a long name", "tree_id BIGINT, name TEXT", "1, REPEAT('x', 300)", "shorten name to 255 characters in 1 rows"},
			{"a name that fits", "tree_id BIGINT, name TEXT", "1, REPEAT('x', 200)", ""},
			{"a name of bytes that are no text", "tree_id BIGINT, name VARBINARY(100)", "1, X'61FF62'", ""},
		} {
			for _, mode := range []string{"''", "'STRICT_ALL_TABLES'"} {
				t.Run(c.name+" "+mode, func(t *testing.T) {
					db := opened(t, mysqlDatabase(t, server, map[string]string{"sql_mode": mode}), gormplugin.Model(&gormplugintest.Branch{}))
					run(t, db, "CREATE TABLE branches (id BIGINT AUTO_INCREMENT PRIMARY KEY, parent_id BIGINT, "+c.definition+", path VARCHAR(500), note LONGTEXT, deleted DATETIME(3)) CHARACTER SET utf8mb4",
						"INSERT INTO branches (tree_id, name, path) VALUES ("+c.value+", '/x')")
					var before, after string
					must(t, db.Raw("SELECT HEX(name) FROM branches").Scan(&before).Error)
					says := ""
					must(t, db.Connection(func(tx *gorm.DB) error {
						for _, f := range found(t, tx) {
							says += f.Advice
							for _, s := range f.Statements {
								// A statement may fail, such as an index on a name that is no text.
								_ = gormplugin.AllowRawWrites(tx).Exec(s).Error
							}
						}
						return nil
					}))
					must(t, db.Raw("SELECT HEX(name) FROM branches").Scan(&after).Error)
					if after != before {
						t.Errorf("the name was %s and is %s", before, after)
					}
					if !strings.Contains(says, c.says) || c.says == "" && strings.Contains(says, "shorten") {
						t.Errorf("Verify says %q, want %q", says, c.says)
					}
				})
			}
		}
	})
}

// What is proposed can be run again and again: where rows keep an index from being made, no column
// more is added each time, and when they are gone, the one that is there serves.
func TestMySQLProposalsLeaveNothingBehind(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		for _, tree := range []string{"BIGINT", "CHAR(36) CHARACTER SET ascii COLLATE ascii_bin", "VARCHAR(40)", "BINARY(16)"} {
			t.Run(tree, func(t *testing.T) {
				db := opened(t, mysqlDatabase(t, server, nil), gormplugin.Model(&gormplugintest.Branch{}))
				run(t, db, "CREATE TABLE branches (id BIGINT AUTO_INCREMENT PRIMARY KEY, tree_id "+tree+", parent_id BIGINT, name VARCHAR(100), path VARCHAR(500), note LONGTEXT, deleted DATETIME(3)) CHARACTER SET utf8mb4",
					"INSERT INTO branches (tree_id, name, path) VALUES (1, 'a', '/a'), (1, 'a', '/a')")
				columns := func() (names []string) {
					must(t, db.Raw("SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'branches'").Scan(&names).Error)
					return names
				}
				runsAll := func() {
					for _, f := range found(t, db) {
						for _, s := range f.Statements {
							_ = gormplugin.AllowRawWrites(db).Exec(s).Error
						}
					}
				}
				runsAll()
				once := columns()
				runsAll()
				if again := columns(); len(again) != len(once) {
					t.Errorf("the columns were %q and are %q", once, again)
				}
				run(t, db, "DELETE FROM branches WHERE id = 2")
				runsAll()
				if again, findings := columns(), found(t, db); len(again) != len(once) || findings != nil {
					t.Errorf("the columns are %q, and found is %v", again, findings)
				}
			})
		}
		t.Run("a path that is generated", func(t *testing.T) {
			db := opened(t, mysqlDatabase(t, server, nil), gormplugin.Model(&gormplugintest.Branch{}))
			run(t, db, "CREATE TABLE branches (id BIGINT AUTO_INCREMENT PRIMARY KEY, tree_id BIGINT, parent_id BIGINT, name VARCHAR(100), path VARCHAR(500) AS (CONCAT('/', name)) STORED, note LONGTEXT, deleted DATETIME(3)) CHARACTER SET utf8mb4")
			for _, f := range found(t, db) {
				run(t, db, f.Statements...)
			}
			if findings := found(t, db); len(findings) != 1 || findings[0].Check != treeschema.Generated {
				t.Errorf("found %v", findings)
			}
		})
	})
}

// Noted is a tree with another text, which its table has more room for.
type Noted struct {
	ID       int64
	TreeID   int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path" gorm:"size:500"`
	Note     string `gorm:"size:10"`
}

// Columns that form no tree are left as they are, whatever the model says of them.
func TestMySQLAutoMigrateLeavesOtherColumns(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		db := opened(t, mysqlDatabase(t, server, map[string]string{"sql_mode": "''"}), gormplugin.Model(&Noted{}))
		run(t, db, "CREATE TABLE noteds (id BIGINT AUTO_INCREMENT PRIMARY KEY, tree_id BIGINT, parent_id BIGINT, name VARCHAR(100), path VARCHAR(500), note VARCHAR(50)) CHARACTER SET utf8mb4",
			"INSERT INTO noteds (tree_id, name, path, note) VALUES (1, 'a', '/a', 'longer than ten')")
		if err := gormplugin.AutoMigrate(db); !errors.Is(err, gormplugin.ErrUnsafeSchema) {
			t.Errorf("AutoMigrate: got the error %v, want what Verify says of the session", err)
		}
		var note string
		must(t, db.Raw("SELECT note FROM noteds").Scan(&note).Error)
		if note != "longer than ten" {
			t.Errorf("the note is %q", note)
		}
	})
}

// Tables of MySQL that the usual statements cannot mend are mended all the same.
func TestMySQLOddTables(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		for _, c := range []struct{ name, key, path, only string }{
			{name: "a path that is a TINYTEXT", key: "PRIMARY KEY", path: "TINYTEXT"},
			{name: "a primary key that the server made up", path: "VARCHAR(500)", only: testserver.Oracle},
		} {
			t.Run(c.name, func(t *testing.T) {
				settings := map[string]string{}
				if c.only == testserver.Oracle {
					if server.Product != c.only {
						return
					}
					settings["sql_generate_invisible_primary_key"] = "1"
				}
				db := opened(t, mysqlDatabase(t, server, settings), gormplugin.Model(&gormplugintest.Branch{}))
				run(t, db, "CREATE TABLE branches (id BIGINT NOT NULL "+c.key+", tree_id BIGINT, parent_id BIGINT, name VARCHAR(100), path "+c.path+", note LONGTEXT, deleted DATETIME(3)) CHARACTER SET utf8mb4")
				for range 2 {
					for _, f := range found(t, db) {
						run(t, db, f.Statements...)
					}
				}
				if findings := found(t, db); findings != nil {
					t.Error(findings)
				}
			})
		}
	})
}
