package deployment_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/promobserver"
	"github.com/prometheus/client_golang/prometheus"
)

// expression is a PromQL expression and where it is.
type expression struct{ where, text string }

// queries are the dashboard's, with values for the variables.
func queries(t *testing.T) (all []expression) {
	t.Helper()
	values := strings.NewReplacer("$job", ".+", "$instance", ".+", "$__rate_interval", "15s", "$__range", "1m")
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	testerr.Must(t, json.Unmarshal([]byte(deployed(t, "grafana", "dashboards", "pathlock.json")), &d))
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			all = append(all, expression{p.Title, values.Replace(q.Expr)})
		}
	}
	if len(all) < 10 {
		t.Fatalf("the dashboard has %d queries", len(all))
	}
	return all
}

// alert is an alert rule.
type alert struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	Annotations map[string]string `yaml:"annotations"`
}

// alerts are the alert rules.
func alerts(t *testing.T) (all []alert) {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []alert `yaml:"rules"`
		} `yaml:"groups"`
	}
	testerr.Must(t, yaml.Unmarshal([]byte(deployed(t, "prometheus", "pathlock.rules.yml")), &file))
	for _, group := range file.Groups {
		all = append(all, group.Rules...)
	}
	return all
}

// The metrics that a registered observer describes, and the label of each.
var described = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)

// metrics returns the labels of each metric that promobserver registers, by its name.
func metrics(t *testing.T) map[string][]string {
	t.Helper()
	descriptions := make(chan *prometheus.Desc, 100)
	promobserver.New().Describe(descriptions)
	close(descriptions)
	all := make(map[string][]string)
	for d := range descriptions {
		found := described.FindStringSubmatch(d.String())
		if found == nil {
			t.Fatalf("%s says neither name nor labels", d)
		}
		all[found[1]] = strings.Split(found[2], ",")
	}
	return all
}

var (
	named   = regexp.MustCompile(`\b(?:pathlock|http)_[a-z_]+`)
	matched = regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)\s*"`)
	grouped = regexp.MustCompile(`by \(([^)]*)\)`)
)

// The dashboard and the alerts name metrics and labels that promobserver has, and every metric of
// it is on the dashboard.
func TestDashboard_namesExistingMetrics(t *testing.T) {
	known := metrics(t)
	known["http_request_duration_seconds"] = []string{"method", "route", "status"} // the sample app's own
	expressions := queries(t)
	for _, a := range alerts(t) {
		expressions = append(expressions, expression{a.Alert, a.Expr})
	}
	shown := make(map[string]bool)
	for _, e := range expressions {
		labels := []string{"job", "instance", "le"}
		for _, name := range named.FindAllString(e.text, -1) {
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				name = strings.TrimSuffix(name, suffix)
			}
			if _, ok := known[name]; !ok {
				t.Errorf("%s: there is no metric %s", e.where, name)
			}
			shown[name] = true
			labels = append(labels, known[name]...)
		}
		var used []string
		for _, m := range matched.FindAllStringSubmatch(e.text, -1) {
			used = append(used, m[1])
		}
		for _, m := range grouped.FindAllStringSubmatch(e.text, -1) {
			used = append(used, strings.Split(m[1], ", ")...)
		}
		for _, label := range used {
			if !slices.Contains(labels, label) {
				t.Errorf("%s: no metric of it has the label %s", e.where, label)
			}
		}
	}
	for name := range known {
		if !shown[name] {
			t.Errorf("neither the dashboard nor an alert shows %s", name)
		}
	}
}

// Every alert says what to do, and every metric is explained on the page, in both languages.
func TestAlerts_areExplained(t *testing.T) {
	for _, a := range alerts(t) {
		for _, what := range []string{"summary", "description", "action"} {
			if a.Annotations[what] == "" {
				t.Errorf("%s has no %s", a.Alert, what)
			}
		}
	}
	for _, page := range []string{"operating.md", "operating.zh-CN.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		testerr.Must(t, err)
		for name := range metrics(t) {
			if !strings.Contains(string(text), "`"+name+"`") {
				t.Errorf("%s does not explain %s", page, name)
			}
		}
	}
}
