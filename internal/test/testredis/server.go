package testredis

import (
	"bufio"
	"context"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/internal/test/testchild"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// Program is a server program, by the name of its binary.
type Program string

// The programs that there are. The package valkey-server of Debian 12 is in bookworm-backports.
const (
	Redis  Program = "redis-server"
	Valkey Program = "valkey-server"
)

// Server is one server process.
type Server struct {
	*testchild.Program
	// Addr is where it listens, host:port.
	Addr string

	t   testing.TB
	bus string // the port of a node's bus, if it is one of a cluster
}

// Start starts a single server. Further arguments are as on its command line.
func Start(t testing.TB, program Program, args ...string) *Server {
	t.Helper()
	s := newServer(t, program, args...)
	s.Start()
	return s
}

// newServer prepares a server with a port of its own and without persistence.
func newServer(t testing.TB, program Program, args ...string) *Server {
	t.Helper()
	s, dir := &Server{Addr: testnet.FreeAddr(t), t: t}, t.TempDir()
	command := []string{lookup(t, program), "--port", s.port(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--repl-diskless-sync-delay", "0", "--enable-debug-command", "local", "--dir", dir}
	s.Program = testchild.NewProgram(t, dir, append(command, args...)...)
	return s
}

// lookup returns the path of a server program, or skips the test.
func lookup(t testing.TB, program Program) string {
	t.Helper()
	testserver.Redis(t) // where tests have no Redis to use, they need not have one to start either
	path, err := exec.LookPath(string(program))
	if err != nil {
		testserver.Missing(t, "the program "+string(program)+" is not installed")
	}
	return path
}

func (s *Server) host() string { host, _, _ := net.SplitHostPort(s.Addr); return host }
func (s *Server) port() string { _, port, _ := net.SplitHostPort(s.Addr); return port }

// Start starts a server that was stopped or killed, on its old address, and returns when it
// answers.
func (s *Server) Start() {
	s.t.Helper()
	s.Program.Start()
	testserver.Await(s.t, s.Addr+" answers", s.serves)
}

// serves reports whether the server has loaded what it keeps, and answers.
func (s *Server) serves() bool {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.WithoutCancel(s.t.Context()), "tcp", s.Addr)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	_, _ = conn.Write([]byte("PING\r\n"))
	answer, _ := bufio.NewReader(conn).ReadString('\n')
	return strings.HasPrefix(answer, "+PONG") || strings.HasPrefix(answer, "-NOAUTH")
}

// Try sends a command on a connection of its own, more than once if need be: sentinels, for one,
// cut the connections of everybody when they give a server another role.
func (s *Server) Try(args ...any) (any, error) {
	client := redis.NewClient(&redis.Options{Addr: s.Addr, PoolSize: 1})
	defer func() { _ = client.Close() }()
	return client.Do(context.WithoutCancel(s.t.Context()), args...).Result()
}

// Do is Try for commands that have to succeed.
func (s *Server) Do(args ...any) any {
	s.t.Helper()
	reply, err := s.Try(args...)
	if err != nil {
		s.t.Fatalf("%s: %v: %v", s.Addr, args, err)
	}
	return reply
}

// Text asks for something that is answered with a string.
func (s *Server) Text(args ...any) string {
	s.t.Helper()
	reply := s.Do(args...)
	text, ok := reply.(string)
	if !ok {
		s.t.Fatalf("%s: %v: the reply is %T, want a string", s.Addr, args, reply)
	}
	return text
}

// Info returns one field of INFO, or "" if there is none.
func (s *Server) Info(section, field string) string {
	s.t.Helper()
	for line := range strings.Lines(s.Text("INFO", section)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Client returns a client that is closed at the end of the test.
func (s *Server) Client() *redis.Client {
	client := redis.NewClient(&redis.Options{Addr: s.Addr, ContextTimeoutEnabled: true})
	s.t.Cleanup(func() {
		testerr.Is(s.t, "closing the client", client.Close(), nil)
	})
	return client
}
