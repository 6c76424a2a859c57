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
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/test/testchild"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
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
	*testchild.Program
	// Addr is where it listens to clients, host:port.
	Addr string

	t   testing.TB
	dir string
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
	addr := testnet.FreeAddr(t)
	host, port, err := net.SplitHostPort(addr)
	testerr.Must(t, err)
	s := &Server{Addr: addr, t: t, dir: t.TempDir()}
	lines := append([]string{
		"tickTime=" + strconv.FormatInt(tick.Milliseconds(), 10),
		"maxSessionTimeout=600000",
		"maxClientCnxns=0",
		"dataDir=" + s.dir,
		"clientPort=" + port,
		"clientPortAddress=" + host,
		"admin.enableServer=false",
		"4lw.commands.whitelist=*",
		"initLimit=20",
		"syncLimit=6",
	}, config...)
	file := filepath.Join(s.dir, "zoo.cfg")
	testerr.Must(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	s.Program = testchild.NewProgram(t, s.dir,
		"java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
		"-Dzookeeper.forceSync=no", // what is kept need not outlive the machine
		"-cp", s.dir+":"+jar+":"+codec, class, file)
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

// Start starts a server that was killed, on its old address, and returns when it serves.
func (s *Server) Start() {
	s.t.Helper()
	s.Program.Start()
	testserver.Await(s.t, s.Addr+" serves", func() bool { return s.Mode() != "" })
}

// ask sends one of the four-letter commands. The answer is empty if the server does not answer.
func (s *Server) ask(command string) string {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(context.WithoutCancel(s.t.Context()), "tcp", s.Addr)
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
func (s *Server) Mode() string {
	for line := range strings.Lines(s.ask("srvr")) {
		if mode, ok := strings.CutPrefix(line, "Mode: "); ok {
			return strings.TrimSpace(mode)
		}
	}
	return ""
}

// Count returns one of the numbers that the server counts, such as zk_watch_count.
func (s *Server) Count(name string) int {
	s.t.Helper()
	for line := range strings.Lines(s.ask("mntr")) {
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
	testerr.Must(s.t, os.RemoveAll(filepath.Join(s.dir, "version-2")))
}
