package gormplugin_test

import (
	"database/sql/driver"
	"strconv"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/gormplugin/treeschema"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"gorm.io/gorm"
)

// A probe shows what triggers do to a user who may not see them.
func TestMySQLProbesWhatCannotBeSeen(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		for _, c := range []struct{ name, trigger, says string }{
			{"no trigger", "", ""},
			{"one that keeps a log", "CREATE TRIGGER meddle BEFORE UPDATE ON branches FOR EACH ROW INSERT INTO seen VALUES (NEW.path)", ""},
			{"one that writes the path", "CREATE TRIGGER meddle BEFORE UPDATE ON branches FOR EACH ROW SET NEW.path = CONCAT(NEW.path, 'x')", "after the rename of a row, its path is"},
			{"one that writes the name of what is moved", "CREATE TRIGGER meddle BEFORE UPDATE ON branches FOR EACH ROW SET NEW.name = IF(NEW.parent_id <> OLD.parent_id, 'x', NEW.name)", "after the move of a row, its name is"},
			{"one that brings deleted rows back", "CREATE TRIGGER meddle BEFORE UPDATE ON branches FOR EACH ROW SET NEW.deleted = NULL", "the deletion of a row has written 0 rows"},
		} {
			t.Run(c.name, func(t *testing.T) {
				d := mysqlDatabase(t, server, nil)
				root := opened(t, d, gormplugin.Model(&gormplugintest.Branch{}))
				must(t, gormplugin.AutoMigrate(root))
				run(t, root, "CREATE TABLE seen (path VARCHAR(500))", "INSERT INTO branches (tree_id, parent_id, name, path) VALUES (1, NULL, '', '')")
				if c.trigger != "" {
					run(t, root, c.trigger)
				}
				as := d
				as.Connector = blindConnector(t, server, root)
				db := opened(t, as, gormplugin.Model(&gormplugintest.Branch{}))
				if findings := found(t, db); len(findings) != 1 || findings[0].Severity != treeschema.Warning || !strings.Contains(findings[0].Advice, "Probing") {
					t.Errorf("without a probe: found %v", findings)
				}
				findings := found(t, gormplugin.Probing(db))
				if c.says == "" && findings != nil || c.says != "" && (len(findings) != 1 || findings[0].Severity != treeschema.Unsafe || !strings.Contains(findings[0].Missing, c.says)) {
					t.Errorf("with a probe: found %v, want %q", findings, c.says)
				}
				var rows, logged int64
				must(t, root.Raw("SELECT COUNT(*), (SELECT COUNT(*) FROM seen) FROM branches").Row().Scan(&rows, &logged))
				if rows != 1 || logged != 0 {
					t.Errorf("%d rows and %d lines are left, want 1 and 0", rows, logged)
				}
			})
		}
	})
}

// blindConnector connects as a user who may read and write the tables, and see no triggers.
func blindConnector(t *testing.T, server testserver.MySQLServer, root *gorm.DB) driver.Connector {
	t.Helper()
	database := root.Migrator().CurrentDatabase()
	user := "b" + database[len(database)-12:]
	run(t, root, "CREATE USER "+user+"@'%' IDENTIFIED BY 'secret'", "GRANT SELECT, INSERT, UPDATE, DELETE ON "+database+".* TO "+user+"@'%'")
	t.Cleanup(func() { run(t, root, "DROP USER "+user+"@'%'") })
	config := mysqlConfig(t, server)
	config.User, config.Passwd, config.DBName = user, "secret", database
	return mysqlConnector(t, config)
}

// In a large table a probe compares the rows beside its own, and says so; harm to those shows.
func TestMySQLProbeOfLargeTable(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		db := opened(t, mysqlDatabase(t, server, nil), gormplugin.Model(&gormplugintest.Branch{}))
		must(t, gormplugin.AutoMigrate(db))
		run(t, db, "CREATE PROCEDURE meddle(INOUT given VARCHAR(500)) SET @seen = given",
			"CREATE TRIGGER meddle BEFORE UPDATE ON branches FOR EACH ROW CALL meddle(NEW.path)",
			"INSERT INTO branches (id, tree_id, parent_id, name, path) VALUES (1, 1, NULL, '', '')")
		for doubled, rows := 0, 1; doubled < 17; doubled, rows = doubled+1, rows*2 {
			n := strconv.Itoa(rows)
			run(t, db, "INSERT INTO branches (id, tree_id, parent_id, name, path) SELECT id + "+n+", 1, 1, id + "+n+", CONCAT('/', id + "+n+") FROM branches")
		}
		findings := found(t, gormplugin.Probing(db))
		if len(findings) != 1 || findings[0].Severity != treeschema.Warning || !strings.Contains(findings[0].Missing, "found no harm, but the table has more than 100000 rows") {
			t.Errorf("found %v", findings)
		}
	})
}

// A probe is asked for of a session, and cannot be made within a transaction.
func TestMySQLProbeWithinTransaction(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		db := opened(t, mysqlDatabase(t, server, nil), gormplugin.Model(&gormplugintest.Branch{}))
		must(t, gormplugin.AutoMigrate(db))
		must(t, gormplugin.Verify(gormplugin.Probing(db)))
		must(t, db.Transaction(func(tx *gorm.DB) error {
			if err := gormplugin.Verify(gormplugin.Probing(tx)); err == nil || !strings.Contains(err.Error(), "outside of it") {
				t.Errorf("within a transaction: %v", err)
			}
			return gormplugin.Verify(tx)
		}))
	})
}
