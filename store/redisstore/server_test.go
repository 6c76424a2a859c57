package redisstore

import (
	"bufio"
	"context"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/internal/testserver"
)

// server is a Redis of a test's own, for tests that disturb it.
type server struct {
	t       testing.TB
	addr    string
	dir     string
	process *exec.Cmd
}

// startServer starts a Redis that is stopped at the end of the test. It keeps nothing on disk.
func startServer(t testing.TB) *server {
	t.Helper()
	testserver.Redis(t) // where tests have no Redis to use, they need not have one to start either
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, addr: addr, dir: t.TempDir()}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *server) start() {
	s.t.Helper()
	_, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		testserver.Missing(s.t, "the program redis-server is not installed")
	}
	args := []string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", s.dir}
	s.process = exec.CommandContext(context.Background(), binary, args...) // until stop
	output, err := s.process.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "eady to accept connections") {
			return
		}
	}
	s.t.Fatal("redis-server ended before it was ready")
}

func (s *server) stop() {
	if s.process == nil {
		return
	}
	s.signal(syscall.SIGCONT)
	s.signal(syscall.SIGKILL)
	_ = s.process.Wait() // it was killed: that is the error
	s.process = nil
}

func (s *server) signal(sig syscall.Signal) {
	if err := s.process.Process.Signal(sig); err != nil {
		s.t.Errorf("signalling redis-server: %v", err)
	}
}

// client returns a client that is closed at the end of the test.
func (s *server) client() *redis.Client {
	return closeClient(s.t, redis.NewClient(&redis.Options{Addr: s.addr}))
}

// store returns a store that is closed at the end of the test.
func (s *server) store(opts ...Option) *Store { return closeStore(s.t, New(s.client(), opts...)) }

// do sends a command to the server.
func (s *server) do(args ...any) {
	s.t.Helper()
	client := redis.NewClient(&redis.Options{Addr: s.addr, MaxRetries: -1})
	defer func() { _ = client.Close() }()
	if err := client.Do(s.t.Context(), args...).Err(); err != nil {
		s.t.Fatalf("%v: %v", args, err)
	}
}

// calls returns how often the server has carried out a command.
func (s *server) calls(command string) int {
	s.t.Helper()
	client := redis.NewClient(&redis.Options{Addr: s.addr})
	defer func() { _ = client.Close() }()
	stats, err := client.InfoMap(s.t.Context(), "commandstats").Result()
	if err != nil {
		s.t.Fatal(err)
	}
	n := 0
	for _, field := range strings.Split(stats["Commandstats"]["cmdstat_"+command], ",") {
		if calls, ok := strings.CutPrefix(field, "calls="); ok {
			for _, c := range calls {
				n = 10*n + int(c-'0')
			}
		}
	}
	return n
}
