package integration

import (
	"database/sql"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
)

func TestPostgresRaces(t *testing.T) {
	t.Parallel()
	gormplugintest.RunRaces(t, databases.Postgres(t, databases.WordOrder, nil))
}

// Whatever the lock store does, the tree is sound, at every isolation level that the plugin
// accepts.
func TestPostgresStorms(t *testing.T) {
	t.Parallel()
	t.Run("serializable", func(t *testing.T) {
		t.Parallel()
		gormplugintest.RunStorms(t, databases.Postgres(t, databases.ByteOrder, map[string]string{"default_transaction_isolation": "serializable"}))
	})
	t.Run("mixed", func(t *testing.T) {
		t.Parallel()
		gormplugintest.RunStorms(t, databases.Postgres(t, databases.ByteOrder, nil), sql.LevelDefault, sql.LevelReadUncommitted, sql.LevelReadCommitted)
	})
}
