package fsck_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/fscktest"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// The suite on MariaDB and MySQL; SQLite and PostgreSQL are in cmd/pathlock, whose module has their
// drivers.
func TestMySQL(t *testing.T) { testserver.EachMySQL(t, runOnMySQL) }

func runOnMySQL(t *testing.T, server testserver.MySQLServer) {
	admin, err := sql.Open("mysql", server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close() })
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
			name := "pathlock_fsck_" + strings.ToLower(rand.Text()[:10])
			if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
				t.Fatal(err)
			}
			slash := strings.LastIndexByte(server.DSN, '/')
			db, err := sql.Open("mysql", server.DSN[:slash+1]+name+server.DSN[slash+1:])
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = db.Close()
				if _, err := admin.ExecContext(context.Background(), "DROP DATABASE "+name); err != nil {
					t.Error(err)
				}
			})
			return db
		},
	})
}
