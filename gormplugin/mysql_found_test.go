package gormplugin_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/gormplugin/gormplugintest"
	"github.com/pathlock-go/pathlock/gormplugin/treeschema"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"
)

// opened returns a DB with the plugin for a tree, and no table.
func opened(t *testing.T, d gormplugintest.Database, options ...gormplugin.Option) *gorm.DB {
	t.Helper()
	pool := sql.OpenDB(d.Connector)
	t.Cleanup(func() { _ = pool.Close() })
	db, err := gorm.Open(d.Dialector(pool), &gorm.Config{Logger: logger.Discard})
	must(t, err)
	must(t, db.Use(gormplugin.New(pathlock.New(memstore.New()), options...)))
	return db
}

// found returns what Verify finds.
func found(t *testing.T, db *gorm.DB) []treeschema.Finding {
	t.Helper()
	err := gormplugin.Verify(db)
	if err == nil {
		return nil
	}
	lacks, ok := errors.AsType[*gormplugin.SchemaError](err)
	if !ok {
		t.Fatal(err)
	}
	return lacks.Findings
}

// run runs statements that the plugin need not like.
func run(t *testing.T, db *gorm.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if err := gormplugin.AllowRawWrites(db).Exec(s).Error; err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// Whatever the session makes of quotes, all of a column's definition stays, and a foreign key that empties the parent is found.
func TestMySQLDefinitionsInEverySession(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		// Each rest is what a server of its kind says of the column; generated columns and checks name others.
		rests := map[string]string{
			"a default and a comment": "NOT NULL DEFAULT '/it''s, (' COMMENT 'a \"b\", `c`'",
			"a check":                 "DEFAULT NULL CHECK (path <> 'COLLATE \"x\"')",
		}
		for _, mode := range []string{"", "ANSI_QUOTES,", "NO_BACKSLASH_ESCAPES,"} {
			for _, quote := range []string{"1", "0"} {
				for what, rest := range rests {
					t.Run(mode+quote+" "+what, func(t *testing.T) {
						db := opened(t, mysqlDatabase(t, server, map[string]string{
							"sql_mode": "'" + mode + "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'", "sql_quote_show_create": quote,
						}), gormplugin.Model(&gormplugintest.Branch{}))
						must(t, gormplugin.AutoMigrate(db))
						run(t, db, "ALTER TABLE branches MODIFY path VARCHAR(500) COLLATE utf8mb4_unicode_ci "+rest,
							"ALTER TABLE branches ADD CONSTRAINT up FOREIGN KEY (parent_id) REFERENCES branches (id) ON DELETE SET NULL")
						before := definitionOf(t, db, "path")
						findings := found(t, db)
						if len(findings) != 2 || findings[0].Check != treeschema.Collation || findings[1].Check != treeschema.ForeignKeys || findings[1].Severity != treeschema.Unsafe {
							t.Fatalf("found %v", findings)
						}
						for _, f := range findings {
							run(t, db, f.Statements...)
						}
						if findings := found(t, db); findings != nil {
							t.Errorf("after the statements: %v", findings)
						}
						after := definitionOf(t, db, "path")
						for _, words := range []string{"utf8mb4_unicode_ci", "utf8mb4_nopad_bin", "utf8mb4_0900_bin"} {
							before, after = strings.ReplaceAll(before, words, "…"), strings.ReplaceAll(after, words, "…")
						}
						if before != after {
							t.Errorf("the definition was\n%s\nand is\n%s", before, after)
						}
					})
				}
			}
		}
	})
}

// definitionOf returns what the catalogue says of a column, but for its collation.
func definitionOf(t *testing.T, db *gorm.DB, column string) string {
	t.Helper()
	var row map[string]any
	must(t, db.Raw("SELECT COLUMN_TYPE, IS_NULLABLE, COLUMN_DEFAULT, COLUMN_COMMENT, EXTRA, GENERATION_EXPRESSION FROM information_schema.COLUMNS "+
		"WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'branches' AND COLUMN_NAME = ?", column).Scan(&row).Error)
	var checks []string
	must(t, db.Raw("SELECT CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()").Scan(&checks).Error)
	return fmt.Sprintf("%v %v", row, checks)
}

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
								if strings.HasPrefix(s, "SET GLOBAL") {
									continue
								}
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

// What is proposed can be run again and again: where rows keep an index from being made, no column more is added each time, and
// when they are gone, the one that is there serves.
func TestMySQLProposalsLeaveNothingBehind(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		for _, tree := range []string{"BIGINT", "CHAR(36) CHARACTER SET ascii COLLATE ascii_bin", "VARCHAR(40)", "BINARY(16)"} {
			t.Run(tree, func(t *testing.T) {
				db := opened(t, mysqlDatabase(t, server, nil), gormplugin.Model(&gormplugintest.Branch{}))
				run(t, db, "CREATE TABLE branches (id BIGINT AUTO_INCREMENT PRIMARY KEY, tree_id "+tree+", parent_id BIGINT, name VARCHAR(100), path VARCHAR(500), note LONGTEXT, deleted DATETIME(3)) CHARACTER SET utf8mb4",
					"INSERT INTO branches (tree_id, name, path) VALUES (1, 'a', '/a'), (1, 'a', '/b')")
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
				run(t, db, "DELETE FROM branches WHERE path = '/b'")
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
		must(t, gormplugin.AutoMigrate(db))
		var note string
		must(t, db.Raw("SELECT note FROM noteds").Scan(&note).Error)
		if note != "longer than ten" {
			t.Errorf("the note is %q", note)
		}
	})
}

// What is proposed to add runs while others write, as the server itself confirms.
func TestMySQLStatementsRunOnline(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		db := opened(t, mysqlDatabase(t, server, nil), gormplugin.Model(&gormplugintest.Branch{}))
		must(t, db.AutoMigrate(&gormplugintest.Branch{}))
		d := mysqlBinary(t, db)
		run(t, db, "ALTER TABLE branches MODIFY name VARCHAR(100) COLLATE "+d+", MODIFY path VARCHAR(500) COLLATE "+d,
			"INSERT INTO branches (tree_id, name, path) VALUES (1, '', '')")
		findings := found(t, db)
		if len(findings) != 3 {
			t.Fatalf("found %v, want the three indexes", findings)
		}
		for _, f := range findings {
			for _, s := range f.Statements {
				run(t, db, s+", ALGORITHM = INPLACE, LOCK = NONE")
			}
		}
		if findings := found(t, db); findings != nil {
			t.Error(findings)
		}
	})
}

// mysqlBinary is the collation that different texts differ by.
func mysqlBinary(t *testing.T, db *gorm.DB) string {
	t.Helper()
	var version string
	must(t, db.Raw("SELECT VERSION()").Scan(&version).Error)
	if strings.Contains(version, "MariaDB") {
		return "utf8mb4_nopad_bin"
	}
	return "utf8mb4_0900_bin"
}

// Elsewhere is a tree in a table whose name says which database it is in.
type Elsewhere struct {
	ID       int64
	TreeID   int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path" gorm:"size:500"`
	Note     string `gorm:"index:by_note;size:10"`
}

// A table in another database is made, completed and left alone as one in the current database is.
func TestMySQLAutoMigrateElsewhere(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		other := opened(t, mysqlDatabase(t, server, nil), gormplugin.Model(&gormplugintest.Branch{})).Migrator().CurrentDatabase()
		d := mysqlDatabase(t, server, nil)
		pool := sql.OpenDB(d.Connector)
		t.Cleanup(func() { _ = pool.Close() })
		db, err := gorm.Open(d.Dialector(pool), &gorm.Config{Logger: logger.Discard, NamingStrategy: schema.NamingStrategy{TablePrefix: other + "."}})
		must(t, err)
		must(t, db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Elsewhere{}))))
		for range 2 {
			must(t, gormplugin.AutoMigrate(db))
			must(t, gormplugin.Verify(db))
		}
		run(t, db, "ALTER TABLE "+other+".elsewheres DROP COLUMN note")
		must(t, gormplugin.AutoMigrate(db))
		must(t, gormplugin.Verify(db))
	})
}

// Who may not see triggers is told so, at whatever level the privilege is missing or granted.
func TestMySQLTriggersThatCannotBeSeen(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		d := mysqlDatabase(t, server, nil)
		root := opened(t, d, gormplugin.Model(&gormplugintest.Branch{}))
		must(t, gormplugin.AutoMigrate(root))
		run(t, root, "CREATE TRIGGER meddle BEFORE UPDATE ON branches FOR EACH ROW SET NEW.path = CONCAT(NEW.path, 'x')")
		database := root.Migrator().CurrentDatabase()
		user := "u" + database[len(database)-12:]
		run(t, root, "CREATE USER "+user+"@'%' IDENTIFIED BY 'secret'")
		t.Cleanup(func() { run(t, root, "DROP USER "+user+"@'%'") })
		for _, c := range []struct {
			grant string
			sees  bool
		}{
			{"SELECT, INSERT, UPDATE, DELETE ON " + database + ".*", false},
			{"SELECT, TRIGGER ON " + database + ".branches", true},
			{"SELECT, TRIGGER ON `" + strings.ReplaceAll(database, "_", `\_`) + "`.*", true},
			{"ALL PRIVILEGES ON `pathlock%`.*", true},
		} {
			run(t, root, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM "+user+"@'%'", "GRANT "+c.grant+" TO "+user+"@'%'")
			config := mysqlConfig(t, server)
			config.User, config.Passwd, config.DBName = user, "secret", database
			as := d
			as.Connector = mysqlConnector(t, config)
			findings := found(t, opened(t, as, gormplugin.Model(&gormplugintest.Branch{})))
			want := treeschema.Warning
			if c.sees {
				want = treeschema.Unsafe
			}
			if len(findings) != 1 || findings[0].Check != treeschema.Triggers || findings[0].Severity != want {
				t.Errorf("%s: found %v", c.grant, findings)
			}
		}
	})
}

// mysqlConfig is how to connect to the server.
func mysqlConfig(t *testing.T, server testserver.MySQLServer) *mysqldriver.Config {
	t.Helper()
	config, err := mysqldriver.ParseDSN(server.DSN)
	must(t, err)
	config.ParseTime = true
	return config
}

// Settings by which rows are not what was written, or a transaction ends elsewhere, are found in the session.
func TestMySQLUnsafeSessions(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		for _, c := range []struct {
			variable, value string
			want            treeschema.Check
		}{
			{"completion_type", "'CHAIN'", treeschema.TransactionEnd},
			{"autocommit", "0", treeschema.TransactionEnd},
			{"unique_checks", "0", treeschema.UniqueChecks},
		} {
			d := mysqlDatabase(t, server, nil)
			must(t, gormplugin.AutoMigrate(opened(t, d, gormplugin.Model(&gormplugintest.Branch{}))))
			config := mysqlConfig(t, server)
			config.DBName, config.Params = opened(t, d, gormplugin.Model(&gormplugintest.Branch{})).Migrator().CurrentDatabase(), map[string]string{c.variable: c.value}
			as := d
			as.Connector = mysqlConnector(t, config)
			findings := found(t, opened(t, as, gormplugin.Model(&gormplugintest.Branch{})))
			if len(findings) != 1 || findings[0].Check != c.want || findings[0].Severity != treeschema.Unsafe {
				t.Errorf("%s: found %v", c.variable, findings)
			}
		}
	})
}

// A session's temporary table is no table of the tree.
func TestMySQLTemporaryTable(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		db := opened(t, mysqlDatabase(t, server, nil), gormplugin.Model(&gormplugintest.Branch{}))
		must(t, gormplugin.AutoMigrate(db))
		must(t, db.Transaction(func(tx *gorm.DB) error {
			run(t, tx, "CREATE TEMPORARY TABLE branches (id BIGINT PRIMARY KEY)")
			findings := found(t, tx)
			if !slices.ContainsFunc(findings, func(f treeschema.Finding) bool { return strings.Contains(f.Missing, "temporary") }) {
				t.Errorf("found %v", findings)
			}
			run(t, tx, "DROP TEMPORARY TABLE branches")
			return nil
		}))
	})
}
