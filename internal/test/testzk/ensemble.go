package testzk

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// Ensemble is three servers.
type Ensemble struct {
	Servers []*Server

	t testing.TB
}

// StartEnsemble starts three servers, and returns when they have a leader and all serve. Further
// lines are for the zoo.cfg of each.
func StartEnsemble(t testing.TB, config ...string) *Ensemble {
	t.Helper()
	const size = 3
	e := &Ensemble{t: t}
	peers := append([]string(nil), config...)
	for i := range size {
		peers = append(peers, fmt.Sprintf("server.%d=127.0.0.1:%s:%s", i+1, testnet.FreePort(t), testnet.FreePort(t)))
	}
	for i := range size {
		s := newServer(t, "org.apache.zookeeper.server.quorum.QuorumPeerMain", peers)
		testerr.Must(t, os.WriteFile(filepath.Join(s.dir, "myid"), []byte(strconv.Itoa(i+1)), 0o600))
		e.Servers = append(e.Servers, s)
	}
	for _, s := range e.Servers {
		s.Program.Start()
	}
	for _, s := range e.Servers {
		testserver.Await(t, s.Addr+" serves", func() bool { return s.Mode() != "" })
	}
	return e
}

// Hosts returns the addresses of all servers, separated by commas.
func (e *Ensemble) Hosts() string {
	hosts := make([]string, len(e.Servers))
	for i, s := range e.Servers {
		hosts[i] = s.Addr
	}
	return strings.Join(hosts, ",")
}

// Leader returns the server that leads.
func (e *Ensemble) Leader() *Server { return e.having("leader") }

// Follower returns a server that follows.
func (e *Ensemble) Follower() *Server { return e.having("follower") }

func (e *Ensemble) having(mode string) *Server {
	e.t.Helper()
	var found *Server
	testserver.Await(e.t, "there is a "+mode, func() bool {
		for _, s := range e.Servers {
			if s.Runs() && s.Mode() == mode {
				found = s
				return true
			}
		}
		return false
	})
	return found
}
