package testredis

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testchild"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// MasterName is what the sentinels call the primary that they watch.
const MasterName = "locks"

// Sentinel is a primary with two replicas, watched by three sentinels.
type Sentinel struct {
	Nodes     []*Server
	Sentinels []*Server

	t testing.TB
}

// StartSentinel starts the servers and returns when the sentinels know the replicas and each other.
// A primary that does not answer is held to be down after a second and a half.
func StartSentinel(t testing.TB, program Program) *Sentinel {
	t.Helper()
	nodes := StartReplicated(t, program, 2)
	s := &Sentinel{Nodes: append([]*Server{nodes.Primary}, nodes.Replicas...), t: t}
	for range 3 {
		s.Sentinels = append(s.Sentinels, WatchPrimary(t, program, nodes.Primary, 0))
	}
	for _, sentinel := range s.Sentinels {
		testserver.Await(t, "the sentinels know everybody", func() bool {
			about := sentinel.about()
			return about["num-slaves"] == "2" && about["num-other-sentinels"] == "2" && about["flags"] == "master"
		})
		// A replica that says that it is a primary is turned back when nobody has told of a
		// failover for four of these periods, and the sentinel that leads the failover looks every
		// second whether the replica has become one.
		sentinel.Do("SENTINEL", "DEBUG", "publish-period", 600)
	}
	return s
}

// WatchPrimary starts one sentinel that watches a primary, which it knows from the failover of that
// epoch. Further lines are for its configuration.
func WatchPrimary(t testing.TB, program Program, primary *Server, epoch int, lines ...string) *Server {
	t.Helper()
	dir := t.TempDir()
	sentinel := &Server{Addr: testnet.FreeAddr(t), t: t}
	config := []string{
		"port " + sentinel.port(),
		"bind 127.0.0.1",
		"dir " + dir,
		"sentinel monitor " + MasterName + " " + primary.host() + " " + primary.port() + " 2",
		"sentinel down-after-milliseconds " + MasterName + " 1500",
		"sentinel failover-timeout " + MasterName + " 4000",
		"sentinel config-epoch " + MasterName + " " + strconv.Itoa(epoch),
	}
	file := filepath.Join(dir, "sentinel.conf")
	testerr.Must(t, os.WriteFile(file, []byte(strings.Join(append(config, lines...), "\n")+"\n"), 0o600))
	sentinel.Program = testchild.NewProgram(t, dir, lookup(t, program), file, "--sentinel")
	sentinel.Start()
	// They tell each other of themselves, and ask the servers, more often than every two and ten
	// seconds. In a failover they ask every second, and choose no replica that has not answered for
	// three of these periods. One that a busy machine has kept waiting for two seconds would fail
	// nobody over for half a minute (TILT).
	sentinel.Do("SENTINEL", "DEBUG", "publish-period", 100, "info-period", 1000, "tilt-period", 1000)
	return sentinel
}

// about returns what a sentinel knows of the primary.
func (s *Server) about() map[string]string {
	s.t.Helper()
	reply := s.Do("SENTINEL", "MASTER", MasterName)
	fields, ok := reply.(map[any]any)
	if !ok {
		s.t.Fatalf("SENTINEL MASTER: the reply is %T", reply)
	}
	about := make(map[string]string)
	for k, v := range fields {
		key, _ := k.(string)
		about[key], _ = v.(string)
	}
	return about
}

// Primary returns the node that all sentinels hold to be the primary, and that holds itself to be
// it.
func (s *Sentinel) Primary() *Server {
	s.t.Helper()
	var primary *Server
	testserver.Await(s.t, "the sentinels agree on a primary", func() bool {
		addr := ""
		for _, sentinel := range s.Sentinels {
			about := sentinel.about()
			at := about["ip"] + ":" + about["port"]
			if addr != "" && at != addr {
				return false
			}
			addr = at
		}
		i := slices.IndexFunc(s.Nodes, func(n *Server) bool { return n.Addr == addr })
		if i < 0 || !s.Nodes[i].Runs() || s.Nodes[i].Info("replication", "role") != "master" {
			return false
		}
		primary = s.Nodes[i]
		return true
	})
	return primary
}

// Replicas returns the nodes that are not the primary.
func (s *Sentinel) Replicas() []*Server {
	s.t.Helper()
	primary := s.Primary()
	return slices.DeleteFunc(slices.Clone(s.Nodes), func(n *Server) bool { return n == primary })
}

// Failover has the sentinels make a replica the primary, as an operator would, and returns when
// they have.
func (s *Sentinel) Failover() {
	s.t.Helper()
	old := s.Primary()
	testserver.Await(s.t, "a sentinel begins the failover", func() bool {
		_, err := s.Sentinels[0].Try("SENTINEL", "FAILOVER", MasterName)
		return err == nil // NOGOODSLAVE and INPROG pass
	})
	s.AwaitFailover(old)
}

// AwaitFailover returns when another primary has replaced an old one.
func (s *Sentinel) AwaitFailover(old *Server) {
	s.t.Helper()
	testserver.Await(s.t, "there is another primary", func() bool { return s.Primary() != old })
}
