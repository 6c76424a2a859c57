package deployment_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// The alert rules do what their unit tests say, and Prometheus understands every query of the
// dashboard.
func TestPrometheusUnderstandsTheRulesAndTheDashboard(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		testserver.Missing(t, "there is no promtool")
	}
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for n, query := range queries(t) {
		fmt.Fprintf(&rules, "  - {record: query%d, expr: %q}\n", n, query.text)
	}
	dashboard := filepath.Join(t.TempDir(), "dashboard.yml")
	testerr.Must(t, os.WriteFile(dashboard, []byte(rules.String()), 0o600))
	for _, command := range [][]string{
		{"check", "config", "prometheus.yml"},
		{"check", "rules", "pathlock.rules.yml", dashboard},
		{"test", "rules", "pathlock.rules.test.yml"},
	} {
		cmd := exec.CommandContext(t.Context(), promtool, command...)
		cmd.Dir = filepath.Join("..", "..", "deploy", "prometheus")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(command, " "), err, out)
		}
	}
}
