package testzk

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/testnet"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// jar is where Debian has ZooKeeper, and codec what its manifest lacks for connections with TLS.
const (
	jar   = "/usr/share/java/zookeeper.jar"
	codec = "/usr/share/java/netty-codec.jar:/usr/share/java/netty-resolver.jar"
)

// tick is the servers' unit of time: sessions last for at least two of them.
const tick = 500 * time.Millisecond

// Server is one server process.
type Server struct {
	// Addr is where it listens to clients, host:port.
	Addr string

	t       testing.TB
	command []string
	dir     string
	process *exec.Cmd
	paused  bool
}

// Start starts a single server. Further lines are for its zoo.cfg.
func Start(t testing.TB, config ...string) *Server {
	t.Helper()
	s := newServer(t, "org.apache.zookeeper.server.ZooKeeperServerMain", config)
	s.Start()
	return s
}

func newServer(t testing.TB, class string, config []string) *Server {
	t.Helper()
	if lacking := Lacking(); lacking != "" {
		testserver.Missing(t, lacking)
	}
	addr, err := testnet.FreeAddr(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Addr: addr, t: t, dir: t.TempDir()}
	if s.command, err = prepare(s.dir, addr, class, config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.cleanUp)
	return s
}

// Lacking returns what is missing that servers need, "" if nothing is.
func Lacking() string {
	if _, err := exec.LookPath("java"); err != nil {
		return "java is not installed"
	}
	if _, err := os.Stat(jar); err != nil {
		return "there is no " + jar
	}
	return ""
}

// prepare writes a server's configuration, and returns the command that starts it.
func prepare(dir, addr, class string, config []string) ([]string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	lines := append([]string{
		"tickTime=" + strconv.FormatInt(tick.Milliseconds(), 10),
		"maxSessionTimeout=600000",
		"maxClientCnxns=0",
		"dataDir=" + dir,
		"clientPort=" + port,
		"clientPortAddress=" + host,
		"admin.enableServer=false",
		"4lw.commands.whitelist=*",
		"initLimit=20",
		"syncLimit=6",
		"",
	}, config...)
	file := filepath.Join(dir, "zoo.cfg")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		return nil, err
	}
	return []string{
		"java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
		"-Dzookeeper.forceSync=no",               // what is kept need not outlive the machine
		"-Dznode.container.checkIntervalMs=1000", // a minute by default
		"-cp", dir + ":" + jar + ":" + codec, class, file,
	}, nil
}

// Start starts a server that was stopped or killed, on its old address, and returns when it serves.
func (s *Server) Start() {
	s.t.Helper()
	s.launch()
	testserver.Await(s.t, s.Addr+" serves", func() bool { return s.Mode() != "" })
}

func (s *Server) launch() {
	s.t.Helper()
	s.process = exec.CommandContext(context.Background(), s.command[0], s.command[1:]...) // until it is killed
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		s.t.Fatalf("starting %s: %v", s.command[0], err)
	}
}

// Kill ends the server as a crash does.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

// Stop ends the server in good order, as an operator would.
func (s *Server) Stop() { s.end(syscall.SIGTERM) }

func (s *Server) end(sig syscall.Signal) {
	if s.process == nil {
		return
	}
	s.signal(sig)
	s.Resume()           // a paused process is ended too
	_ = s.process.Wait() // it was ended by a signal: that is the error
	s.process = nil
}

// Pause stops the process from running (SIGSTOP): it keeps its connections and answers nothing
// until Resume.
func (s *Server) Pause() {
	s.signal(syscall.SIGSTOP)
	s.paused = true
	// The signal reaches one thread after the other.
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(s.process.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		s.t.Errorf("pausing %s: %v, status %v", s.command[0], err, status)
	}
}

// Resume lets a paused process run on. It does nothing if the process was not paused.
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
	if !s.t.Failed() {
		return
	}
	if log, err := os.ReadFile(filepath.Join(s.dir, "log")); err == nil {
		const kept = 2000
		s.t.Logf("the log of the ZooKeeper on %s ends with\n%s", s.Addr, log[max(0, len(log)-kept):])
	}
}

// Ask sends one of the four-letter commands. The answer is empty if the server does not answer.
func (s *Server) Ask(command string) string {
	return ask(context.WithoutCancel(s.t.Context()), s.Addr, command)
}

func ask(ctx context.Context, addr, command string) string {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := fmt.Fprint(conn, command); err != nil {
		return ""
	}
	var answer bytes.Buffer
	_, _ = io.Copy(&answer, conn)
	return answer.String()
}

// Mode returns what the server is: standalone, leader or follower, or "" if it does not serve.
func (s *Server) Mode() string { return modeOf(s.Ask("srvr")) }

func modeOf(answer string) string {
	for line := range strings.Lines(answer) {
		if mode, ok := strings.CutPrefix(line, "Mode: "); ok {
			return strings.TrimSpace(mode)
		}
	}
	return ""
}

// Count returns one of the numbers that the server counts, such as zk_watch_count.
func (s *Server) Count(name string) int {
	s.t.Helper()
	for line := range strings.Lines(s.Ask("mntr")) {
		if value, ok := strings.CutPrefix(line, name+"\t"); ok {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil {
				s.t.Fatalf("%s: %q is no number", name, value)
			}
			return n
		}
	}
	s.t.Fatalf("%s: the server does not count %s", s.Addr, name)
	return 0
}

// Forget removes what a stopped server has kept.
func (s *Server) Forget() {
	s.t.Helper()
	if err := os.RemoveAll(filepath.Join(s.dir, "version-2")); err != nil {
		s.t.Fatal(err)
	}
}
