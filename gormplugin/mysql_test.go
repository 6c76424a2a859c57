package gormplugin_test

import (
	"database/sql"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// Sequential tests do not need the race detector, and run in package integration.
func TestMySQLRaces(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		gormplugintest.RunRaces(t, gormplugintest.OnMySQL(t, server, nil))
	})
}

// Whatever the lock store does, the tree is sound: at every isolation level, whether the session
// has it or the transactions ask for it.
func TestMySQLStorms(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		// One product for each level will do.
		levels := map[string][]string{testserver.MariaDB: {"READ-UNCOMMITTED", "SERIALIZABLE"}, testserver.Oracle: {"READ-COMMITTED"}}[server.Product]
		for _, level := range levels {
			t.Run(level, func(t *testing.T) {
				t.Parallel()
				d := gormplugintest.OnMySQL(t, server, map[string]string{"transaction_isolation": "'" + level + "'"})
				d.DirtyReads = level == "READ-UNCOMMITTED"
				gormplugintest.RunStorms(t, d)
			})
		}
		t.Run("mixed", func(t *testing.T) {
			t.Parallel()
			gormplugintest.RunStorms(t, gormplugintest.OnMySQL(t, server, nil), sql.LevelDefault, sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable)
		})
	})
}
