package quorum_test

import (
	"context"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/quorum"
)

func TestMain(m *testing.M) { testserver.Main(m, 4) }

// generous is a time to answer that no member exceeds on a busy machine.
const generous = testlock.Patience

// memstores returns n new stores.
func memstores(n int) []pathlock.Store {
	stores := make([]pathlock.Store, n)
	for i := range stores {
		stores[i] = memstore.New()
	}
	return stores
}

// newQuorum returns a quorum that is closed at the end of the test.
func newQuorum(t testing.TB, stores []pathlock.Store, opts ...quorum.Option) pathlock.Store {
	t.Helper()
	s, err := quorum.New(stores, opts...)
	testerr.Must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*generous)
		defer cancel()
		testerr.Is(t, "closing the quorum", s.Close(ctx), nil)
	})
	return s
}

// process is one of several processes with the same members, and links of its own to them.
type process struct {
	store pathlock.Store
	links []*link
}

func newProcesses(t *testing.T, n int, stores []pathlock.Store, opts ...quorum.Option) []process {
	t.Helper()
	processes := make([]process, n)
	for i := range processes {
		links, members := links(stores)
		processes[i] = process{newQuorum(t, members, opts...), links}
	}
	t.Cleanup(func() { heal(processes) })
	return processes
}

// heal lets all links of all processes work again.
func heal(processes []process) {
	for _, p := range processes {
		for _, l := range p.links {
			l.set(open)
		}
	}
}

// x claims a path exclusively.
func x(path string) pathlock.Claim { return testlock.X(path) }

// renew renews the lease of a request's owner.
func renew(t testing.TB, s pathlock.Store, req pathlock.Acquisition) ([]pathlock.Owner, error) {
	t.Helper()
	return s.Renew(t.Context(), req.Tree, []pathlock.Lease{{Owner: req.Owner, For: time.Minute}})
}

// holders returns how many grants there are in a tree.
func holders(t testing.TB, s pathlock.Store, tree pathlock.Tree) int {
	t.Helper()
	snap, err := s.Snapshot(t.Context(), tree)
	testerr.Must(t, err)
	return len(snap.Holders)
}
