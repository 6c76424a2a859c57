package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testredis"
)

// documented returns the fields that the page names for a type of line.
func documented(t *testing.T, kind string) []string {
	t.Helper()
	page, err := os.ReadFile("../../../../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `" + kind + "` \\| `doctor` \\| (.*) \\|$").FindSubmatch(page)
	if row == nil {
		t.Fatalf("the page does not name %s", kind)
	}
	return append(strings.Split(strings.ReplaceAll(string(row[1]), "`", ""), ", "), "type")
}

// The JSON of the doctor has the fields that the page names, and the summary counts the findings.
func TestDoctorJSON(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t, testredis.Redis, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
	table, _ := table(t, `VALUES (1, 1, NULL, 'a', '/a')`)
	code, out, errs := run(t, "doctor", "--json", "--locks", "redis://"+server.Addr+"/0", "--db", table, "--table", "suites")
	if code != 4 || errs != "" {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	counts := map[string]float64{}
	seen := map[string]bool{}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, text := range lines {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		kind := "finding"
		if i == len(lines)-1 {
			kind = "summary"
		}
		fields := documented(t, kind)
		if line["type"] != kind {
			t.Errorf("line %d is %q", i, text)
		}
		for name := range line {
			seen[name] = true
			if !slices.Contains(fields, name) {
				t.Errorf("the page does not name %s of %s", name, kind)
			}
		}
		if kind == "finding" {
			counts[fmt.Sprint(line["level"])]++
			continue
		}
		for level, field := range map[string]string{"problem": "problems", "warning": "warnings", "unknown": "unknown", "advice": "advice", "fine": "fine"} {
			if line[field] != counts[level] {
				t.Errorf("%s are %v, and %v were written", field, line[field], counts[level])
			}
		}
	}
	for _, field := range append(documented(t, "finding"), documented(t, "summary")...) {
		if !seen[field] {
			t.Errorf("no line has the field %s", field)
		}
	}
}
