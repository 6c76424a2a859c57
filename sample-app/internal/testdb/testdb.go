// Package testdb gives tests databases of their own.
package testdb

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// Database is an empty database.
type Database struct {
	// Name is the product's name.
	Name string
	URL  string
}

// All returns an empty SQLite file, and an empty database on each MariaDB, MySQL and PostgreSQL
// server that the tests have. The end of the test removes them.
func All(t testing.TB) []Database {
	t.Helper()
	all := []Database{{"SQLite", SQLite(t)}}
	for _, server := range testserver.MySQLServers(t) {
		all = append(all, Database{server.Product, MySQL(t, server)})
	}
	if testserver.Available(testserver.PostgresVariable) {
		all = append(all, Database{"PostgreSQL", scratch(t, testserver.Postgres(t))})
	}
	return all
}

// SQLite returns the URL of an SQLite file that does not exist yet.
func SQLite(t testing.TB) string {
	return "sqlite://" + filepath.Join(t.TempDir(), "test.db")
}

// MySQL returns the URL of an empty database on a MariaDB or MySQL server.
func MySQL(t testing.TB, server testserver.MySQLServer) string {
	t.Helper()
	slash := strings.LastIndexByte(server.DSN, '/')
	return scratch(t, "mysql://"+server.DSN[:slash+1]+"pathlock"+server.DSN[slash+1:])
}

// scratch returns the URL of an empty database beside another one.
func scratch(t testing.TB, beside string) string {
	t.Helper()
	url, remove, err := plans.Scratch(t.Context(), beside)
	testerr.Must(t, err)
	t.Cleanup(func() {
		testerr.None(t, remove(context.Background()))
	})
	return url
}

// Open opens a database until the end of the test.
func Open(t testing.TB, url string) *plans.DB {
	t.Helper()
	db, err := plans.OpenDB(url, 0)
	testerr.Must(t, err)
	t.Cleanup(func() {
		testerr.None(t, db.Close())
	})
	return db
}
