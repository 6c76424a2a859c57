package readme

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/program"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

var (
	diffBlock = regexp.MustCompile("(?s)```diff\n(.*?)```")
	hunkTitle = regexp.MustCompile(`(?m)^@@ .* @@\n`)
)

// The diffs of the pages lead to the adopted programs: the lines after a change stand in one of
// them, together and once.
func TestTheDiffsOfThePagesLeadToThePrograms(t *testing.T) {
	adopted := readPage(t, filepath.Join("adopting", "adopted", "main.go")) + readPage(t, filepath.Join("..", "departments", "after", "departments.go"))
	for _, page := range []string{"README.md", "README.zh-CN.md", "docs/adopting.md", "docs/adopting.zh-CN.md"} {
		found := diffBlock.FindAllStringSubmatch(readPage(t, filepath.Join("..", "..", page)), -1)
		if len(found) == 0 {
			t.Errorf("%s shows no diff", page)
		}
		for _, block := range found {
			for _, hunk := range hunkTitle.Split(block[1], -1)[1:] {
				var after strings.Builder
				for line := range strings.Lines(hunk) {
					if line[0] != '-' {
						after.WriteString(line[1:])
					}
				}
				if strings.Count(adopted, after.String()) != 1 {
					t.Errorf("%s shows a change to what no program has:\n%s", page, hunk)
				}
			}
		}
	}
}

// The way of docs/adopting.md: the adopted wiki refuses to start on a tree that old code has
// broken. The commands of the page find what is wrong and repair it. Then the wiki starts, without
// locks and with them, answers with whole pages, and its tree stays sound.
func TestTheStepsOfAdopting(t *testing.T) {
	wiki, locks := program.Build(t, "integration", "readme", "adopting", "adopted"), testserver.Redis(t)
	file, log := filepath.Join(t.TempDir(), "wiki.db"), filepath.Join(t.TempDir(), "changes.jsonl")
	database(t, file,
		"CREATE TABLE pages (id INTEGER PRIMARY KEY, space_id INTEGER, parent_id INTEGER, name TEXT, path TEXT, body TEXT)",
		"INSERT INTO pages VALUES (1, 1, NULL, '', '', ''), (2, 1, 1, 'twin', '/twin', 'one'), (3, 1, 1, 'twin', '/twin', 'two'), (4, 1, 2, 'in', '/old/in', '')")
	refused := exec.CommandContext(t.Context(), wiki, "--sqlite", file, "--addr", "127.0.0.1:0")
	if out, err := refused.CombinedOutput(); !errors.As(err, new(*exec.ExitError)) || !strings.Contains(string(out), "rename siblings of one name") {
		t.Errorf("the adopted program on a tree with twins: %v: %s", err, out)
	}
	found := repairs(t, "adopting.md")
	fsck := func(line string, want int) {
		t.Helper()
		if code, out := inShell(t, strings.ReplaceAll(line, "changes.jsonl", log), "PATHLOCK_DB=sqlite://"+file); code != want {
			t.Errorf("%sexit code %d, want %d: %s", line, code, want, out)
		}
	}
	fsck(found[0], 4)
	fsck(found[1], 4)
	fsck(found[2], 1)
	fsck(found[0], 0)
	if changes := readPage(t, log); !strings.Contains(changes, "name") {
		t.Errorf("the log of the repair is %q", changes)
	}
	t.Run("after", func(t *testing.T) {
		alone, locked := program.Serve(t, wiki, "--sqlite", file), program.Serve(t, wiki, "--sqlite", file, "--locks", locks)
		exchange(t, alone, "POST", "/pages", `{"parent_id":2,"name":"draft","body":"my text"}`, nil)
		var draft struct{ Path, Body string }
		exchange(t, locked, "PATCH", "/pages/5", `{"name":"paper"}`, &draft)
		if draft.Path != "/twin/paper" || draft.Body != "my text" {
			t.Errorf("the renamed page is %+v", draft)
		}
		exchange(t, alone, "POST", "/pages/2/move", `{"parent_id":3}`, nil)
		exchange(t, locked, "DELETE", "/pages/4", "", nil)
		var pages []struct{ Path string }
		exchange(t, locked, "GET", "/spaces/1/pages", "", &pages)
		var paths []string
		for _, p := range pages {
			paths = append(paths, p.Path)
		}
		if len(paths) != 4 || !slices.IsSorted(paths) || !strings.HasSuffix(paths[3], "/twin/paper") {
			t.Errorf("the pages are %q", paths)
		}
	})
	fsck(found[0], 0)
}

// With the flags that docs/adopting.md has for the departments, fsck understands their table as it
// is.
func TestTheFlagsForTheDepartments(t *testing.T) {
	flags := regexp.MustCompile("(?s)`(--table sys_dept .*?)`").FindStringSubmatch(readPage(t, filepath.Join("..", "..", "docs", "adopting.md")))
	if flags == nil {
		t.Fatal("the page has no flags for sys_dept")
	}
	file := filepath.Join(t.TempDir(), "admin.db")
	database(t, file,
		"CREATE TABLE sys_dept (dept_id INTEGER PRIMARY KEY, parent_id INTEGER, dept_path TEXT, dept_name TEXT, deleted_at BIGINT DEFAULT 0)",
		"INSERT INTO sys_dept VALUES (1, 0, '/0/1/', '', 0), (7, 1, '/0/1/7/', 'a/b', 0), (8, 7, '/0/9/8/', 'a/b', 0), (9, 3, '', '', 1700000000000)")
	code, out := inShell(t, "pathlock fsck --db sqlite://"+file+" "+strings.ReplaceAll(flags[1], "\n", " "))
	if want := `row 8 "8": its id path is wrong (is "/0/9/8/", should be "/0/1/7/8/")`; code != 4 || strings.Count(out, "row ") != 1 || !strings.Contains(out, want) {
		t.Errorf("exit code %d, want 4 and only %s: %s", code, want, out)
	}
}

// exchange sends a request, which has to succeed, and decodes the answer.
func exchange(t *testing.T, addr, method, target, body string, result any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && result != nil {
		err = json.Unmarshal(answer, result)
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s %s, %v", method, target, resp.Status, answer, err)
	}
}
