package readme

import (
	"path/filepath"
	"regexp"
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

// The page begins with what pathlock adopt prints for the departments' table: each line of its
// transcript is printed, but for those of a server.
func TestAdoption_transcript(t *testing.T) {
	file := filepath.Join(t.TempDir(), "admin.db")
	database(t, file,
		"CREATE TABLE sys_dept (dept_id INTEGER PRIMARY KEY, parent_id INTEGER, dept_path VARCHAR(255), dept_name TEXT, deleted_at BIGINT NOT NULL DEFAULT 0)",
		"INSERT INTO sys_dept VALUES (1, 0, '/0/1/', '', 0), (7, 1, '/0/1/7/', 'a', 0), (8, 7, '/0/1/7/8/', 'b', 0), (9, 8, '/0/1/7/8/9/', 'c', 0), (10, 1, '/0/1/10/', 'd', 0), "+
			"(11, 10, '/0/1/10/11/', 'e', 0), (12, 10, '/0/1/10/12/', 'f', 0), (13, 12, '/0/1/10/12/13/', 'g', 0), (14, 1, '/0/1/14/', 'h', 0), (15, 14, '/0/1/14/15/', 'i', 0), (16, 3, '', '', 1700000000000)")
	code, printed := inShell(t, "pathlock adopt", "PATHLOCK_DB=sqlite://"+file)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, printed)
	}
	for _, name := range []string{"adopting.md", "adopting.zh-CN.md"} {
		shown := regexp.MustCompile("(?s)```text\n(# sys_dept.*?)```").FindStringSubmatch(readPage(t, filepath.Join("..", "..", "docs", name)))
		if shown == nil {
			t.Fatalf("%s shows no output of pathlock adopt", name)
		}
		lines := 0
		for line := range strings.Lines(shown[1]) {
			server := strings.Contains(line, "`sys_dept`") || strings.Contains(line, "gorm:") || strings.Contains(line, "-- locks:")
			if line = strings.TrimSpace(line); line == "" || server {
				continue
			}
			if lines++; !strings.Contains(printed, line) {
				t.Errorf("%s shows %q, which is not printed:\n%s", name, line, printed)
			}
		}
		if lines < 8 {
			t.Errorf("%s shows %d lines, want the shape, the tags and the options", name, lines)
		}
	}
}
