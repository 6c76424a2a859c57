// Package testserver names the real servers that tests may use. test/run.sh starts them; who runs
// tests by hand sets the variables.
package testserver

import (
	"os"
	"testing"
)

// The environment variables that name the servers.
const (
	// RedisVariable has the URL of a Redis, such as redis://127.0.0.1:6379/0.
	RedisVariable = "PATHLOCK_TEST_REDIS"
	// MySQLVariable has the DSN of a MySQL or MariaDB, without a database, for a user who may
	// create some, such as root:@tcp(127.0.0.1:3306)/.
	MySQLVariable = "PATHLOCK_TEST_MYSQL"
	// MariaDBVariable has the DSN of a server of the other of the two products.
	MariaDBVariable = "PATHLOCK_TEST_MARIADB"
	// PostgresVariable has the URL of a PostgreSQL, with a database to connect to first, for a user
	// who may create others, such as postgres://postgres@127.0.0.1:5432/postgres.
	PostgresVariable = "PATHLOCK_TEST_POSTGRES"
)

// Redis returns the URL of a Redis that others use as well, or skips the test.
func Redis(t testing.TB) string {
	t.Helper()
	return named(t, RedisVariable)
}

// Postgres returns the URL of a PostgreSQL that others use as well, or skips the test.
func Postgres(t testing.TB) string {
	t.Helper()
	return named(t, PostgresVariable)
}

// Available reports whether a test that needs the variables would run: they are set, or
// this is CI, where it fails rather than being skipped.
func Available(variables ...string) bool {
	for _, v := range variables {
		if os.Getenv(v) == "" && !inCI() {
			return false
		}
	}
	return true
}

func named(t testing.TB, variable string) string {
	t.Helper()
	value := os.Getenv(variable)
	if value == "" {
		Missing(t, variable+" is not set")
	}
	return value
}

// Missing skips a test that lacks what it needs; in CI, where nothing is skipped, the test fails.
func Missing(t testing.TB, what string) {
	t.Helper()
	if inCI() {
		t.Fatalf("%s, and in CI nothing is skipped", what)
	}
	t.Skip(what)
}

func inCI() bool { return os.Getenv("CI") == "true" }
