package etcdstore

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testchild"
)

// The variables that make this test binary a process that takes a lock: see beChild.
const (
	childAddr  = "ETCDSTORE_TEST_ADDR"
	childTree  = "ETCDSTORE_TEST_TREE"
	childLease = "ETCDSTORE_TEST_LEASE"
)

// beChild takes X on /a by a locker, which renews it, and says what becomes of it.
func beChild(addr string) error {
	store, err := Open("etcd://" + addr)
	if err != nil {
		return err
	}
	lease, err := time.ParseDuration(os.Getenv(childLease))
	if err != nil {
		return err
	}
	tree, err := pathlock.NewTree("etcdstore", os.Getenv(childTree))
	if err != nil {
		return err
	}
	p, err := pathlock.ParsePath("/a")
	if err != nil {
		return err
	}
	locker := pathlock.New(store, pathlock.WithLease(lease), pathlock.WithObserver(announcer{}))
	lock, err := locker.Acquire(context.Background(), pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(p)}, Wait: time.Hour})
	if err != nil {
		return err
	}
	fmt.Println("granted", lock.Fence())
	<-lock.Context().Done()
	fmt.Println("lost", context.Cause(lock.Context()))
	return nil
}

// announcer says that the child has begun to wait.
type announcer struct{ pathlock.NopObserver }

func (announcer) Waiting(context.Context, pathlock.Event) { fmt.Println("waiting") }

// startChild starts a process that takes a lock.
func startChild(t testing.TB, addr string, tree pathlock.Tree) *testchild.Process {
	t.Helper()
	return testchild.Start(t, childAddr+"="+addr, childTree+"="+tree.ID(), childLease+"="+mortalLease.String())
}

// The lease of processes that die, and how much later than that others may be let in.
const (
	mortalLease = 2 * time.Second
	lateness    = 5 * time.Second
)

func requireWithin(t testing.TB, what string, took, want time.Duration) {
	t.Helper()
	t.Logf("%s after %v", what, took)
	if took > want {
		t.Errorf("%s after %v, want at most %v", what, took, want)
	}
}

func TestKilledHolder(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	store, tree := newStore(t, client), newTree(t)
	holder := startChild(t, server.Addr, tree)
	holder.Says("granted")
	req := request(t, tree, "next", time.Minute, time.Minute)
	next := queue(t, store, req)
	holder.Kill()
	died := time.Now()
	requireWithin(t, "the next is let in", granted(t, next).at.Sub(died), mortalLease+lateness)
	release(t, store, req)
	requireNoKeys(t, client)
}

func TestKilledHolderWithoutWaiters(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	tree := newTree(t)
	holder := startChild(t, server.Addr, tree)
	holder.Says("granted")
	holder.Kill()
	requireNothing(t, client) // nobody looks at the tree: it is etcd that ends everything
}

func TestKilledWaiter(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	store, tree := newStore(t, client), newTree(t)
	first := request(t, tree, "first", time.Minute, 0)
	acquire(t, store, first)
	waiter := startChild(t, server.Addr, tree)
	waiter.Says("waiting")
	req := request(t, tree, "next", time.Minute, time.Minute)
	next := queue(t, store, req)
	waiter.Kill()
	died := time.Now()
	release(t, store, first)
	requireWithin(t, "the next is let in", granted(t, next).at.Sub(died), mortalLease+lateness)
	release(t, store, req)
	requireNoKeys(t, client)
}

func TestStoppedPastItsLease(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	store, tree := newStore(t, client), newTree(t)
	holder := startChild(t, server.Addr, tree)
	holder.Says("granted")
	req := request(t, tree, "next", time.Minute, time.Minute)
	next := queue(t, store, req)
	holder.Signal(syscall.SIGSTOP)
	stopped := time.Now()
	requireWithin(t, "the next is let in", granted(t, next).at.Sub(stopped), mortalLease+lateness)
	holder.Signal(syscall.SIGCONT)
	holder.Says("lost")
	// Whatever the process sent when it went on, it has brought nothing back to life.
	snapshot, err := store.Snapshot(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	if len(snapshot.Holders) != 1 || snapshot.Holders[0].Owner != "next" || len(snapshot.Waiters) != 0 {
		t.Errorf("the tree has %+v, want next as the only holder", snapshot)
	}
	release(t, store, req)
	requireNoKeys(t, client)
}

func TestStoppedWaiter(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	store, tree := newStore(t, client), newTree(t)
	first := request(t, tree, "first", time.Minute, 0)
	acquire(t, store, first)
	waiter := startChild(t, server.Addr, tree)
	waiter.Says("waiting")
	waiter.Signal(syscall.SIGSTOP)
	release(t, store, first) // hands over to the one who is stopped
	req := request(t, tree, "next", time.Minute, time.Minute)
	acquire(t, store, req)
	release(t, store, req)
	waiter.Signal(syscall.SIGCONT)
	waiter.Says("granted") // it asks again, and its turn comes
}

// etcd's shortest lease is two seconds. A waiter sees earlier that a process has died.
func TestShortLeaseOfADeadProcess(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	survivor := newStore(t, client)
	const lease = 500 * time.Millisecond
	fastest := time.Hour
	for range 10 { // on a busy machine, not every one need be in time
		tree, line := newTree(t), newLine(t, server.Addr)
		victim := newStore(t, connect(t, line.Addr()))
		acquire(t, victim, request(t, tree, "victim", lease, 0))
		line.cut()
		died := time.Now()
		acquire(t, survivor, request(t, tree, "next", time.Minute, time.Minute))
		if fastest = min(fastest, time.Since(died)); fastest < 3*lease {
			return
		}
	}
	t.Errorf("the next is let in after %v, want at most %v", fastest, 3*lease)
}
