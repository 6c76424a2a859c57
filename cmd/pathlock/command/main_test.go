package command_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/cmd/pathlock/command"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

func TestMain(m *testing.M) {
	testscript.Main(leakless{m}, map[string]func(){
		"pathlock": func() {
			os.Exit(command.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
		},
	})
}

// leakless fails the tests if a goroutine is left.
type leakless struct{ *testing.M }

// Run implements testscript's interface.
func (m leakless) Run() int {
	code := m.M.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// table makes an SQLite file with a table of trees, and returns its URL and a connection.
func table(t *testing.T, rows string) (string, *sql.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	db, err := driver.Open("file:" + filepath.ToSlash(path) + "?_pragma=journal_mode(wal)&_pragma=synchronous(off)&_pragma=busy_timeout(10000)")
	testerr.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range []string{
		`CREATE TABLE suites (id INTEGER PRIMARY KEY, plan_id INTEGER, parent_id INTEGER, name TEXT, path TEXT, deleted_at DATETIME)`,
		`CREATE INDEX suites_sibling ON suites (parent_id, name)`,
		`INSERT INTO suites (id, plan_id, parent_id, name, path) ` + rows,
	} {
		testerr.Must(t, testerr.Of(db.ExecContext(t.Context(), statement)))
	}
	return "sqlite://" + path, db
}

// run runs a command line.
func run(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = command.Main(t.Context(), args, &o, &e)
	return code, o.String(), e.String()
}

// program returns a command that runs the program as another process.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	testerr.Must(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Args[0] = "pathlock" // as testscript knows it
	return cmd
}
