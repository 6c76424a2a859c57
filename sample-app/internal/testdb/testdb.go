// Package testdb gives tests databases of their own.
package testdb

import (
	"context"
	"crypto/rand"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/sample-app/internal/database"
)

// URLs returns one empty database of each kind that can be had: an SQLite
// file always, and one on the server that PATHLOCK_TEST_MYSQL names (a DSN without
// a database, such as root:@tcp(127.0.0.1:3306)/). They are gone after the test.
func URLs(t testing.TB) []string {
	t.Helper()
	urls := []string{SQLite(t)}
	if os.Getenv("PATHLOCK_TEST_MYSQL") != "" || os.Getenv("CI") == "true" {
		urls = append(urls, MySQL(t))
	}
	return urls
}

// SQLite returns the URL of an SQLite file that does not exist yet.
func SQLite(t testing.TB) string {
	return "sqlite://" + filepath.Join(t.TempDir(), "test.db")
}

// MySQL returns the URL of an empty database on the server that
// PATHLOCK_TEST_MYSQL names; the test is skipped where that is not set.
func MySQL(t testing.TB) string {
	t.Helper()
	dsn := os.Getenv("PATHLOCK_TEST_MYSQL")
	if dsn == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("PATHLOCK_TEST_MYSQL is not set")
		}
		t.Skip("PATHLOCK_TEST_MYSQL is not set: no MySQL or MariaDB to test with")
	}
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

// Redis returns the URL of the server that PATHLOCK_TEST_REDIS names; the test
// is skipped where that is not set.
func Redis(t testing.TB) string {
	t.Helper()
	url := os.Getenv("PATHLOCK_TEST_REDIS")
	if url == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("PATHLOCK_TEST_REDIS is not set")
		}
		t.Skip("PATHLOCK_TEST_REDIS is not set: no Redis to test with")
	}
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
