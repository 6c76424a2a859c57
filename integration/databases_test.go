package integration

import (
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
)

// Package gormplugin has the races on MySQL and MariaDB, under the race detector.

func TestPostgresRaces(t *testing.T) {
	t.Parallel()
	gormplugintest.RunRaces(t, databases.Postgres(t, databases.WordOrder, nil))
}

// Whatever the lock store does, the tree is sound, at SERIALIZABLE as well. Other levels that the
// plugin accepts are READ COMMITTED to PostgreSQL.
func TestPostgresStorms(t *testing.T) {
	t.Parallel()
	gormplugintest.RunStorms(t, databases.Postgres(t, databases.ByteOrder, map[string]string{"default_transaction_isolation": "serializable"}))
}

func TestStatements(t *testing.T) {
	databases.Each(t, func(t *testing.T, fresh func(*testing.T) gormplugintest.Database) {
		gormplugintest.RunStatements(t, fresh(t))
	})
}

func TestTransactions(t *testing.T) {
	databases.Each(t, func(t *testing.T, fresh func(*testing.T) gormplugintest.Database) {
		gormplugintest.RunTransactions(t, fresh(t))
	})
}

func TestSchema(t *testing.T) {
	databases.Each(t, gormplugintest.RunSchema)
}

func TestStatistics_missing(t *testing.T) {
	databases.Each(t, func(t *testing.T, fresh func(*testing.T) gormplugintest.Database) {
		gormplugintest.RunWithoutStatistics(t, fresh(t))
	})
}
