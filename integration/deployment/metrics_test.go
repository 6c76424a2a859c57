package deployment_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
)

// Prometheus and Grafana come only when they are asked for.
func TestMetricsAreAProfile(t *testing.T) {
	without, with := load(t, "docker-compose.yml"), load(t, "docker-compose.yml", "COMPOSE_PROFILES=metrics")
	var extra []string
	for name := range with.Services {
		if _, ok := without.Services[name]; !ok {
			extra = append(extra, name)
		}
	}
	slices.Sort(extra)
	if want := []string{"grafana", "prometheus"}; !slices.Equal(extra, want) {
		t.Errorf("the profile adds %v, want %v", extra, want)
	}
	if with.Services["grafana"].DependsOn["prometheus"].Condition != types.ServiceConditionHealthy {
		t.Error("Grafana does not wait for Prometheus")
	}
}

// What Prometheus and Grafana read is where they look for it, and each finds the next one by its
// name in the compose file.
func TestPrometheusAndGrafanaFindTheirFiles(t *testing.T) {
	project := load(t, "docker-compose.yml", "COMPOSE_PROFILES=metrics")
	// mounted returns the file of the repository that a service sees at a path.
	mounted := func(service, path string) string {
		t.Helper()
		for _, v := range project.Services[service].Volumes {
			if below, ok := strings.CutPrefix(path, v.Target+"/"); ok && v.Type == types.VolumeTypeBind {
				text, err := os.ReadFile(filepath.Join(v.Source, below))
				if err != nil {
					t.Error(err)
				}
				return string(text)
			}
		}
		t.Errorf("%s has no %s", service, path)
		return ""
	}
	scrapes := mounted("prometheus", "/etc/prometheus/prometheus.yml")
	if !slices.Contains(project.Services["app1"].Networks["default"].Aliases, "app") || !strings.Contains(scrapes, "names: [app]") || !strings.Contains(scrapes, "port: 8080") {
		t.Errorf("Prometheus does not scrape the instances:\n%s", scrapes)
	}
	mounted("prometheus", "/etc/prometheus/pathlock.rules.yml")
	if source := mounted("grafana", "/etc/grafana/provisioning/datasources/prometheus.yml"); !strings.Contains(source, "url: http://prometheus:9090") {
		t.Errorf("Grafana's data source is\n%s", source)
	}
	const folder = "/var/lib/grafana/dashboards"
	if provider := mounted("grafana", "/etc/grafana/provisioning/dashboards/pathlock.yml"); !strings.Contains(provider, "path: "+folder) {
		t.Errorf("Grafana's provider is\n%s", provider)
	}
	mounted("grafana", folder+"/pathlock.json")
	if home := project.Services["grafana"].Environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]; home == nil || *home != folder+"/pathlock.json" {
		t.Errorf("Grafana begins with %v", home)
	}
}
