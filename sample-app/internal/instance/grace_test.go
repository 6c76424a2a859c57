package instance_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/server"
)

// durations returns all values of a setting in a file of the deployment.
func durations(t *testing.T, file, setting string) []time.Duration {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", file))
	if err != nil {
		t.Fatal(err)
	}
	var found []time.Duration
	for _, match := range regexp.MustCompile(`(?m)^\s*`+setting+`:? (\d+s)`).FindAllStringSubmatch(string(text), -1) {
		d, err := time.ParseDuration(match[1])
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, d)
	}
	if len(found) == 0 {
		t.Fatalf("%s does not say %s", file, setting)
	}
	return found
}

// Each part waits longer than the part it waits for may take: a client for the proxy, the proxy for
// an instance, an instance for its requests and their locks, and compose for both.
func TestGracePeriodsAddUp(t *testing.T) {
	reading := durations(t, "deploy/nginx.conf", "proxy_read_timeout")[0]
	graces := durations(t, "docker-compose.yml", "stop_grace_period")
	if len(graces) != 2 {
		t.Fatalf("grace periods %v, want one of the instances and one of the proxy", graces)
	}
	for _, wait := range []struct {
		who    string
		waits  time.Duration
		atMost time.Duration
	}{
		{"the proxy for an answer", reading, server.RequestTimeout},
		{"an instance that stops for its requests", server.DrainTimeout, server.RequestTimeout},
		{"compose for an instance", slices.Max(graces), server.DrainTimeout + instance.ReleaseTimeout},
		{"compose for the proxy", slices.Min(graces), reading},
		{"a request for locks and its work", server.RequestTimeout, server.MaxWait},
	} {
		if wait.waits <= wait.atMost {
			t.Errorf("%s waits %v, which is not longer than %v", wait.who, wait.waits, wait.atMost)
		}
	}
}
