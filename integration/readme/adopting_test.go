package readme

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	diffBlock = regexp.MustCompile("(?s)```diff\n(.*?)```")
	hunkTitle = regexp.MustCompile(`(?m)^@@ .* @@\n`)
)

// The diffs of the pages lead to the adopted program: the lines after a change stand in it,
// together and once.
func TestAdoption_diffsLeadToTheProgram(t *testing.T) {
	adopted := readPage(t, filepath.Join("..", "departments", "after", "departments.go"))
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
					t.Errorf("%s shows a change to what the program does not have:\n%s", page, hunk)
				}
			}
		}
	}
}

// The commands of docs/adopting.md understand the departments' table as it is, find what is wrong,
// say what they would change, and change it.
func TestAdoption_steps(t *testing.T) {
	file, log := filepath.Join(t.TempDir(), "admin.db"), filepath.Join(t.TempDir(), "changes.jsonl")
	database(t, file,
		"CREATE TABLE sys_dept (dept_id INTEGER PRIMARY KEY, parent_id INTEGER, dept_path TEXT, dept_name TEXT, deleted_at BIGINT DEFAULT 0)",
		"INSERT INTO sys_dept VALUES (1, 0, '/0/1/', '', 0), (7, 1, '/0/1/7/', 'a/b', 0), (8, 7, '/0/9/8/', 'a/b', 0), (9, 3, '', '', 1700000000000)")
	steps := regexp.MustCompile("(?ms)^(dept\\(\\) .*?\n)(.*?)```").FindStringSubmatch(readPage(t, filepath.Join("..", "..", "docs", "adopting.md")))
	if steps == nil {
		t.Fatal("the page has no commands for the departments")
	}
	lines := slices.Collect(strings.Lines(steps[2]))
	const wrong, right = `row 8 "8": its id path is wrong (is "/0/9/8/", should be "/0/1/7/8/")`, "0 problems"
	for i, want := range []struct {
		code int
		says string
	}{{4, wrong}, {4, wrong}, {1, wrong}, {0, right}} {
		line := strings.ReplaceAll(steps[1]+lines[i%len(lines)], "changes.jsonl", log) // the look comes again at the end
		code, out := inShell(t, line, "PATHLOCK_DB=sqlite://"+file)
		if code != want.code || !strings.Contains(out, want.says) || want.says == wrong && strings.Count(out, "wrong-id-path: ") != 1 {
			t.Errorf("%sexit code %d, want %d and only %s: %s", line, code, want.code, want.says, out)
		}
	}
	if changes := readPage(t, log); !strings.Contains(changes, "/0/1/7/8/") {
		t.Errorf("the log of the changes is %q", changes)
	}
}
