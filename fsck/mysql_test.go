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
