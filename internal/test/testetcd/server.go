package testetcd

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testchild"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// Server is one member.
type Server struct {
	*testchild.Program
	// Addr is where it listens for clients, host:port.
	Addr string

	t       testing.TB
	metrics string // where it tells of itself
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
	peers, all := make([]string, n), make([]string, n)
	for i := range peers {
		peers[i] = "http://" + testnet.FreeAddr(t)
		all[i] = "m" + strconv.Itoa(i) + "=" + peers[i]
	}
	initial := strings.Join(all, ",")
	members := make(Cluster, n)
	for i, peer := range peers {
		m := &Server{Addr: testnet.FreeAddr(t), t: t, metrics: "http://" + testnet.FreeAddr(t)}
		client, dir := "http://"+m.Addr, t.TempDir()
		m.Program = testchild.NewProgram(t, dir, append([]string{
			executable(t), "--name", "m" + strconv.Itoa(i), "--data-dir", dir + "/data", "--log-level", "info", "--unsafe-no-fsync",
			"--listen-client-urls", client, "--advertise-client-urls", client, "--listen-metrics-urls", m.metrics,
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
			"--initial-cluster", initial, "--initial-cluster-token", initial,
		}, args...)...)
		members[i] = m
	}
	members.Start()
	return members
}

// Start starts all members that do not run, and returns when they answer.
func (c Cluster) Start() {
	for _, m := range c {
		if !m.Runs() {
			m.Program.Start()
		}
	}
	for _, m := range c {
		m.await()
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

// Start starts a member that was killed, on its old address and with its data, and returns when it
// answers.
func (s *Server) Start() {
	s.Program.Start()
	s.await()
}

// await returns when the member answers, and knows a leader.
func (s *Server) await() {
	s.t.Helper()
	testserver.Await(s.t, "etcd on "+s.Addr+" answers", func() bool { return strings.Contains(s.get("/health"), "true") })
}

// get asks for a page, and returns "" where there is no answer.
func (s *Server) get(page string) string {
	req, err := http.NewRequestWithContext(context.WithoutCancel(s.t.Context()), http.MethodGet, s.metrics+page, http.NoBody)
	testerr.Must(s.t, err)
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return ""
	}
	defer func() { _ = response.Body.Close() }()
	text, _ := io.ReadAll(response.Body) // what is missing is not found
	return string(text)
}

// Count returns the sum of the values of one of the server's metrics that have a label.
func (s *Server) Count(metric, label string) (sum int) {
	s.t.Helper()
	for lines := bufio.NewScanner(strings.NewReader(s.get("/metrics"))); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if series, _, _ := strings.Cut(name, "{"); series != metric || !strings.Contains(name, label) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		testerr.Must(s.t, err)
		sum += int(n)
	}
	return sum
}
