package database_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/database"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/test/fscktest"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, name string) *sql.DB {
	t.Helper()
	db, _, err := database.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// The suite of package fsck runs here on SQLite, since its own module has no driver.
func TestSQLite(t *testing.T) {
	fscktest.Run(t, fscktest.Database{
		Dialect: fsck.SQLite,
		Loose:   "COLLATE NOCASE",
		Open: func(t testing.TB) *sql.DB {
			t.Helper()
			path := filepath.Join(t.TempDir(), "test.db")
			if err := os.WriteFile(path, nil, 0o600); err != nil { // an empty file is an empty database
				t.Fatal(err)
			}
			db := open(t, "sqlite://"+path)
			if _, err := db.ExecContext(t.Context(), "PRAGMA journal_mode = wal"); err != nil {
				t.Fatal(err)
			}
			return db
		},
	})
}

// The suite of package fsck runs here on PostgreSQL, since its own module has no driver.
func TestPostgreSQL(t *testing.T) {
	server := testserver.Postgres(t)
	admin := open(t, server)
	fscktest.Run(t, fscktest.Database{
		Dialect: fsck.PostgreSQL,
		Binary:  `COLLATE "C"`,
		Loose:   "COLLATE loose",
		Open: func(t testing.TB) *sql.DB {
			t.Helper()
			name := "pathlock_fsck_" + strings.ToLower(rand.Text()[:10])
			if _, err := admin.ExecContext(t.Context(), "CREATE SCHEMA "+name); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if _, err := admin.ExecContext(context.Background(), "DROP SCHEMA "+name+" CASCADE"); err != nil {
					t.Error(err)
				}
			})
			u, err := url.Parse(server)
			if err != nil {
				t.Fatal(err)
			}
			query := u.Query()
			query.Set("search_path", name)
			u.RawQuery = query.Encode()
			db := open(t, u.String())
			if _, err := db.ExecContext(t.Context(), "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"); err != nil {
				t.Fatal(err)
			}
			return db
		},
	})
}
