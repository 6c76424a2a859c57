package deployment_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/integration/internal/program"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// startProxy runs nginx with deploy/nginx.conf before one instance, and returns its address. Only
// addresses are changed.
func startProxy(t *testing.T, instance string) (addr string) {
	t.Helper()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		if nginx, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			testserver.Missing(t, "there is no nginx")
		}
	}
	addr = testnet.FreeAddr(t)
	dir, site := t.TempDir(), deployed(t, "nginx.conf")
	for _, change := range [][2]string{
		{"listen 8080;", "listen " + addr + ";"},
		{"http://$instances:8080;", "http://" + instance + ";"},
		{"access_log /dev/stdout instances;", "access_log off;"},
	} {
		if !strings.Contains(site, change[0]) {
			t.Fatalf("deploy/nginx.conf does not say %q", change[0])
		}
		site = strings.ReplaceAll(site, change[0], change[1])
	}
	user := ""
	if os.Getuid() == 0 {
		user = "user root;\n"
	}
	whole := user + "daemon off;\nworker_processes 1;\npid " + dir + "/pid;\nerror_log stderr notice;\nevents {}\nhttp {\n"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		whole += kind + "_temp_path " + dir + "/" + kind + ";\n"
	}
	path := filepath.Join(dir, "nginx.conf")
	testerr.Must(t, os.WriteFile(path, []byte(whole+site+"}\n"), 0o600))
	program.Run(t, exec.CommandContext(context.WithoutCancel(t.Context()), nginx, "-p", dir, "-c", path, "-e", "stderr"), addr)
	return addr
}

// exchange sends a request as it is written, and returns the answer.
func exchange(t *testing.T, addr, request string) (int, http.Header, string) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	testerr.Must(t, err)
	defer func() { _ = conn.Close() }()
	go func() { _, _ = io.WriteString(conn, request) }()
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%.80q: %v", request, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%.80q: %v", request, err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

// The proxy passes requests and answers on as they are. A failure of the proxy itself is a problem,
// like an instance's failures, and an instance's metrics stay inside.
func TestProxy(t *testing.T) {
	instance := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintf(w, "%s %s", r.Host, r.RequestURI)
	}))
	defer instance.Close()
	addr := startProxy(t, instance.Listener.Addr().String())
	status, header, body := exchange(t, addr, "POST /x?y HTTP/1.1\r\nHost: plans.example:8080\r\n\r\n")
	if status != http.StatusServiceUnavailable || header.Get("Content-Type") != "application/problem+json" || body != "plans.example:8080 /x?y" {
		t.Errorf("an instance's answer arrives as %d %v %s", status, header, body)
	}
	away := startProxy(t, "127.0.0.1:1")
	long := strings.Repeat("x", 100_000)
	for _, tt := range []struct {
		proxy, request string
		status         int
		slug           string
	}{
		{away, "POST /x HTTP/1.1\r\nHost: x\r\n\r\n", 503, "no-instance"},
		{addr, "nonsense\r\n\r\n", 400, "invalid-request"},
		{addr, "GET / HTTP/1.1\r\nHost: x\r\nX: " + long + "\r\n\r\n", 400, "invalid-request"},
		{addr, "GET /" + long + " HTTP/1.1\r\nHost: x\r\n\r\n", 414, "invalid-request"},
		{addr, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n", 413, "too-large"},
		{addr, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 404, "not-found"},
		{addr, "GET /x/../%6detrics? HTTP/1.1\r\nHost: x\r\n\r\n", 404, "not-found"},
	} {
		status, header, body := exchange(t, tt.proxy, tt.request)
		var problem struct {
			Type, Title, Detail string
			Status              int
		}
		if err := json.Unmarshal([]byte(body), &problem); err != nil {
			t.Errorf("%.60q: %d %s: %v", tt.request, status, body, err)
		}
		if status != tt.status || problem.Status != tt.status || problem.Type != "urn:pathlock:problem:"+tt.slug || problem.Title == "" || problem.Detail == "" ||
			header.Get("Content-Type") != "application/problem+json" || (header.Get("Retry-After") != "") != (tt.status == 503) {
			t.Errorf("%.60q: %d %v %s, want %d %s", tt.request, status, header, body, tt.status, tt.slug)
		}
	}
}
