package cli_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/cli"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// childVariable, if set, makes the test binary run as the program itself, so that tests can kill
// it.
const childVariable = "PATHLOCK_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	testscript.Main(leakless{m}, map[string]func(){
		"pathlock": func() {
			os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
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
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range []string{
		`CREATE TABLE suites (id INTEGER PRIMARY KEY, plan_id INTEGER, parent_id INTEGER, name TEXT, path TEXT, deleted_at DATETIME)`,
		`CREATE INDEX suites_sibling ON suites (parent_id, name)`,
		`INSERT INTO suites (id, plan_id, parent_id, name, path) ` + rows,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return "sqlite://" + path, db
}

// run runs a command line.
func run(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = cli.Main(t.Context(), args, &o, &e)
	return code, o.String(), e.String()
}

// program returns a command that runs the program as another process.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), childVariable+"=1")
	return cmd
}

// held takes a lock on /dir1 of a tree of its own in Redis. It returns the store's URL, the tree,
// the lock, and what the commands call its holder.
func held(t *testing.T, note string) (url string, tree pathlock.Tree, lock *pathlock.Lock, holder string) {
	t.Helper()
	url = testserver.Redis(t)
	tree, err := pathlock.NewTree(fmt.Sprintf("held/%d-%d", os.Getpid(), time.Now().UnixNano()), "plan 001")
	if err != nil {
		t.Fatal(err)
	}
	locker := opened(t, url)
	lock, err = locker.Acquire(t.Context(), pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/dir1"))}, Note: note})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Release(context.Background()) })
	snapshot, err := locker.Snapshot(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	return url, tree, lock, strings.TrimSuffix(snapshot.Holders[0].Owner.Short(), "…")
}

// opened returns a locker on the store of a URL.
func opened(t *testing.T, url string) *pathlock.Locker {
	t.Helper()
	store, err := anystore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close(context.Background()) })
	return pathlock.New(store)
}

// dump returns the table as text.
func dump(t *testing.T, db *sql.DB) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT id || ' ' || COALESCE(parent_id, 0) || ' ' || name || ' ' || path FROM suites ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var text strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		text.WriteString(line + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
