package database_test

import (
	"testing"

	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// With the option, transactions need not ask for the level.
func TestMySQLConnectionsAreReadCommitted(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		connectionsAreReadCommitted(t, testdb.MySQL(t, server))
	})
}

func connectionsAreReadCommitted(t *testing.T, url string) {
	t.Helper()
	for asked, want := range map[bool]string{true: "READ-COMMITTED", false: "REPEATABLE-READ"} {
		db, err := database.Open(url, database.Options{ReadCommitted: asked})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		if db.ReadCommitted != asked {
			t.Errorf("asked for: %v, the database says %v", asked, db.ReadCommitted)
		}
		// The first name is MariaDB's, the second one MySQL's.
		var name, level string
		row := db.Pool().QueryRow("SHOW VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')")
		if err := row.Scan(&name, &level); err != nil || level != want {
			t.Errorf("asked for: %v, %s is %q, %v, want %q", asked, name, level, err, want)
		}
	}
}
