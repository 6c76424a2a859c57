package fsck_test

import (
	"database/sql"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/test/fscktest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// The suite on MariaDB and MySQL; SQLite and PostgreSQL are in integration, whose module has their
// drivers.
func TestFsck_onMySQL(t *testing.T) { testserver.EachMySQL(t, runOnMySQL) }

func runOnMySQL(t *testing.T, server testserver.MySQLServer) {
	binary := "CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin"
	if server.Product == testserver.MariaDB {
		binary = "CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"
	}
	fscktest.Run(t, fscktest.Database{
		Dialect: fsck.MySQL,
		Binary:  binary,
		Loose:   "CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
		Open: func(t testing.TB) *sql.DB {
			t.Helper()
			db, err := sql.Open("mysql", server.Scratch(t))
			testerr.Must(t, err)
			t.Cleanup(func() { _ = db.Close() })
			return db
		},
	})
}

// A UUID that has to differ from row to row is one in MariaDB's own type, too.
func TestRepair_lostFoundHasUUIDOfItsOwn(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		if server.Product != testserver.MariaDB {
			t.Skip("has no such type")
		}
		db, err := sql.Open("mysql", server.Scratch(t))
		testerr.Must(t, err)
		defer func() { _ = db.Close() }()
		for _, statement := range []string{
			"CREATE TABLE suites (id BIGINT AUTO_INCREMENT PRIMARY KEY, parent_id BIGINT, name VARCHAR(40), path VARCHAR(200), token UUID NOT NULL UNIQUE)",
			"INSERT INTO suites VALUES (1, 99, 'a', '/a', UUID())",
		} {
			testerr.Must(t, testerr.Of(db.ExecContext(t.Context(), statement)))
		}
		checker, err := fsck.New(t.Context(), db, fsck.MySQL, fsck.Table{Table: "suites", Key: "id", SingleTree: "all", Parent: "parent_id", Name: "name", Path: "path"})
		testerr.Must(t, err)
		summary, err := checker.Repair(t.Context(), fsck.RepairOptions{Apply: true, Skipped: func(s fsck.Skip) error {
			t.Error("skipped", s)
			return nil
		}})
		if err != nil || summary.After.Total() > 0 {
			t.Errorf("left %v (%v)", summary.After.Problems, err)
		}
	})
}
