package testredis

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// slots is how many slots a cluster has.
const slots = 16384

// Cluster is a cluster of three primaries with a replica each.
type Cluster struct {
	// Nodes are the three first primaries and then their replicas, in the same order.
	Nodes []*Server

	t testing.TB
}

// StartCluster starts the servers and returns when each of them knows all slots and all nodes. A
// node that does not answer is held to be down after one second. Further arguments are as on each
// server's command line.
func StartCluster(t testing.TB, program Program, args ...string) *Cluster {
	t.Helper()
	const primaries = 3
	c := &Cluster{t: t}
	for range 2 * primaries {
		bus := testnet.FreePort(t)
		s := newServer(t, program, append([]string{"--cluster-enabled", "yes", "--cluster-port", bus,
			"--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "1000", "--cluster-replica-validity-factor", "0",
			"--cluster-require-full-coverage", "no", "--repl-ping-replica-period", "1"}, args...)...)
		s.bus = bus
		s.Start()
		c.Nodes = append(c.Nodes, s)
	}
	for i := range primaries {
		c.Nodes[i].Do("CLUSTER", "SET-CONFIG-EPOCH", i+1) // only a node that knows no others takes it
		c.Nodes[i].Do("CLUSTER", "ADDSLOTSRANGE", i*slots/primaries, (i+1)*slots/primaries-1)
	}
	first := c.Nodes[0]
	for _, s := range c.Nodes[1:] {
		s.Do("CLUSTER", "MEET", first.host(), first.port(), first.bus)
	}
	c.await("every node knows every node", func(nodes []node) bool {
		return len(nodes) == len(c.Nodes) && !slices.ContainsFunc(nodes, func(n node) bool { return n.is("handshake") })
	})
	for i := range primaries {
		c.Nodes[primaries+i].Do("CLUSTER", "REPLICATE", c.Nodes[i].id())
	}
	c.await("every node knows whose replica each is", func(nodes []node) bool {
		return len(slices.DeleteFunc(nodes, func(n node) bool { return !n.is("slave") })) == primaries
	})
	for i, s := range c.Nodes {
		if i >= primaries {
			s.awaitSync()
		}
		testserver.Await(t, s.Addr+" finds the cluster complete", func() bool {
			return strings.Contains(s.Text("CLUSTER", "INFO"), "cluster_state:ok")
		})
	}
	return c
}

// node is a line of CLUSTER NODES.
type node struct {
	id, addr string
	flags    []string
	primary  string // the id of the primary of a replica
	epoch    int
	slots    [][2]int
}

func (n node) is(flag string) bool { return slices.Contains(n.flags, flag) }

func (n node) has(slot int) bool {
	return slices.ContainsFunc(n.slots, func(r [2]int) bool { return r[0] <= slot && slot <= r[1] })
}

// nodes returns the cluster as a server sees it.
func (s *Server) nodes() []node {
	s.t.Helper()
	var all []node
	for line := range strings.Lines(s.Text("CLUSTER", "NODES")) {
		f := strings.Fields(line)
		addr, _, _ := strings.Cut(f[1], "@")
		n := node{id: f[0], addr: addr, flags: strings.Split(f[2], ","), primary: f[3]}
		n.epoch, _ = strconv.Atoi(f[6])
		for _, r := range f[8:] {
			if strings.HasPrefix(r, "[") {
				continue // a slot on its way
			}
			from, to, _ := strings.Cut(r, "-")
			if to == "" {
				to = from
			}
			first, _ := strconv.Atoi(from)
			last, _ := strconv.Atoi(to)
			n.slots = append(n.slots, [2]int{first, last})
		}
		all = append(all, n)
	}
	return all
}

func (s *Server) myself() node {
	s.t.Helper()
	all := s.nodes()
	return all[slices.IndexFunc(all, func(n node) bool { return n.is("myself") })]
}

func (s *Server) id() string { s.t.Helper(); return s.Text("CLUSTER", "MYID") }

// await returns when a condition holds as every running node sees the cluster.
func (c *Cluster) await(what string, holds func([]node) bool) {
	c.t.Helper()
	testserver.Await(c.t, what, func() bool {
		return !slices.ContainsFunc(c.running(), func(s *Server) bool { return !holds(s.nodes()) })
	})
}

// slot returns the slot of a key.
func (c *Cluster) slot(key string) int {
	c.t.Helper()
	slot, _ := c.running()[0].Do("CLUSTER", "KEYSLOT", key).(int64)
	return int(slot)
}

// running returns the nodes that can answer.
func (c *Cluster) running() []*Server {
	return slices.DeleteFunc(slices.Clone(c.Nodes), func(s *Server) bool { return !s.Runs() })
}

// Primary returns the node that serves a key, by the node's own account; of several that say so,
// that of the latest election.
func (c *Cluster) Primary(key string) *Server {
	c.t.Helper()
	slot := c.slot(key)
	var primary *Server
	epoch := -1
	for _, s := range c.running() {
		if me := s.myself(); me.is("master") && me.has(slot) && me.epoch > epoch {
			primary, epoch = s, me.epoch
		}
	}
	return primary
}

// Replica returns the replica of the node that serves a key.
func (c *Cluster) Replica(key string) *Server {
	c.t.Helper()
	id := c.Primary(key).id()
	for _, s := range c.running() {
		if s.myself().primary == id {
			return s
		}
	}
	c.t.Fatalf("the primary of %s has no replica", key)
	return nil
}

// Other returns a primary that does not serve a key.
func (c *Cluster) Other(key string) *Server {
	c.t.Helper()
	slot := c.slot(key)
	for _, s := range c.running() {
		if me := s.myself(); me.is("master") && len(me.slots) > 0 && !me.has(slot) {
			return s
		}
	}
	c.t.Fatal("there is no other primary")
	return nil
}

// Failover has the replica of the node that serves a key take over in good order, and returns when
// it has.
func (c *Cluster) Failover(key string) {
	c.t.Helper()
	old, replica := c.Primary(key), c.Replica(key)
	replica.Do("CLUSTER", "FAILOVER")
	c.AwaitFailover(key, old)
}

// AwaitFailover returns when another node serves a key instead of an old one, and all running nodes
// know it.
func (c *Cluster) AwaitFailover(key string, old *Server) {
	c.t.Helper()
	slot := c.slot(key)
	var primary *Server
	testserver.Await(c.t, "another node serves "+key, func() bool {
		primary = c.Primary(key)
		return primary != nil && primary != old
	})
	c.await("every node knows who serves "+key, func(nodes []node) bool {
		return slices.ContainsFunc(nodes, func(n node) bool { return n.addr == primary.Addr && n.has(slot) })
	})
}
