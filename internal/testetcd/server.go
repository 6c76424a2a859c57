package testetcd

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testnet"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// ready is in the log when a member answers its clients.
const ready = "serving client traffic insecurely"

// Server is one member.
type Server struct {
	// Addr is where it listens for clients, host:port.
	Addr string

	t       reporter
	peer    string // where it listens for members
	name    string
	command []string
	process *exec.Cmd
	paused  bool
	log     *testserver.Log
	ended   chan struct{} // closed when the log is read to its end
}

// Start starts a server that is a cluster by itself. Further arguments are as on its command line.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return StartCluster(t, 1, args...)[0]
}

// Cluster is a cluster's members.
type Cluster []*Server

// StartCluster starts a cluster of n members.
func StartCluster(t testing.TB, n int, args ...string) Cluster {
	t.Helper()
	members := make(Cluster, n)
	var initial []string
	for i := range members {
		members[i] = &Server{t: t, Addr: freeAddr(t), peer: freeAddr(t), name: "m" + strconv.Itoa(i+1)}
		initial = append(initial, members[i].name+"=http://"+members[i].peer)
	}
	for _, m := range members {
		m.command = append(m.commandLine(Program(t), t.TempDir(), strings.Join(initial, ",")), args...)
		t.Cleanup(m.cleanUp)
	}
	members.Start()
	return members
}

// commandLine returns how to start a member of the cluster that consists of the initial members.
func (s *Server) commandLine(program, dir, initial string) []string {
	return []string{
		program, "--name", s.name, "--data-dir", dir, "--log-level", "info", "--unsafe-no-fsync",
		"--listen-client-urls", "http://" + s.Addr, "--advertise-client-urls", "http://" + s.Addr,
		"--listen-peer-urls", "http://" + s.peer, "--initial-advertise-peer-urls", "http://" + s.peer,
		"--initial-cluster", initial, "--initial-cluster-token", initial,
	}
}

// Start starts all members that do not run, and returns when they answer.
func (c Cluster) Start() {
	for _, m := range c {
		m.t.Helper()
	}
	var awaiting []func()
	for _, m := range c {
		if m.process == nil {
			awaiting = append(awaiting, m.launch())
		}
	}
	for _, await := range awaiting {
		await()
	}
}

// Kill ends all members as a power failure does.
func (c Cluster) Kill() {
	for _, m := range c {
		m.Kill()
	}
}

// Addrs returns where the members listen for clients.
func (c Cluster) Addrs() []string {
	addrs := make([]string, len(c))
	for i, m := range c {
		addrs[i] = m.Addr
	}
	return addrs
}

// freeAddr returns an address of the member's own.
func freeAddr(t reporter) string {
	t.Helper()
	addr, err := testnet.FreeAddr(t.Context())
	if err != nil {
		t.Fatalf("%v", err)
	}
	return addr
}

// Start starts a member that was killed, on its old address and with its data, and returns when it
// answers.
func (s *Server) Start() {
	s.t.Helper()
	s.launch()()
}

// launch starts the process. The function that it returns waits until the member answers.
func (s *Server) launch() func() {
	s.t.Helper()
	s.process = exec.CommandContext(context.Background(), s.command[0], s.command[1:]...) // until it is killed
	output, err := s.process.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		s.t.Fatalf("starting %s: %v", s.command[0], err)
	}
	started, ended := make(chan struct{}), make(chan struct{})
	s.log, s.ended = &testserver.Log{}, ended
	go func() {
		defer close(ended)
		s.log.Read(output, ready, started)
	}()
	return func() {
		s.t.Helper()
		select {
		case <-started:
		case <-ended:
			s.t.Fatalf("%v ended before it was ready:\n%s", s.command, s.log)
		}
	}
}

// Kill ends the member as a crash does: nothing is said to anybody.
func (s *Server) Kill() {
	if s.process == nil {
		return
	}
	s.signal(syscall.SIGKILL)
	<-s.ended
	_ = s.process.Wait() // it was ended by a signal: that is the error
	s.process, s.paused = nil, false
}

// Pause stops the process from running (SIGSTOP): it keeps its connections and answers nothing
// until Resume.
func (s *Server) Pause() {
	s.signal(syscall.SIGSTOP)
	s.paused = true
}

// Resume lets a paused process run on.
func (s *Server) Resume() {
	if s.paused {
		s.signal(syscall.SIGCONT)
		s.paused = false
	}
}

func (s *Server) signal(sig syscall.Signal) {
	if err := s.process.Process.Signal(sig); err != nil {
		s.t.Errorf("signalling %s: %v", s.command[0], err)
	}
}

func (s *Server) cleanUp() {
	s.Kill()
	if s.t.Failed() && s.log != nil {
		s.t.Logf("the log of %s on %s ends with\n%s", s.name, s.Addr, s.log)
	}
}
