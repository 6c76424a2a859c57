package monitoring_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/testnet"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// need returns a program of Debian's package prometheus.
func need(t *testing.T, program string) string {
	t.Helper()
	found, err := exec.LookPath(program)
	if err != nil {
		testserver.Missing(t, "there is no "+program)
	}
	return found
}

func TestTheRulesDoWhatTheirUnitTestsSay(t *testing.T) {
	promtool := need(t, "promtool")
	for _, command := range [][]string{
		{"check", "config", "prometheus.yml"},
		{"check", "rules", "pathlock.rules.yml"},
		{"test", "rules", "pathlock.rules.test.yml"},
	} {
		cmd := exec.CommandContext(t.Context(), promtool, command...)
		cmd.Dir = filepath.Join(deploy, "prometheus")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(command, " "), err, out)
		}
	}
}

// start starts a program that serves HTTP at addr, and waits until it answers. At the end of the
// test it gets a SIGTERM.
func start(t *testing.T, addr, ready string, cmd *exec.Cmd) {
	t.Helper()
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", cmd.Path, err)
		}
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		status, body, err := send(t.Context(), http.MethodGet, "http://"+addr+ready, "")
		if err == nil && status == http.StatusOK {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not serve: %d %s %v", cmd.Path, status, body, err)
		}
	}
}

// send sends a request.
func send(ctx context.Context, method, target, body string) (status int, answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Close = true
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// address returns one that nobody uses.
func address(t *testing.T) string {
	t.Helper()
	port, err := testnet.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// startApp runs the sample app.
func startApp(t *testing.T) (addr string) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "sample-app")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".")
	build.Dir = filepath.Join("..", "..", "sample-app")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	addr = address(t)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), binary, "serve", "--addr", addr, "--wait", "100ms")
	cmd.Dir = t.TempDir()
	start(t, addr, "/readyz", cmd)
	return addr
}

var discovery = regexp.MustCompile(`(?s)dns_sd_configs:.*`)

// startPrometheus runs Prometheus with deploy/prometheus, in which only the target and the pace are
// changed.
func startPrometheus(t *testing.T, target string) (addr string) {
	t.Helper()
	prometheus := need(t, "prometheus")
	config, err := os.ReadFile(filepath.Join(deploy, "prometheus", "prometheus.yml"))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := filepath.Abs(filepath.Join(deploy, "prometheus", "pathlock.rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(config)
	for _, change := range [][2]string{
		{discovery.FindString(text), fmt.Sprintf("static_configs: [{targets: [%q]}]\n", target)},
		{"interval: 15s", "interval: 1s"},
		{"pathlock.rules.yml", rules},
	} {
		documented, here := change[0], change[1]
		if documented == "" || !strings.Contains(text, documented) {
			t.Fatalf("prometheus.yml does not say %q", documented)
		}
		text = strings.ReplaceAll(text, documented, here)
	}
	home := t.TempDir()
	file := filepath.Join(home, "prometheus.yml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	addr = address(t)
	start(t, addr, "/-/ready", exec.CommandContext(context.WithoutCancel(t.Context()), prometheus, "--config.file="+file,
		"--storage.tsdb.path="+filepath.Join(home, "data"), "--web.listen-address="+addr, "--enable-feature=exemplar-storage", "--log.level=warn"))
	return addr
}

// load keeps the sample app busy until the test ends: renames, a move and a copy, and inserts below
// a suite that somebody keeps locked.
func load(t *testing.T, app string) {
	t.Helper()
	made := func(target, body string) int64 {
		t.Helper()
		status, answer, err := send(t.Context(), http.MethodPost, "http://"+app+target, body)
		var made struct {
			ID int64 `json:"id"`
		}
		if err == nil {
			err = json.Unmarshal(answer, &made)
		}
		if err != nil || status != http.StatusCreated {
			t.Fatalf("%s: %d %s %v", target, status, answer, err)
		}
		return made.ID
	}
	plan := made("/api/projects/p/plans", `{"name":"plan"}`)
	suite := func(name string) int64 {
		return made(fmt.Sprintf("/api/plans/%d/suites", plan), fmt.Sprintf(`{"parent_id":1,"name":%q}`, name))
	}
	busy, locked := suite("busy"), suite("locked")
	if status, answer, err := send(t.Context(), http.MethodPost, fmt.Sprintf("http://%s/api/suites/%d/lock", app, locked), `{"for":"10m","note":"somebody edits"}`); err != nil || status >= http.StatusBadRequest {
		t.Fatalf("locking: %d %s %v", status, answer, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		all.Wait()
	})
	for worker := range 3 {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				target, body := busy, fmt.Sprintf(`{"name":"busy-%d-%d"}`, worker, i)
				if worker == 0 {
					target, body = locked, fmt.Sprintf(`{"name":"locked-%d"}`, i)
				}
				_, _, _ = send(ctx, http.MethodPatch, fmt.Sprintf("http://%s/api/suites/%d", app, target), body)
				select {
				case <-ctx.Done():
				case <-time.After(20 * time.Millisecond): // bounds the load
				}
			}
		})
	}
}

// answers asks Prometheus, and returns how many series the answer has that are numbers.
func answers(t *testing.T, prometheus, query string) int {
	t.Helper()
	status, body, err := send(t.Context(), http.MethodGet, "http://"+prometheus+"/api/v1/query?query="+url.QueryEscape(query), "")
	var answer struct {
		Data struct {
			Result []struct {
				Value [2]any `json:"value"`
			} `json:"result"`
		} `json:"data"`
	}
	if err == nil {
		err = json.Unmarshal(body, &answer)
	}
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s %v", query, status, body, err)
	}
	n := 0
	for _, r := range answer.Data.Result {
		if r.Value[1] != "NaN" {
			n++
		}
	}
	return n
}

var threshold = regexp.MustCompile(` > [0-9.]+$`)

// Each query of the dashboard, and each alert without its threshold, finds data where a real
// Prometheus scrapes the sample app under load. No rule fails.
func TestAPrometheusThatScrapesTheSampleAppAnswersEverything(t *testing.T) {
	need(t, "prometheus")
	app := startApp(t)
	load(t, app)
	prometheus := startPrometheus(t, app)
	expressions := queries(t)
	for _, a := range alerts(t) {
		measured := threshold.ReplaceAllString(a.Expr, "")
		if measured == a.Expr {
			t.Errorf("%s has no threshold: %s", a.Alert, a.Expr)
		}
		expressions = append(expressions, expression{a.Alert, measured})
	}
	end := time.Now().Add(time.Minute)
	for _, e := range expressions {
		for answers(t, prometheus, e.text) == 0 {
			if time.Now().After(end) {
				t.Errorf("%s finds nothing: %s", e.where, e.text)
				break
			}
			time.Sleep(200 * time.Millisecond)
		}
	}
	_, body, err := send(t.Context(), http.MethodGet, "http://"+prometheus+"/api/v1/rules", "")
	var rules struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError string }
			}
		}
	}
	if err == nil {
		err = json.Unmarshal(body, &rules)
	}
	if err != nil || len(rules.Data.Groups) != 1 || len(rules.Data.Groups[0].Rules) != len(alerts(t)) {
		t.Fatalf("the rules are %s (%v)", body, err)
	}
	for _, r := range rules.Data.Groups[0].Rules {
		if r.Health != "ok" {
			t.Errorf("%s is %s: %s", r.Name, r.Health, r.LastError)
		}
	}
}
