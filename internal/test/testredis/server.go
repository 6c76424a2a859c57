package testredis

import (
	"context"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

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

// ready is what a server writes to its log when it answers; a sentinel says what it watches.
const (
	ready         = "eady to accept connections"
	readySentinel = "+monitor"
)

// Server is one server process.
type Server struct {
	// Addr is where it listens, host:port.
	Addr string

	t       testing.TB
	command []string
	ready   string
	process *exec.Cmd
	paused  bool
	log     *testserver.Log
	ended   chan struct{} // closed when the log is read to its end
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
	s := &Server{Addr: freeAddr(t), t: t, ready: ready}
	args = append([]string{"--port", s.port(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--repl-diskless-sync-delay", "0", "--enable-debug-command", "local", "--dir", t.TempDir()}, args...)
	s.command = append([]string{lookup(t, program)}, args...)
	t.Cleanup(s.cleanUp)
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

// freeAddr returns an address of the server's own.
func freeAddr(t testing.TB) string {
	t.Helper()
	addr, err := testnet.FreeAddr(t.Context())
	testerr.Must(t, err)
	return addr
}

func (s *Server) host() string { host, _, _ := net.SplitHostPort(s.Addr); return host }
func (s *Server) port() string { _, port, _ := net.SplitHostPort(s.Addr); return port }

// Start starts a server that was stopped or killed, on its old address, and returns when it
// answers.
func (s *Server) Start() {
	s.t.Helper()
	s.process = exec.CommandContext(context.Background(), s.command[0], s.command[1:]...) // until it is killed
	output, err := s.process.StdoutPipe()
	testerr.Must(s.t, err)
	if err := s.process.Start(); err != nil {
		s.t.Fatalf("starting %s: %v", s.command[0], err)
	}
	started, ended := make(chan struct{}), make(chan struct{})
	s.log, s.ended = &testserver.Log{}, ended
	go func() {
		defer close(ended)
		s.log.Read(output, s.ready, started)
	}()
	select {
	case <-started:
	case <-ended:
		s.t.Fatalf("%v ended before it was ready:\n%s", s.command, s.log)
	}
}

// Kill ends the server as a crash does: nothing is said to anybody.
func (s *Server) Kill() {
	if s.process == nil {
		return
	}
	s.signal(syscall.SIGKILL)
	s.paused = false
	<-s.ended
	_ = s.process.Wait() // it was ended by a signal: that is the error
	s.process = nil
}

// Pause stops the process from running (SIGSTOP): it keeps its connections and answers nothing
// until Resume.
func (s *Server) Pause() {
	s.signal(syscall.SIGSTOP)
	s.paused = true
}

// Resume lets a paused process run on; it does nothing if it was not paused.
func (s *Server) Resume() {
	if s.paused {
		s.signal(syscall.SIGCONT)
		s.paused = false
	}
}

// Running reports whether the server can answer.
func (s *Server) Running() bool { return s.process != nil && !s.paused }

func (s *Server) signal(sig syscall.Signal) {
	if err := s.process.Process.Signal(sig); err != nil {
		s.t.Errorf("signalling %s: %v", s.command[0], err)
	}
}

func (s *Server) cleanUp() {
	s.Kill()
	if s.t.Failed() && s.log != nil {
		s.t.Logf("the log of %s on %s ends with\n%s", s.command[0], s.Addr, s.log)
	}
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
