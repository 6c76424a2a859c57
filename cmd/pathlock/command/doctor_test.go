package command_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// The summary counts the findings by their levels, and a problem decides the exit code.
func TestDoctor(t *testing.T) {
	t.Parallel()
	url, _ := table(t, `VALUES (1, 1, NULL, 'a', '/a')`)
	code, out, errs := run(t, "doctor", "--json", "--db", url, "--table", "suites")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var summary struct{ Problems, Fine int }
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &summary); err != nil || code != 4 || errs != "" {
		t.Fatalf("exit code %d (%v): %s%s", code, err, out, errs)
	}
	if summary.Problems == 0 || strings.Count(out, `"level":"problem"`) != summary.Problems || strings.Count(out, `"level":"fine"`) != summary.Fine {
		t.Errorf("the summary of %s is %+v", out, summary)
	}
	if code, out, _ = run(t, "doctor", "-q", "--db", url, "--table", "suites"); code != 4 || strings.Contains(out, "fine     ") || !strings.Contains(out, "CREATE UNIQUE INDEX") {
		t.Errorf("exit code %d: %s", code, out)
	}
}
