package ticketstore_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// meddler is a backend that counts its updates, and does to them what a test wants.
type meddler struct {
	*backend
	updates atomic.Int64

	mu sync.Mutex
	// before, where set, is called before each update, which fails with its error. after is called
	// when it has been written.
	before, after hook
	// abandons has the next update abandoned, which land then carries out.
	abandons bool
	land     func() bool
}

// hook is what is done at an update.
type hook func(ctx context.Context) error

// meddle sets what is done before and after each update from now on.
func (m *meddler) meddle(before, after hook) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before, m.after = before, after
}

func (m *meddler) hooks() (before, after hook) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.before, m.after
}

// abandon is an update whose call ends with its context, while the server still has it before
// itself: land carries it out if no other update has come in between, and reports whether.
func (m *meddler) abandon(ctx context.Context, tree pathlock.Tree, change func(ticketstore.State) ticketstore.Changes) error {
	m.server.mu.Lock()
	state := m.state(tree)
	version := m.server.updates[tree]
	m.server.mu.Unlock()
	c := change(state)
	m.mu.Lock()
	m.land = func() bool {
		m.server.mu.Lock()
		defer m.server.mu.Unlock()
		if m.server.updates[tree] != version {
			return false
		}
		m.write(tree, c)
		return true
	}
	m.abandons = false
	m.mu.Unlock()
	<-ctx.Done()
	return ctx.Err()
}

func (m *meddler) Update(ctx context.Context, tree pathlock.Tree, change func(ticketstore.State) ticketstore.Changes) error {
	m.updates.Add(1)
	m.mu.Lock()
	abandons := m.abandons
	m.mu.Unlock()
	if abandons {
		return m.abandon(ctx, tree, change)
	}
	before, after := m.hooks()
	if before != nil {
		if err := before(ctx); err != nil {
			return err
		}
	}
	err := m.backend.Update(ctx, tree, change)
	if err == nil && after != nil {
		err = after(ctx)
	}
	return err
}

// timeout is what a test's store gives its backend, unless the test is about it.
const timeout = 5 * time.Minute

// fixture is a server in a bubble of virtual time, with a tree.
type fixture struct {
	*testing.T
	*server
	tree      pathlock.Tree
	processes []*meddler
}

func inBubble(t *testing.T, test func(s *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tree, err := pathlock.NewTree("test", "plan")
		if err != nil {
			t.Fatal(err)
		}
		test(&fixture{T: t, server: newServer(), tree: tree})
	})
}

// process returns a process of its own, and its store.
func (s *fixture) process() (*meddler, *ticketstore.Store) { return s.patient(timeout) }

// patient is process with a time-out.
func (s *fixture) patient(timeout time.Duration) (*meddler, *ticketstore.Store) {
	m := &meddler{backend: s.backend()}
	store := ticketstore.New("memory", m, timeout)
	s.processes = append(s.processes, m)
	s.Cleanup(func() { _ = store.Close() })
	return m, store
}

// ask returns a request of an owner, whose name is the grant's id too. It waits for an hour.
func (s *fixture) ask(owner, path string) pathlock.Acquisition {
	return pathlock.Acquisition{
		Tree: s.tree, Owner: pathlock.Owner(owner), Grant: pathlock.GrantID(owner), Note: owner,
		Claims: pathlock.Normalize(pathlock.X(pathlock.MustParsePath(path))), Lease: 30 * time.Second, Wait: time.Hour,
	}
}

// takes requires that an owner is granted a node, if it has to wait for it.
func (s *fixture) takes(store *ticketstore.Store, owner, path string) {
	s.Helper()
	if _, err := store.Acquire(s.Context(), s.ask(owner, path)); err != nil {
		s.Error(err)
	}
}

// releases requires that the grant of an owner is given back that takes got.
func (s *fixture) releases(store *ticketstore.Store, owner string) {
	s.Helper()
	if err := store.Release(s.Context(), s.tree, pathlock.Owner(owner), pathlock.GrantID(owner)); err != nil {
		s.Error(err)
	}
}

// begin makes a request in the background, and returns when it has ended or waits.
func (s *fixture) begin(ctx context.Context, store *ticketstore.Store, req pathlock.Acquisition) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := store.Acquire(ctx, req)
		ended <- err
	}()
	synctest.Wait()
	return ended
}

// isEmpty fails the test unless the server keeps nothing.
func (s *fixture) isEmpty() {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for tree, shelf := range s.trees {
		s.Errorf("left in %s: %v", tree, shelf.tickets)
	}
	if len(s.watches) > 0 {
		s.Errorf("%d watches are left", len(s.watches))
	}
}
