package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/sample-app/internal/cli"
	"github.com/pathlock-go/pathlock/sample-app/internal/instance"
	"github.com/pathlock-go/pathlock/sample-app/internal/server"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// childVariable turns the test binary into the program, so that tests can run the program as a
// process.
const childVariable = "PATHLOCK_SAMPLE_TEST_CHILD"

func TestMain(m *testing.M) {
	gin.SetMode(gin.ReleaseMode)
	if os.Getenv(childVariable) != "" {
		os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr, slog.SetDefault))
	}
	goleak.VerifyTestMain(m)
}

// program returns the program as a process of its own, in a folder of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Dir = t.TempDir()
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "PATHLOCK_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, childVariable+"=1")
	return cmd
}

// served is a running instance.
type served struct {
	cmd *exec.Cmd
	url string
	// message is its first lines.
	message []string
}

// serve starts an instance, and waits until it reports its address.
func serve(t *testing.T, cmd *exec.Cmd, lines int) *served {
	t.Helper()
	return serveLogging(t, cmd, lines, os.Stderr)
}

// serveLogging is serve with a place for the log.
func serveLogging(t *testing.T, cmd *exec.Cmd, lines int, log io.Writer) *served {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	s := &served{cmd: cmd}
	reader := bufio.NewReader(out)
	for range lines {
		line, err := reader.ReadString('\n')
		if err != nil {
			t.Fatalf("after %q: %v", s.message, err)
		}
		s.message = append(s.message, strings.TrimSpace(line))
	}
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	addr, ok := strings.CutPrefix(s.message[0], server.Listening)
	if !ok {
		t.Fatalf("the first line is %q", s.message[0])
	}
	s.url = "http://" + addr
	return s
}

// send sends a request on a connection of its own.
func (s *served) send(ctx context.Context, method, path, body string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, text, err
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); {
		if time.Now().After(end) {
			t.Fatalf("in vain: %s", what)
		}
	}
}

// The environment has the same settings as the flags. The first lines say where the instance
// listens, and with what it works.
func TestServeMessage(t *testing.T) {
	cmd := program(t)
	cmd.Env = append(cmd.Env, "PATHLOCK_ADDR=127.0.0.1:0", "PATHLOCK_LOCKS=off://", "PATHLOCK_ASSERT=false")
	s := serve(t, cmd, 5)
	want := []string{"", "database  sqlite://pathlock-sample.db", "locks     off:// (no locks)", "assertion off", "no protection at all: trees will be corrupted"}
	for i := 1; i < len(want); i++ {
		if s.message[i] != want[i] {
			t.Errorf("line %d is %q, want %q", i, s.message[i], want[i])
		}
	}
	if _, err := os.Stat(filepath.Join(cmd.Dir, "pathlock-sample.db")); err != nil {
		t.Errorf("the default database: %v", err)
	}
	if status, _, err := s.send(t.Context(), "GET", "/readyz", ""); err != nil || status != http.StatusOK {
		t.Errorf("readyz: %d %v", status, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// After SIGTERM, the instance accepts nothing more, answers the running request, releases its lock,
// and exits with 0.
func TestDrain(t *testing.T) {
	url := testdb.SQLite(t)
	s := serve(t, program(t, "--addr", "127.0.0.1:0", "--db", url), 4)
	status, text, err := s.send(t.Context(), "POST", "/api/projects/p/plans", `{"name":"x"}`)
	if err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s %v", status, text, err)
	}
	var plan struct{ ID, RootID int64 }
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte("root_id"), []byte("RootID")), &plan); err != nil {
		t.Fatal(err)
	}
	// The request holds its path lock and waits for the database, which somebody else writes to.
	db := testdb.Open(t, url)
	blocker := db.Write.Begin()
	if blocker.Error != nil {
		t.Fatal(blocker.Error)
	}
	answered := make(chan string, 1)
	go func() {
		status, text, err := s.send(t.Context(), "POST", fmt.Sprintf("/api/plans/%d/suites", plan.ID), fmt.Sprintf(`{"parent_id":%d,"name":"late"}`, plan.RootID))
		answered <- fmt.Sprintf("%d %v %s", status, err, text)
	}()
	eventually(t, "the request holds a lock", func() bool {
		_, text, err := s.send(t.Context(), "GET", "/metrics", "")
		return err == nil && strings.Contains(string(text), "\npathlock_held 1\n")
	})
	// Twice, like a program that signals a process and then its group.
	for range 2 {
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "nothing is accepted any more", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	select {
	case answer := <-answered:
		t.Fatalf("answered before the database was free: %s", answer)
	default:
	}
	if err := blocker.Rollback().Error; err != nil {
		t.Fatal(err)
	}
	if answer := <-answered; !strings.HasPrefix(answer, "201 <nil>") {
		t.Errorf("the running request: %s", answer)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("exit after SIGTERM: %v, want 0", err)
	}
	var suites int
	if err := db.Pool().QueryRow(`SELECT COUNT(*) FROM suites WHERE name = 'late'`).Scan(&suites); err != nil || suites != 1 {
		t.Errorf("%d suites (%v), want the one that was answered for", suites, err)
	}
}

// During --drain, /readyz says 503 while everything else is served, and each answer ends its
// connection. So no client with a connection of its own is cut off between two requests.
func TestDrainKeepsServing(t *testing.T) {
	s := serve(t, program(t, "--addr", "127.0.0.1:0", "--db", testdb.SQLite(t), "--drain", "1500ms"), 4)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}
	defer client.CloseIdleConnections()
	// ask sends a request on a connection that is kept.
	ask := func(path string) (status int, closes bool, err error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
		if err != nil {
			return 0, false, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return 0, false, err
		}
		defer func() { _ = resp.Body.Close() }()
		_, err = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode, resp.Close, err
	}
	if status, closes, err := ask("/readyz"); status != http.StatusOK || closes || err != nil {
		t.Fatalf("before: %d, closes: %t, %v", status, closes, err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is not ready", func() bool {
		status, _, err := ask("/readyz")
		if err != nil {
			t.Fatal(err)
		}
		return status == http.StatusServiceUnavailable
	})
	if status, closes, err := ask("/api/projects"); status != http.StatusOK || !closes || err != nil {
		t.Errorf("while it drains: %d, closes: %t, %v", status, closes, err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("exit after SIGTERM: %v, want 0", err)
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		args []string
		code int
		says string
	}{
		{args: []string{"--help"}, code: 0, says: "import"},
		{args: []string{"serve", "--help"}, code: 0, says: "PATHLOCK_LOCKS"},
		{args: []string{"import", "x"}, code: 2, says: "--plan"},
		{args: []string{"--db", "postgres://localhost:1/x"}, code: 1, says: "failed to connect"},
		{args: []string{"--db", "sqlite://" + filepath.Join(t.TempDir(), "a.db"), "--locks", "nowhere://localhost"}, code: 2, says: "supported are"},
		{args: []string{"--db", "sqlite:///no/such/folder/a.db"}, code: 1, says: "/no/such/folder/a.db"},
		{args: []string{"nonsense"}, code: 2, says: "nonsense"},
		{args: []string{"--addr", "127.0.0.1:99999"}, code: 2, says: "--addr (PATHLOCK_ADDR): \"127.0.0.1:99999\" has no port from 0 to 65535"},
		{args: []string{"--addr", "8080"}, code: 2, says: "host:port"},
		{args: []string{"--drain=-1s"}, code: 2, says: "0s to 10m"},
		{args: []string{"storm", "--clients", "0"}, code: 2, says: "positive"},
		{args: []string{"storm", "--locks", "memory://"}, code: 2, says: "processes"},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		if code := cli.Main(t.Context(), tt.args, &out, &out); code != tt.code || !strings.Contains(out.String(), tt.says) {
			t.Errorf("%q: exit code %d and %q, want %d and something about %q", tt.args, code, &out, tt.code, tt.says)
		}
	}
}

// An instance whose lock store hangs ends in time: what could not be released is left to its lease.
func TestAnEndWhileTheLockStoreHangs(t *testing.T) {
	redis := testredis.Start(t, testredis.Redis)
	url := testdb.SQLite(t)
	s := serve(t, program(t, "--addr", "127.0.0.1:0", "--db", url, "--locks", "redis://"+redis.Addr+"/0"), 4)
	status, text, err := s.send(t.Context(), "POST", "/api/projects/p/plans", `{"name":"x"}`)
	if err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s %v", status, text, err)
	}
	// A request holds a lock and waits for the database.
	blocker := testdb.Open(t, url).Write.Begin()
	if blocker.Error != nil {
		t.Fatal(blocker.Error)
	}
	answered := make(chan error, 1)
	go func() {
		_, _, err := s.send(t.Context(), "POST", "/api/plans/1/suites", `{"parent_id":1,"name":"late"}`)
		answered <- err
	}()
	eventually(t, "the request holds a lock", func() bool {
		_, text, err := s.send(t.Context(), "GET", "/metrics", "")
		return err == nil && strings.Contains(string(text), "\npathlock_held 1\n")
	})
	redis.Pause()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := blocker.Rollback().Error; err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("the running request: %v", err)
	}
	began := time.Now()
	_ = s.cmd.Wait()
	if took := time.Since(began); took > instance.ReleaseTimeout+2*time.Second {
		t.Errorf("it took %s to end after its last request, more than %s", took, instance.ReleaseTimeout)
	} else {
		t.Logf("it took %s to end after its last request", took)
	}
}
