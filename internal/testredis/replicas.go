package testredis

import "testing"

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
	Await(s.t, s.Addr+" is in step with its primary", func() bool {
		return s.Info("replication", "master_link_status") == "up"
	})
}

// LoseWrites makes a primary write what no replica gets, from now until it is killed. The replicas are paused, and their
// connections cut: merely pausing them would lose nothing, because it waits for them in the sockets. The test
// resumes those that are to go on.
func LoseWrites(primary *Server, replicas ...*Server) {
	primary.t.Helper()
	for _, replica := range replicas {
		replica.Pause()
	}
	primary.Do("CLIENT", "KILL", "TYPE", "replica")
}

// AwaitReplicated returns when n replicas have everything that the primary has written so far.
func (s *Server) AwaitReplicated(n int) {
	s.t.Helper()
	Await(s.t, "the replicas have caught up", func() bool {
		caughtUp, ok := s.Do("WAIT", n, 100).(int64)
		return ok && caughtUp >= int64(n)
	})
}
