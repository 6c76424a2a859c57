package deployment_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// load reads a compose file of the repository with the given environment.
func load(t *testing.T, file string, env ...string) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{filepath.Join("..", "..", file)},
		cli.WithEnv(env), cli.WithResolvedPaths(true), cli.WithName("pathlock"), cli.WithDefaultProfiles())
	testerr.Must(t, err)
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatalf("docker compose config would refuse %s: %v", file, err)
	}
	return project
}

var pinned = regexp.MustCompile(`:v?\d+\.\d+(\.\d+)?(-[\w.]+)?$`)

func TestCompose_pinsImagesAndChecksHealth(t *testing.T) {
	for _, file := range []string{"docker-compose.yml", "test/servers.yml"} {
		for name, service := range load(t, file, "COMPOSE_PROFILES=metrics").Services {
			if service.Build == nil && service.PullPolicy != types.PullPolicyNever && !pinned.MatchString(service.Image) {
				t.Errorf("%s: %s: the image %q is not pinned", file, name, service.Image)
			}
			if service.HealthCheck == nil || len(service.HealthCheck.Test) == 0 {
				t.Errorf("%s: %s has no health check", file, name)
			}
			for _, port := range service.Ports {
				if port.HostIP != "127.0.0.1" {
					t.Errorf("%s: %s publishes a port on %q, not on the loopback interface alone", file, name, port.HostIP)
				}
			}
		}
	}
	for line := range strings.Lines(deployed(t, "Dockerfile")) {
		if rest, ok := strings.CutPrefix(line, "FROM "); ok && !pinned.MatchString(strings.Fields(rest)[0]) {
			t.Errorf("the Dockerfile's %q is not pinned", rest)
		}
	}
}

// Two instances share one port, and wait for their servers. The image is asked of no registry,
// where anybody may have one of that name.
func TestCompose_twoInstancesBehindOnePort(t *testing.T) {
	var instances, published []string
	for name, service := range load(t, "docker-compose.yml").Services {
		if len(service.Ports) > 0 {
			published = append(published, name)
		}
		if service.Image != "pathlock-sample-app" {
			continue
		}
		instances = append(instances, name)
		if service.Build == nil && service.PullPolicy != types.PullPolicyNever || !slices.Contains(service.Networks["default"].Aliases, "app") ||
			service.DependsOn["mysql"].Condition != types.ServiceConditionHealthy || service.DependsOn["redis"].Condition != types.ServiceConditionHealthy {
			t.Errorf("%s: %+v", name, service)
		}
	}
	if len(instances) != 2 || !slices.Equal(published, []string{"proxy"}) || !strings.Contains(deployed(t, "nginx.conf"), `set $instances "app";`) {
		t.Errorf("instances %v, published %v; want two, and the proxy", instances, published)
	}
}

// Passwords come from the environment, and may have characters that a URL takes for its own.
func TestCompose_passwordsComeFromTheEnvironment(t *testing.T) {
	const password = `p/#?@%:s3cret`
	project := load(t, "docker-compose.yml", "MYSQL_ROOT_PASSWORD=r00t", "MYSQL_PASSWORD="+password, "REDIS_PASSWORD="+password)
	text, err := project.MarshalYAML()
	testerr.Must(t, err)
	if strings.Contains(string(text), "development-only") {
		t.Error("a development default is left although every password is set")
	}
	for _, instance := range []string{"app1", "app2"} {
		env := project.Services[instance].Environment
		cfg, err := mysql.ParseDSN(strings.TrimPrefix(*env["PATHLOCK_DB"], "mysql://"))
		if err != nil || cfg.Passwd != password || cfg.Addr != "mysql:3306" {
			t.Errorf("%s: the password of MySQL is read as %+v, %v", instance, cfg, err)
		}
		if locks := *env["PATHLOCK_LOCKS"]; *env["PATHLOCK_LOCKS_PASSWORD"] != password || strings.Contains(locks, password) {
			t.Errorf("%s: the password of Redis is %q, beside %s", instance, *env["PATHLOCK_LOCKS_PASSWORD"], locks)
		}
	}
}

// Prometheus and Grafana start only on request. Their files are where they look for them, and each
// finds the next one by its name in the compose file.
func TestCompose_metricsAreAProfile(t *testing.T) {
	project := load(t, "docker-compose.yml", "COMPOSE_PROFILES=metrics")
	if plain := load(t, "docker-compose.yml").Services; len(plain) != len(project.Services)-2 {
		t.Errorf("%d services come without the profile", len(plain))
	}
	for _, c := range []struct{ service, path, says string }{
		{"prometheus", "/etc/prometheus/prometheus.yml", "names: [app]"},
		{"prometheus", "/etc/prometheus/pathlock.rules.yml", "groups:"},
		{"grafana", "/etc/grafana/provisioning/datasources/prometheus.yml", "url: http://prometheus:9090"},
		{"grafana", "/etc/grafana/provisioning/dashboards/pathlock.yml", "path: /var/lib/grafana/dashboards"},
		{"grafana", "/var/lib/grafana/dashboards/pathlock.json", "panels"},
	} {
		found := ""
		for _, v := range project.Services[c.service].Volumes {
			if below, ok := strings.CutPrefix(c.path, v.Target+"/"); ok && v.Type == types.VolumeTypeBind {
				text, err := os.ReadFile(filepath.Join(v.Source, below))
				testerr.None(t, err)
				found = string(text)
			}
		}
		if !strings.Contains(found, c.says) {
			t.Errorf("%s: %s has %q, want %q", c.service, c.path, found, c.says)
		}
	}
}
