package readme

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3/gormlite"

	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// repairs returns the three fsck commands of docs/repair.md: a look, a rehearsal and a repair.
func repairs(t *testing.T) (found []string) {
	t.Helper()
	for _, block := range shellBlock.FindAllStringSubmatch(readPage(t, filepath.Join("..", "..", "docs", "repair.md")), -1) {
		for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", "")) {
			if strings.HasPrefix(line, "pathlock fsck ") {
				found = append(found, line)
			}
		}
	}
	if len(found) != 3 {
		t.Fatalf("the page has the commands %q, want a look, a rehearsal and a repair", found)
	}
	return found
}

// inShell runs a line of a shell in which the command is installed, with further variables, and
// returns its exit code and what it prints.
func inShell(t *testing.T, line string, env ...string) (code int, out string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), env...)
	text, err := cmd.CombinedOutput()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

// database makes an SQLite file with the outcome of the statements.
func database(t *testing.T, file string, statements ...string) {
	t.Helper()
	db := databases.Use(t, gormlite.Open("file:"+file))
	for _, statement := range statements {
		testerr.Must(t, db.Exec(statement).Error)
	}
}

// The commands of docs/repair.md find a wrong path, say what they would change, and change it, with
// the exit codes of the help.
func TestRepair_ofThePage(t *testing.T) {
	file, log := filepath.Join(t.TempDir(), "plans.db"), filepath.Join(t.TempDir(), "changes.jsonl")
	database(t, file,
		"CREATE TABLE suites (id INTEGER PRIMARY KEY, plan_id INTEGER, parent_id INTEGER, name TEXT, path TEXT, version INTEGER, deleted_at INTEGER)",
		"INSERT INTO suites VALUES (1, 1, NULL, '', '', 1, NULL), (2, 1, 1, 'new', '/new', 1, NULL), (3, 1, 2, 'child', '/old/child', 1, NULL)")
	env := []string{"PATHLOCK_DB=sqlite://" + file, "PATHLOCK_LOCKS=" + testserver.Redis(t)}
	found := repairs(t)
	for i, want := range []struct {
		code int
		says string
	}{
		{4, "wrong-path"},
		{4, "/new/child"},
		{1, "/new/child"},
		{0, "0 problems"},
	} {
		line := strings.ReplaceAll(found[i%len(found)], "changes.jsonl", log) // the look comes again at the end
		if code, out := inShell(t, line, env...); code != want.code || !strings.Contains(out, want.says) {
			t.Errorf("%sexit code %d, want %d and %q: %s", line, code, want.code, want.says, out)
		}
	}
	if changes := readPage(t, log); !strings.Contains(changes, "/new/child") {
		t.Errorf("the log of the changes is %q", changes)
	}
}
