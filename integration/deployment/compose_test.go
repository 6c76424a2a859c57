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
)

// load reads a compose file of the repository with the given environment.
func load(t *testing.T, file string, env ...string) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{filepath.Join("..", "..", file)},
		cli.WithEnv(env), cli.WithResolvedPaths(true), cli.WithName("pathlock"))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatalf("docker compose config would refuse %s: %v", file, err)
	}
	return project
}

var pinned = regexp.MustCompile(`:\d+\.\d+(\.\d+)?(-[\w.]+)?$`)

func TestImagesArePinnedAndEveryServiceHasAHealthCheck(t *testing.T) {
	for _, file := range []string{"docker-compose.yml", "test/servers.yml"} {
		project := load(t, file)
		for name, service := range project.Services {
			if service.Build == nil && !pinned.MatchString(service.Image) {
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
	dockerfile, err := os.ReadFile(filepath.Join("..", "..", "deploy", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(dockerfile), "\n") {
		if rest, ok := strings.CutPrefix(line, "FROM "); ok && !pinned.MatchString(strings.Fields(rest)[0]) {
			t.Errorf("the Dockerfile's %q is not pinned", rest)
		}
	}
}

func TestTwoInstancesShareOneDatabaseAndOneLockStoreBehindOnePort(t *testing.T) {
	project := load(t, "docker-compose.yml")
	var instances, published []string
	for name, service := range project.Services {
		if service.Build != nil {
			instances = append(instances, name)
			for _, variable := range []string{"PATHLOCK_DB", "PATHLOCK_LOCKS"} {
				if value := service.Environment[variable]; value == nil || *value == "" {
					t.Errorf("%s: %s is not set", name, variable)
				}
			}
			for _, needed := range []string{"mysql", "redis"} {
				if service.DependsOn[needed].Condition != types.ServiceConditionHealthy {
					t.Errorf("%s does not wait for %s to be healthy", name, needed)
				}
			}
		}
		if len(service.Ports) > 0 {
			published = append(published, name)
		}
	}
	if len(instances) != 2 || !slices.Equal(published, []string{"proxy"}) {
		t.Errorf("instances %v, published %v; want two, and the proxy", instances, published)
	}
	proxy, err := os.ReadFile(filepath.Join("..", "..", "deploy", "nginx.conf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range instances {
		if !strings.Contains(string(proxy), "server "+name+":8080") {
			t.Errorf("the proxy does not know %s", name)
		}
	}
}

func TestPasswordsComeFromTheEnvironment(t *testing.T) {
	project := load(t, "docker-compose.yml", "MYSQL_ROOT_PASSWORD=r00t", "MYSQL_PASSWORD=s3cret", "REDIS_PASSWORD=h1dden")
	text, err := project.MarshalYAML()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "development-only") {
		t.Error("a development default is left although every password is set")
	}
	for _, instance := range []string{"app1", "app2"} {
		env := project.Services[instance].Environment
		if !strings.Contains(*env["PATHLOCK_DB"], "s3cret") || !strings.Contains(*env["PATHLOCK_LOCKS"], "h1dden") {
			t.Errorf("%s does not use the passwords of the environment", instance)
		}
	}
}
