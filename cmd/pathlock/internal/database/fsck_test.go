package database_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/database"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/fscktest"
	"github.com/pathlock-go/pathlock/internal/testserver"
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
	testserver.NotUnderRace(t)
	fscktest.Run(t, fscktest.Database{
		Dialect: fsck.SQLite,
		Loose:   "COLLATE NOCASE",
		Open: func(t testing.TB) *sql.DB {
			t.Helper()
			path := filepath.Join(t.TempDir(), "test.db")
			create(t, path)
			return open(t, "sqlite://"+path)
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

// fsck finds the columns' lengths of a table in a later schema of the search path, too: it reports
// a path that does not fit, and writes the others.
func TestSearchPath(t *testing.T) {
	server := testserver.Postgres(t)
	admin := open(t, server)
	name := "pathlock_fsck_" + strings.ToLower(rand.Text()[:10])
	for _, statement := range []string{
		"CREATE SCHEMA " + name + "_a", "CREATE SCHEMA " + name + "_b",
		"CREATE TABLE " + name + "_b.suites (id BIGINT PRIMARY KEY, plan_id BIGINT, parent_id BIGINT, name VARCHAR(20), path VARCHAR(10), deleted_at TIMESTAMP)",
		"INSERT INTO " + name + "_b.suites VALUES (1, 1, NULL, 'twelve chars', ''), (2, 1, NULL, 'a', '/wrong')",
	} {
		if _, err := admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, part := range []string{"_a", "_b"} {
			if _, err := admin.ExecContext(context.Background(), "DROP SCHEMA "+name+part+" CASCADE"); err != nil {
				t.Error(err)
			}
		}
	})
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("search_path", name+"_a,"+name+"_b")
	u.RawQuery = query.Encode()
	for _, table := range []string{"suites", name + "_b.suites"} {
		checker, err := fsck.New(t.Context(), open(t, u.String()), fsck.PostgreSQL, fsck.DefaultTable(table))
		if err != nil {
			t.Fatal(err)
		}
		summary, err := checker.Repair(t.Context(), fsck.RepairOptions{Apply: true})
		if err != nil || summary.After.Problems[fsck.PathTooLong] != 1 || summary.After.Total() != 1 || summary.Skipped > 0 {
			t.Errorf("%s: %+v (%v), want one path too long", table, summary, err)
		}
	}
}
