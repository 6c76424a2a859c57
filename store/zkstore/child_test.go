package zkstore

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
	"github.com/pathlock-go/pathlock/internal/testzk"
)

// childVariable makes the test binary a program that holds a lock, or waits for one. It has the
// servers, the tree's id and the lease.
const childVariable = "PATHLOCK_TEST_ZK_CHILD"

// runChild is that program. It says on its output what has become of its lock.
func runChild(arguments string) int {
	words := strings.Fields(arguments)
	lease, err := time.ParseDuration(words[2])
	if err != nil {
		panic(err)
	}
	s, err := New([]string{words[0]})
	if err != nil {
		panic(err)
	}
	tree, err := pathlock.NewTree("zkstore", words[1])
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	locker := pathlock.New(s, pathlock.WithLease(lease))
	request := pathlock.Request{Tree: tree, Claims: []pathlock.Claim{x("/n")}, Wait: pathlock.NoWait}
	lock, err := locker.Acquire(ctx, request)
	if err != nil {
		fmt.Println("waits")
		request.Wait = long
		if lock, err = locker.Acquire(ctx, request); err != nil {
			panic(err)
		}
	}
	fmt.Println("holds")
	<-lock.Context().Done()
	fmt.Println("lost")
	return 0
}

// childLease is the lease of children.
const childLease = 2 * time.Second

// child is another process.
type child struct {
	t       *testing.T
	process *os.Process
	says    chan string
}

func startChild(t *testing.T, server string, tree pathlock.Tree, lease time.Duration) *child {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0]) //nolint:gosec // this very program
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s", childVariable, server, tree.ID(), lease))
	cmd.Stderr = os.Stderr
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{t: t, process: cmd.Process, says: make(chan string, 10)}
	go func() {
		defer close(c.says)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			c.says <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Kill()
		for range c.says { // to its end
		}
		_ = cmd.Wait()
	})
	return c
}

func (c *child) expect(want string) {
	c.t.Helper()
	select {
	case got := <-c.says:
		if got != want {
			c.t.Fatalf("the child says %q, want %q", got, want)
		}
	case <-time.After(patience):
		c.t.Fatalf("the child does not say %q", want)
	}
}

func (c *child) signal(sig syscall.Signal) {
	c.t.Helper()
	if err := c.process.Signal(sig); err != nil {
		c.t.Fatal(err)
	}
}

func childTree(t *testing.T) pathlock.Tree {
	t.Helper()
	tree, err := pathlock.NewTree("zkstore", newID())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestKilledHolder: the lease of a killed process ends, and its znode goes with the next update.
func TestKilledHolder(t *testing.T) {
	server := testzk.Start(t)
	s, tree := newStore(t, server.Addr), childTree(t)
	c := startChild(t, server.Addr, tree, childLease)
	c.expect("holds")
	w := queue(t, s, ask(tree, x("/n")))
	c.signal(syscall.SIGKILL)
	began := time.Now()
	w.granted()
	if took := time.Since(began); took > childLease+5*time.Second {
		t.Errorf("the lease of %v has ended after %v", childLease, took)
	}
	release(t, s, w.req)
	empty(t, s, tree)
}

// TestKilledWaiter: a killed waiter keeps those behind it no longer than its lease.
func TestKilledWaiter(t *testing.T) {
	server := testzk.Start(t)
	s, tree := newStore(t, server.Addr), childTree(t)
	held := ask(tree, x("/n"))
	take(t, s, held)
	c := startChild(t, server.Addr, tree, childLease)
	c.expect("waits")
	w := queue(t, s, ask(tree, x("/n")))
	c.signal(syscall.SIGKILL)
	began := time.Now()
	release(t, s, held)
	w.granted()
	if took := time.Since(began); took > childLease+5*time.Second {
		t.Errorf("the waiter behind a dead one was let in after %v", took)
	}
	release(t, s, w.req)
	empty(t, s, tree)
}

// TestStopped: a process that is stopped for longer than its lease finds its lock lost when it runs
// on.
func TestStopped(t *testing.T) {
	server := testzk.Start(t)
	s, tree := newStore(t, server.Addr), childTree(t)
	c := startChild(t, server.Addr, tree, childLease)
	c.expect("holds")
	w := queue(t, s, ask(tree, x("/n")))
	c.signal(syscall.SIGSTOP)
	w.granted()
	c.signal(syscall.SIGCONT)
	c.expect("lost")
	holders(t, s, tree, 1)
	release(t, s, w.req)
	c.signal(syscall.SIGKILL)
	empty(t, s, tree)
}
