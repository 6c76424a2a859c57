package testserver

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// SkipExamples has the examples whose names match the pattern skipped where none of the variables
// names a server, as tests are that need one, and says so; in CI they run, and fail. It is for a
// TestMain: an example cannot skip itself.
func SkipExamples(pattern string, variables ...string) error {
	if inCI() || slices.ContainsFunc(variables, func(v string) bool { return os.Getenv(v) != "" }) {
		return nil
	}
	flag.Parse()
	if testing.Verbose() {
		fmt.Printf("--- SKIP: %s: %s is not set\n", pattern, strings.Join(variables, " or "))
	}
	if given := flag.Lookup("test.skip").Value.String(); given != "" {
		pattern = given + "|" + pattern
	}
	return flag.Set("test.skip", pattern)
}

// ScratchMySQL returns the DSN of a new, empty database on a MySQL or MariaDB, for an example, and
// what drops the database. Texts compare byte by byte there.
func ScratchMySQL(ctx context.Context) (dsn string, drop func(), err error) {
	server := os.Getenv(MySQLVariable)
	if server == "" {
		server = os.Getenv(MariaDBVariable)
	}
	if server == "" {
		return "", nil, errors.New(missing("MySQL or MariaDB"))
	}
	return scratch(ctx, "mysql", server, "")
}

// Scratch makes a database on the server, which is dropped after the test, and returns its DSN.
func (s MySQLServer) Scratch(t testing.TB) string {
	t.Helper()
	return scratchFor(t, "mysql", s.DSN, "")
}

// ScratchPostgres makes a database on the PostgreSQL of the tests, which is dropped after the test,
// and returns its URL. The test links the driver pgx. Options are those of CREATE DATABASE.
func ScratchPostgres(t testing.TB, options ...string) (url string) {
	t.Helper()
	return scratchFor(t, "pgx", Postgres(t), strings.Join(options, " "))
}

func scratchFor(t testing.TB, driver, server, options string) string {
	t.Helper()
	dsn, drop, err := scratch(t.Context(), driver, server, options)
	testerr.Must(t, err)
	t.Cleanup(drop)
	return dsn
}

// scratch makes a database on a server. The caller drops it.
func scratch(ctx context.Context, driver, server, options string) (dsn string, drop func(), err error) {
	admin, err := sql.Open(driver, server)
	if err != nil {
		return "", nil, fmt.Errorf("testserver: %w", err)
	}
	admin.SetMaxIdleConns(-1) // A test may have many databases.
	name, force := "pathlock_scratch_"+strings.ToLower(rand.Text()[:10]), "WITH (FORCE)"
	if driver == "mysql" {
		options, force = "CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", ""
	}
	if _, err := admin.ExecContext(ctx, "CREATE DATABASE "+name+" "+options); err != nil {
		return "", nil, errors.Join(fmt.Errorf("testserver: %w", err), admin.Close())
	}
	before, parameters, found := strings.Cut(server, "?")
	if found {
		parameters = "?" + parameters
	}
	return before[:strings.LastIndexByte(before, '/')+1] + name + parameters, func() {
		if _, err := admin.ExecContext(context.WithoutCancel(ctx), "DROP DATABASE "+name+" "+force); err != nil {
			fmt.Println(err)
		}
		_ = admin.Close()
	}, nil
}
