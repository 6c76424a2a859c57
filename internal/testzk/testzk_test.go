package testzk_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/internal/testzk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSingle(t *testing.T) {
	s := testzk.Start(t)
	if mode := s.Mode(); mode != "standalone" {
		t.Errorf("the mode is %q, want standalone", mode)
	}
	s.Kill()
	if mode := s.Mode(); mode != "" {
		t.Errorf("a killed server says that it is %s", mode)
	}
	s.Start()
	if n := s.Count("zk_ephemerals_count"); n != 0 {
		t.Errorf("a server that nobody used has %d ephemeral znodes", n)
	}
}

func TestEnsemble(t *testing.T) {
	e := testzk.StartEnsemble(t)
	old := e.Leader()
	old.Kill()
	if next := e.Leader(); next == old {
		t.Error("a killed server leads")
	}
	old.Start()
	if mode := old.Mode(); mode != "follower" {
		t.Errorf("the old leader is a %s, want a follower", mode)
	}
}
