package quorum_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testchild"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/store/quorum"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// The variables that make this test binary a process that takes a lock: see beChild.
const (
	childServers = "PATHLOCK_TEST_QUORUM"
	childTree    = "PATHLOCK_TEST_QUORUM_TREE"
)

// The lease of processes that die, and how much later than that others may be let in.
const (
	mortalLease = 2 * time.Second
	lateness    = 5 * time.Second
)

// beChild takes X on /a by a locker, which renews it, and says what becomes of it.
func beChild(servers string) error {
	var members []pathlock.Store
	for _, addr := range strings.Split(servers, ",") {
		store, err := redisstore.Open("redis://" + addr)
		if err != nil {
			return err
		}
		members = append(members, store)
	}
	store, err := quorum.New(members, quorum.WithTimeout(generous))
	if err != nil {
		return err
	}
	tree, err := pathlock.NewTree("quorum", os.Getenv(childTree))
	if err != nil {
		return err
	}
	locker := pathlock.New(store, pathlock.WithLease(mortalLease), pathlock.WithObserver(announcer{}))
	lock, err := locker.Acquire(context.Background(), nodeOf(tree))
	if err != nil {
		return err
	}
	fmt.Println("granted")
	<-lock.Context().Done()
	fmt.Println("lost", context.Cause(lock.Context()))
	return nil
}

// nodeOf returns the request that all processes make.
func nodeOf(tree pathlock.Tree) pathlock.Request {
	return pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))}, Wait: time.Hour}
}

// announcer says that the child has begun to wait.
type announcer struct{ pathlock.NopObserver }

func (announcer) Waiting(context.Context, pathlock.Event) { fmt.Println("waiting") }

// startChild starts a process that takes a lock.
func startChild(t testing.TB, servers []*testredis.Server, tree pathlock.Tree) *testchild.Process {
	t.Helper()
	var addrs []string
	for _, s := range servers {
		addrs = append(addrs, s.Addr)
	}
	return testchild.Start(t, childServers+"="+strings.Join(addrs, ","), childTree+"="+tree.ID())
}

// site is three servers, and a process here that uses them.
type site struct {
	*testing.T
	servers []*testredis.Server
	store   *quorum.Store
	locker  *pathlock.Locker
	tree    pathlock.Tree
}

func newSite(t *testing.T) *site {
	t.Helper()
	tree, err := pathlock.NewTree("quorum", rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	servers := startRedis(t)
	store := newQuorum(t, redisMembers(t, servers), quorum.WithTimeout(generous))
	return &site{t, servers, store, pathlock.New(store, pathlock.WithLease(time.Minute)), tree}
}

// takes requires that this process is let in no later than a lease after a moment, and releases.
func (s *site) takes(since func() time.Time) {
	s.Helper()
	lock, err := s.locker.Acquire(s.Context(), nodeOf(s.tree))
	if err != nil {
		s.Fatal(err)
	}
	if took := time.Since(since()); took > mortalLease+lateness {
		s.Errorf("let in %v after the other process died, want at most one lease of %v", took, mortalLease)
	}
	if err := lock.Release(s.Context()); err != nil {
		s.Error(err)
	}
	if seen, err := s.store.Snapshot(s.Context(), s.tree); err != nil || len(seen.Holders)+len(seen.Waiters) > 0 {
		s.Errorf("left behind: %+v, %v", seen, err)
	}
}

func TestKilledHolder(t *testing.T) {
	s := newSite(t)
	holder := startChild(t, s.servers, s.tree)
	holder.Says("granted")
	holder.Kill()
	died := time.Now()
	s.takes(func() time.Time { return died })
}

func TestKilledWaiter(t *testing.T) {
	s := newSite(t)
	mine, err := s.locker.Acquire(t.Context(), nodeOf(s.tree))
	if err != nil {
		t.Fatal(err)
	}
	waiter := startChild(t, s.servers, s.tree)
	waiter.Says("waiting")
	waiter.Kill()
	died := time.Now()
	if err := mine.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.takes(func() time.Time { return died })
}

// A process that was stopped past its lease finds its lock lost when it runs on.
func TestStoppedHolder(t *testing.T) {
	s := newSite(t)
	holder := startChild(t, s.servers, s.tree)
	holder.Says("granted")
	holder.Signal(syscall.SIGSTOP)
	stopped := time.Now()
	s.takes(func() time.Time { return stopped })
	holder.Signal(syscall.SIGCONT)
	holder.Says("lost")
}
