package integration

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

// postgresDatabase makes a database on the server that tests may use, and drops it afterwards. The
// locale decides how its text columns are ordered; settings are the sessions', such as
// default_transaction_isolation.
func postgresDatabase(t *testing.T, locale string, settings map[string]string) gormplugintest.Database {
	t.Helper()
	config, err := pgx.ParseConfig(testserver.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("pathlock_gormplugin_%d", rand.Uint64())
	administer := func(ctx context.Context, statement string) {
		admin := stdlib.OpenDB(*config)
		defer func() { _ = admin.Close() }()
		if _, err := admin.ExecContext(ctx, statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	administer(t.Context(), "CREATE DATABASE "+name+" TEMPLATE template0 "+locale)
	t.Cleanup(func() { administer(context.Background(), "DROP DATABASE "+name) })
	own := config.Copy()
	own.Database = name
	// A deadlock is looked for after a second by default, in which all others wait.
	own.RuntimeParams["deadlock_timeout"] = "50ms"
	for key, value := range settings {
		own.RuntimeParams[key] = value
	}
	return gormplugintest.Database{
		Connector: stdlib.GetConnector(*own),
		Dialector: func(pool *sql.DB) gorm.Dialector { return postgres.New(postgres.Config{Conn: pool}) },
		GivenUp:   &pgconn.PgError{Severity: "ERROR", Code: "40P01", Message: "deadlock detected"},
	}
}

// The locales of the tests: in byteOrder an index can serve the ranges that the plugin reads; in
// wordOrder slashes count for little, so that "/d1" + "/x" comes after "/d10".
const (
	byteOrder = "ENCODING 'UTF8' LOCALE 'C'"
	wordOrder = "ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en-u-ka-shifted' LOCALE 'C'"
)

// In the order of a language, in which slashes hardly count, the plugin's ranges must not miss
// rows, or take in others.
func TestPostgres(t *testing.T) {
	t.Parallel()
	gormplugintest.Run(t, postgresDatabase(t, wordOrder, nil))
}

// Whatever the lock store does, the tree is sound, at every isolation level that the plugin
// accepts.
func TestPostgresStorms(t *testing.T) {
	t.Run("serializable", func(t *testing.T) {
		t.Parallel()
		gormplugintest.RunStorms(t, postgresDatabase(t, byteOrder, map[string]string{"default_transaction_isolation": "serializable"}))
	})
	t.Run("mixed", func(t *testing.T) {
		t.Parallel()
		gormplugintest.RunStorms(t, postgresDatabase(t, byteOrder, nil), sql.LevelDefault, sql.LevelReadUncommitted, sql.LevelReadCommitted)
	})
}

// poolOf opens a pool until the end of the test.
func poolOf(t *testing.T, connector driver.Connector) *sql.DB {
	t.Helper()
	pool := sql.OpenDB(connector)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}
