package testredis

import (
	"strconv"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// Replicated is a primary with replicas, with nobody who would fail it over.
type Replicated struct {
	Primary  *Server
	Replicas []*Server
}

// StartReplicated starts a primary with n replicas and returns when they are in step.
func StartReplicated(t testing.TB, program Program, n int) *Replicated {
	t.Helper()
	r := &Replicated{Primary: Start(t, program)}
	for range n {
		r.Replicas = append(r.Replicas, Start(t, program, "--replicaof", r.Primary.host()+" "+r.Primary.port()))
	}
	for _, replica := range r.Replicas {
		replica.awaitSync()
	}
	return r
}

// awaitSync returns when a replica follows its primary.
func (s *Server) awaitSync() {
	s.t.Helper()
	testserver.Await(s.t, s.Addr+" is in step with its primary", func() bool {
		return s.Info("replication", "master_link_status") == "up"
	})
}

// LoseWrites makes a primary write what no replica gets, from now until it is killed. The replicas
// are paused, and their connections cut: merely pausing them would lose nothing, because it waits
// for them in the sockets. The test resumes those that are to go on.
func LoseWrites(primary *Server, replicas ...*Server) {
	primary.t.Helper()
	for _, replica := range replicas {
		replica.Pause()
	}
	primary.Do("CLIENT", "KILL", "TYPE", "replica")
}

// AwaitReplicated returns when replicas have everything that a primary has written so far.
func AwaitReplicated(primary *Server, replicas ...*Server) {
	primary.t.Helper()
	written := primary.offset("master_repl_offset")
	for _, replica := range replicas {
		testserver.Await(replica.t, replica.Addr+" has caught up", func() bool { return replica.offset("slave_repl_offset") >= written })
	}
}

// offset returns a position in the stream of writes, -1 if the server has none.
func (s *Server) offset(field string) int {
	s.t.Helper()
	n, err := strconv.Atoi(s.Info("replication", field))
	if err != nil {
		return -1
	}
	return n
}
