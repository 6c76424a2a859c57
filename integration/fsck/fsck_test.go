// Package fsck_test runs the suite of package fsck on the databases whose drivers the root module
// does not require.
package fsck_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/ncruces/go-sqlite3/driver"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/test/fscktest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// opened opens a database until the end of the test, and runs statements.
func opened(t testing.TB, driver, name string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, name)
	testerr.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range statements {
		testerr.Must(t, testerr.Of(db.ExecContext(t.Context(), statement)))
	}
	return db
}

func TestFsck_OnSQLite(t *testing.T) {
	t.Parallel()
	fscktest.Run(t, fscktest.Database{
		Dialect: fsck.SQLite,
		Loose:   "COLLATE NOCASE",
		Open: func(t testing.TB) *sql.DB {
			t.Helper()
			path := filepath.ToSlash(filepath.Join(t.TempDir(), "test.db"))
			return opened(t, "sqlite3", "file:"+path+"?_pragma=busy_timeout(30000)", "PRAGMA journal_mode = wal")
		},
	})
}

func TestFsck_OnPostgreSQL(t *testing.T) {
	t.Parallel()
	fscktest.Run(t, fscktest.Database{
		Dialect: fsck.PostgreSQL,
		Binary:  `COLLATE "C"`,
		Loose:   "COLLATE loose",
		Open: func(t testing.TB) *sql.DB {
			t.Helper()
			return opened(t, "pgx", testserver.ScratchPostgres(t), "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
		},
	})
}
