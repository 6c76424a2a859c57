// Package testserver names the real servers that tests may use. test/run.sh starts them; who runs
// tests by hand sets the variables.
package testserver

import (
	"errors"
	"fmt"
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

// leftVariable names a file. [NotUnderRace] adds a line to it for each test that it skips: the
// package's folder and the test's name. test/run.sh runs exactly these without the race detector.
const leftVariable = "PATHLOCK_TEST_LEFT"

// NotUnderRace leaves a test to the part of the test command without the race detector.
func NotUnderRace(t testing.TB) {
	t.Helper()
	if !underRace {
		return
	}
	if name := os.Getenv(leftVariable); name != "" {
		if err := leave(name, t.Name()); err != nil {
			t.Fatal(err)
		}
	}
	t.Skip("test/run.sh runs this without the race detector")
}

// leave adds a test of this process to a file, which several processes write to.
func leave(file, test string) error {
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	left, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(left, folder, test)
	return errors.Join(err, left.Close())
}

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
