// Package testdb gives tests databases of their own.
package testdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
)

// URLs returns one empty database of each kind that can be had: an SQLite
// file always, and one on a MySQL or MariaDB and on a PostgreSQL server where tests have them. They are gone after the test.
func URLs(t testing.TB) []string {
	t.Helper()
	urls := []string{SQLite(t)}
	if testserver.Available(testserver.MySQLVariable) {
		urls = append(urls, MySQL(t))
	}
	if testserver.Available(testserver.PostgresVariable) {
		urls = append(urls, Postgres(t))
	}
	return urls
}

// SQLite returns the URL of an SQLite file that does not exist yet.
func SQLite(t testing.TB) string {
	return "sqlite://" + filepath.Join(t.TempDir(), "test.db")
}

// MySQL returns the URL of an empty database on a MySQL or MariaDB server, or skips the test where there is none.
func MySQL(t testing.TB) string {
	t.Helper()
	dsn := testserver.MySQL(t)
	server, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	name := "pathlock_sample_" + strings.ToLower(rand.Text()[:10])
	if _, err := server.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := server.ExecContext(context.Background(), "DROP DATABASE IF EXISTS "+name); err != nil {
			t.Error(err)
		}
	})
	slash := strings.LastIndexByte(dsn, '/')
	return "mysql://" + dsn[:slash+1] + name + dsn[slash+1:]
}

// Postgres returns the URL of an empty database on a PostgreSQL server, or skips the test where there is none.
func Postgres(t testing.TB) string {
	t.Helper()
	url, remove, err := database.Scratch(t.Context(), testserver.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := remove(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return url
}

// Open opens a database until the end of the test.
func Open(t testing.TB, url string) *database.DB {
	t.Helper()
	db, err := database.Open(url, database.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
