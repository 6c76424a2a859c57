package readme

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/testserver"
)

// repairs returns the fsck commands of a page, in their order.
func repairs(t *testing.T, page string) (found []string) {
	t.Helper()
	for _, block := range shellBlock.FindAllStringSubmatch(readPage(t, page), -1) {
		for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", "")) {
			if strings.HasPrefix(line, "pathlock fsck ") {
				found = append(found, line)
			}
		}
	}
	return found
}

var kindOfProblem = regexp.MustCompile(`Kind = "([a-z-]+)"`)

// docs/repair.md and the help of the command name every kind of problem that fsck reports.
func TestThePagesNameEveryProblem(t *testing.T) {
	root := filepath.Join("..", "..")
	kinds := kindOfProblem.FindAllStringSubmatch(readPage(t, filepath.Join(root, "fsck", "problem.go")), -1)
	if len(kinds) < 11 {
		t.Fatalf("found the kinds %q", kinds)
	}
	for _, file := range []string{"docs/repair.md", "docs/repair.zh-CN.md", "cmd/pathlock/internal/cli/fsck.go"} {
		text := readPage(t, filepath.Join(root, filepath.FromSlash(file)))
		for _, kind := range kinds {
			if !regexp.MustCompile(`(?m)^(\||  - ).*\b` + kind[1] + `\b`).MatchString(text) {
				t.Errorf("%s does not name %s", file, kind[1])
			}
		}
	}
}

// brokenTree returns the URL of a database with one wrong path.
func brokenTree(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "db")
	db, err := gorm.Open(gormlite.Open("file:" + file))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"CREATE TABLE suites (id INTEGER PRIMARY KEY, plan_id INTEGER, parent_id INTEGER, name TEXT, path TEXT, version INTEGER, deleted_at INTEGER)",
		"INSERT INTO suites VALUES (1, 1, NULL, '', '', 1, NULL), (2, 1, 1, 'new', '/new', 1, NULL), (3, 1, 2, 'child', '/old/child', 1, NULL)",
	} {
		if err := db.Exec(statement).Error; err != nil {
			t.Fatal(err)
		}
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	return "sqlite://" + file
}

// The commands of docs/repair.md find a wrong path, say what they would change, and change it, with
// the exit codes of the help.
func TestTheRepairOfThePagesWorks(t *testing.T) {
	binary := built(t, filepath.Join("..", "..", "cmd", "pathlock"))
	if err := os.Symlink(binary, filepath.Join(filepath.Dir(binary), "pathlock")); err != nil {
		t.Fatal(err)
	}
	redisURL := testserver.Redis(t)
	for _, page := range []string{"repair.md", "repair.zh-CN.md"} {
		t.Run(page, func(t *testing.T) {
			env := append(os.Environ(), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"),
				"PATHLOCK_DB="+brokenTree(t), "PATHLOCK_LOCKS="+redisURL)
			found := repairs(t, filepath.Join("..", "..", "docs", page))
			if len(found) != 3 {
				t.Fatalf("the page has the commands %q, want a look, a rehearsal and a repair", found)
			}
			dir := t.TempDir()
			for i, want := range []struct {
				code int
				says string
			}{
				{4, "wrong-path"},
				{4, "/new/child"},
				{1, "/new/child"},
				{0, "0 problems"},
			} {
				line := found[i%len(found)] // the look comes again at the end
				cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
				cmd.Dir, cmd.Env = dir, env
				out, err := cmd.CombinedOutput()
				if err != nil && !errors.As(err, new(*exec.ExitError)) {
					t.Fatal(err)
				}
				if code := cmd.ProcessState.ExitCode(); code != want.code || !strings.Contains(string(out), want.says) {
					t.Errorf("%sexit code %d, want %d and %q: %s", line, code, want.code, want.says, out)
				}
			}
			if log := readPage(t, filepath.Join(dir, "changes.jsonl")); !strings.Contains(log, "/new/child") {
				t.Errorf("the log of the changes is %q", log)
			}
		})
	}
}
