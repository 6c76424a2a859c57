package deployment_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/testnet"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// The instances have addresses of their own, as containers have, and one port.
var first, second = [4]byte{127, 0, 0, 1}, [4]byte{127, 0, 0, 2}

// instance stands for the sample app behind the proxy.
type instance struct {
	*http.Server
	asked atomic.Int64
}

// startInstance serves at an address. It answers with its name and what the proxy has told it.
func startInstance(t *testing.T, name string, address [4]byte, port string) *instance {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(net.IP(address[:]).String(), port))
	if err != nil {
		t.Fatal(err)
	}
	i := &instance{}
	i.Server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.asked.Add(1)
		if r.URL.Path == "/taken" {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"type":"urn:pathlock:problem:database-unavailable"}`)
			return
		}
		_, _ = fmt.Fprintf(w, "%s %s %s", name, r.Host, r.RequestURI)
	})}
	go func() { _ = i.Serve(listener) }()
	t.Cleanup(func() { _ = i.Close() })
	return i
}

// freePort returns a port of the proxy's own.
func freePort(t *testing.T) string {
	t.Helper()
	port, err := testnet.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// proxy is nginx with the configuration of docker-compose.yml.
type proxy struct {
	addr string
	// names is its name server, and port the one that instances have.
	names *nameserver
	port  string
}

// startProxy runs nginx with deploy/nginx.conf, in which only addresses are changed.
func startProxy(t *testing.T) *proxy {
	t.Helper()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		if nginx, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			testserver.Missing(t, "there is no nginx")
		}
	}
	p := &proxy{addr: "127.0.0.1:" + freePort(t), names: newNameserver(t), port: freePort(t)}
	config, err := os.ReadFile(filepath.Join("..", "..", "deploy", "nginx.conf"))
	if err != nil {
		t.Fatal(err)
	}
	site := string(config)
	for documented, here := range map[string]string{
		"resolver 127.0.0.11 ": "resolver " + p.names.addr + " ",
		"listen 8080;":         "listen " + p.addr + ";",
		"$instances:8080;":     "$instances:" + p.port + ";",
		"/dev/stdout":          "off",
	} {
		if !strings.Contains(site, documented) {
			t.Fatalf("deploy/nginx.conf does not say %q", documented)
		}
		site = strings.ReplaceAll(site, documented, here)
	}
	site = strings.ReplaceAll(site, "access_log off instances;", "access_log off;")
	dir := t.TempDir()
	user := ""
	if os.Getuid() == 0 {
		user = "user root;\n"
	}
	whole := user + "daemon off;\nworker_processes 1;\npid " + dir + "/pid;\nerror_log stderr notice;\nevents {}\nhttp {\n"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		whole += kind + "_temp_path " + dir + "/" + kind + ";\n"
	}
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(whole+site+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), nginx, "-p", dir, "-c", path, "-e", "stderr")
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	p.await(t, "nginx listens", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return p
}

// await waits until a condition holds.
func (p *proxy) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); {
		if time.Now().After(end) {
			t.Fatalf("in vain: %s", what)
		}
	}
}

// raw sends a request as it is written, and returns the answer.
func (p *proxy) raw(t *testing.T, request string) (int, http.Header, string) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
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

func (p *proxy) send(t *testing.T, method, target string) (int, http.Header, string) {
	t.Helper()
	return p.raw(t, method+" "+target+" HTTP/1.1\r\nHost: plans.example:8080\r\nConnection: close\r\n\r\n")
}

// An instance that is made anew has another address. The proxy finds it, and forgets the old one.
func TestTheProxyFindsAnInstanceThatIsMadeAnew(t *testing.T) {
	p := startProxy(t)
	old := startInstance(t, "old", first, p.port)
	p.names.point(first)
	p.await(t, "the instance answers", func() bool { _, _, body := p.send(t, "GET", "/x?y"); return body == "old plans.example:8080 /x?y" })
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	startInstance(t, "new", second, p.port)
	p.names.point(second)
	p.await(t, "the new one answers", func() bool {
		status, _, body := p.send(t, "POST", "/x")
		return status == 200 && strings.HasPrefix(body, "new ")
	})
	for range 20 {
		if status, _, body := p.send(t, "POST", "/x"); status != http.StatusOK {
			t.Errorf("the old address is asked: %d %s", status, body)
		}
	}
}

// While one of two instances is away, the other one answers everything.
func TestTheProxyPassesAnInstanceThatIsAway(t *testing.T) {
	p := startProxy(t)
	p.names.point(first, second)
	there := startInstance(t, "there", second, p.port)
	for n := range 20 {
		if status, _, body := p.send(t, "POST", "/x"); status != http.StatusOK {
			t.Errorf("request %d: %d %s", n, status, body)
		}
	}
	if asked := there.asked.Load(); asked != 20 {
		t.Errorf("the instance was asked %d times, want 20", asked)
	}
}

// What an instance says of itself is for whoever runs it.
func TestTheProxyPublishesNoMetrics(t *testing.T) {
	p := startProxy(t)
	i := startInstance(t, "there", first, p.port)
	p.names.point(first)
	p.await(t, "the instance answers", func() bool { status, _, _ := p.send(t, "GET", "/metric"); return status == 200 })
	before := i.asked.Load()
	for _, target := range []string{
		"/metrics", "/metrics/", "/metrics?x", "//metrics", "/./metrics", "/x/../metrics", "/%6detrics", "/%2fmetrics", "/metrics%2f", "http://plans.example/metrics",
	} {
		for _, method := range []string{"GET", "POST", "HEAD"} {
			if status, _, _ := p.send(t, method, target); status != http.StatusNotFound {
				t.Errorf("%s %s: %d, want 404", method, target, status)
			}
		}
	}
	if asked := i.asked.Load(); asked != before {
		t.Errorf("the instance was asked %d times", asked-before)
	}
}

// Whatever fails is a problem: the proxy's own failures are as the instances' are, and those pass
// as they came.
func TestTheProxyAnswersWithProblems(t *testing.T) {
	p := startProxy(t)
	startInstance(t, "there", second, p.port)
	p.names.point(second)
	p.await(t, "the instance answers", func() bool { status, _, _ := p.send(t, "GET", "/x"); return status == 200 })
	if status, header, body := p.send(t, "GET", "/taken"); status != 503 || header.Get("Content-Type") != "application/problem+json" || body != `{"type":"urn:pathlock:problem:database-unavailable"}` {
		t.Errorf("an instance's own problem arrives as %d %s %s", status, header, body)
	}
	away := startProxy(t)
	away.names.point(first)
	nowhere := startProxy(t) // whose name server knows nobody
	long := strings.Repeat("x", 100_000)
	for _, tt := range []struct {
		what    string
		proxy   *proxy
		request string
		status  int
		slug    string
	}{
		{"no instance answers", away, "POST /x HTTP/1.1\r\nHost: x\r\n\r\n", 503, "no-instance"},
		{"there is no instance", nowhere, "GET /x HTTP/1.1\r\nHost: x\r\n\r\n", 503, "no-instance"},
		{"no HTTP", p, "nonsense\r\n\r\n", 400, "invalid-request"},
		{"another HTTP", p, "GET / HTTP/3.0\r\nHost: x\r\n\r\n", 400, "invalid-request"},
		{"an encoding that nobody knows", p, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 400, "invalid-request"},
		{"no host", p, "GET / HTTP/1.1\r\n\r\n", 400, "invalid-request"},
		{"two lengths", p, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "invalid-request"},
		{"a long header", p, "GET / HTTP/1.1\r\nHost: x\r\nX: " + long + "\r\n\r\n", 400, "invalid-request"},
		{"a long URL", p, "GET /" + long + " HTTP/1.1\r\nHost: x\r\n\r\n", 414, "invalid-request"},
		{"a method that is refused", p, "TRACE / HTTP/1.1\r\nHost: x\r\n\r\n", 405, "method-not-allowed"},
		{"a body that is too large", p, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n", 413, "too-large"},
		{"the metrics", p, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 404, "not-found"},
		{"a problem's own page", p, "GET /problems/503 HTTP/1.1\r\nHost: x\r\n\r\n", 404, "not-found"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			status, header, body := tt.proxy.raw(t, tt.request)
			var problem struct {
				Type, Title, Detail string
				Status              int
			}
			if err := json.Unmarshal([]byte(body), &problem); err != nil {
				t.Fatalf("%d %s: %v", status, body, err)
			}
			if status != tt.status || problem.Status != tt.status || problem.Type != "urn:pathlock:problem:"+tt.slug || problem.Title == "" || problem.Detail == "" {
				t.Errorf("%d %s, want %d %s", status, body, tt.status, tt.slug)
			}
			if got := header.Get("Content-Type"); got != "application/problem+json" {
				t.Errorf("Content-Type %q", got)
			}
			if retry := header.Get("Retry-After"); (retry != "") != (tt.status == 503) {
				t.Errorf("Retry-After %q", retry)
			}
		})
	}
}
