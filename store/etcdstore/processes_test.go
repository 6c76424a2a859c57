package etcdstore

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
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

// child is a process that takes a lock.
type child struct {
	t       testing.TB
	process *exec.Cmd
	lines   *bufio.Scanner
}

func startChild(t testing.TB, addr string, tree pathlock.Tree) *child {
	t.Helper()
	c := &child{t: t, process: exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])}
	c.process.Env = append(os.Environ(), childAddr+"="+addr, childTree+"="+tree.ID(), childLease+"="+mortalLease.String())
	c.process.Stderr = os.Stderr
	output, err := c.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(output)
	if err := c.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	return c
}

// says waits for a line that begins with a text.
func (c *child) says(text string) {
	c.t.Helper()
	for c.lines.Scan() {
		if strings.HasPrefix(c.lines.Text(), text) {
			return
		}
	}
	c.t.Fatalf("the process ended without saying %q", text)
}

func (c *child) signal(sig syscall.Signal) {
	c.t.Helper()
	if err := c.process.Process.Signal(sig); err != nil {
		c.t.Error(err)
	}
}

// kill kills the process as kill -9 does.
func (c *child) kill() {
	if c.process.ProcessState == nil {
		c.signal(syscall.SIGKILL)
		_ = c.process.Wait() // it was killed: that is the error
	}
}

// The lease of processes that die, and how much later than that others may be let in.
const (
	mortalLease = 2 * time.Second
	lateness    = 400 * time.Millisecond
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
	holder.says("granted")
	req := request(t, tree, "next", time.Minute, time.Minute)
	next := queue(t, store, req)
	holder.kill()
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
	holder.says("granted")
	holder.kill()
	requireNothing(t, client) // nobody looks at the tree: it is etcd that ends everything
}

func TestKilledWaiter(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	store, tree := newStore(t, client), newTree(t)
	first := request(t, tree, "first", time.Minute, 0)
	acquire(t, store, first)
	waiter := startChild(t, server.Addr, tree)
	waiter.says("waiting")
	req := request(t, tree, "next", time.Minute, time.Minute)
	next := queue(t, store, req)
	waiter.kill()
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
	holder.says("granted")
	req := request(t, tree, "next", time.Minute, time.Minute)
	next := queue(t, store, req)
	holder.signal(syscall.SIGSTOP)
	stopped := time.Now()
	requireWithin(t, "the next is let in", granted(t, next).at.Sub(stopped), mortalLease+lateness)
	holder.signal(syscall.SIGCONT)
	holder.says("lost")
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
	waiter.says("waiting")
	waiter.signal(syscall.SIGSTOP)
	release(t, store, first) // hands over to the one who is stopped
	req := request(t, tree, "next", time.Minute, time.Minute)
	acquire(t, store, req)
	release(t, store, req)
	waiter.signal(syscall.SIGCONT)
	waiter.says("granted") // it asks again, and its turn comes
}

// etcd's shortest lease is two seconds. A waiter sees earlier that a process has died.
func TestShortLeaseOfADeadProcess(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	survivor, tree := newStore(t, client), newTree(t)
	line := newLine(t, server.Addr)
	victim := newStore(t, connect(t, line.Addr()))
	const lease = 500 * time.Millisecond
	acquire(t, victim, request(t, tree, "victim", lease, 0))
	line.cut()
	died := time.Now()
	acquire(t, survivor, request(t, tree, "next", time.Minute, time.Minute))
	requireWithin(t, "the next is let in", time.Since(died), 3*lease)
}
