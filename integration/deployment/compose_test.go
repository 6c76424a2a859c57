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
)

// load reads a compose file of the repository with the given environment.
func load(t *testing.T, file string, env ...string) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{filepath.Join("..", "..", file)},
		cli.WithEnv(env), cli.WithResolvedPaths(true), cli.WithName("pathlock"), cli.WithDefaultProfiles())
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatalf("docker compose config would refuse %s: %v", file, err)
	}
	return project
}

var pinned = regexp.MustCompile(`:v?\d+\.\d+(\.\d+)?(-[\w.]+)?$`)

func TestImagesArePinnedAndEveryServiceHasAHealthCheck(t *testing.T) {
	for _, file := range []string{"docker-compose.yml", "test/servers.yml"} {
		project := load(t, file, "COMPOSE_PROFILES=metrics")
		for name, service := range project.Services {
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
		if service.Image == "pathlock-sample-app" {
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
		if aliases := project.Services[name].Networks["default"].Aliases; !slices.Contains(aliases, "app") || !strings.Contains(string(proxy), `set $instances "app";`) {
			t.Errorf("the proxy does not know %s, which has the names %v", name, aliases)
		}
	}
}

// Two services that build one tag get in each other's way, and an image that is built here is not
// asked of a registry, where anybody may have one of that name.
func TestEachImageIsBuiltByOneServiceAndNeverPulled(t *testing.T) {
	project := load(t, "docker-compose.yml")
	builders := map[string][]string{}
	for name, service := range project.Services {
		if service.Build != nil {
			builders[service.Image] = append(builders[service.Image], name)
		}
	}
	if len(builders) == 0 {
		t.Error("nothing is built")
	}
	for image, names := range builders {
		if len(names) != 1 {
			t.Errorf("%s is built by %v", image, names)
		}
		for name, service := range project.Services {
			want := types.PullPolicyNever
			if service.Build != nil {
				want = types.PullPolicyBuild
			}
			if service.Image == image && service.PullPolicy != want {
				t.Errorf("%s has the pull policy %q, want %q", name, service.PullPolicy, want)
			}
		}
	}
}

// Passwords come from the environment, and may have characters that a URL takes for its own.
func TestPasswordsComeFromTheEnvironment(t *testing.T) {
	const password = `p/#?@%:s3cret`
	project := load(t, "docker-compose.yml", "MYSQL_ROOT_PASSWORD=r00t", "MYSQL_PASSWORD="+password, "REDIS_PASSWORD="+password)
	text, err := project.MarshalYAML()
	if err != nil {
		t.Fatal(err)
	}
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
