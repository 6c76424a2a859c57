package topology

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// childVariable makes the test program a child that makes one request and then stays until it is
// killed.
const childVariable = "PATHLOCK_TOPOLOGY_CHILD"

// order is what a child is to do.
type order struct {
	URL           string
	Namespace, ID string
	Owner         pathlock.Owner
	Claims        []pathlock.Claim
	Lease, Wait   time.Duration
}

// child carries out an order. It says "waiting", and "granted" and the fence, on its standard
// output.
func child(spec string) {
	err := func() error {
		var o order
		if err := json.Unmarshal([]byte(spec), &o); err != nil {
			return err
		}
		tree, err := pathlock.NewTree(o.Namespace, o.ID)
		if err != nil {
			return err
		}
		store, err := redisstore.Open(o.URL)
		if err != nil {
			return err
		}
		req := pathlock.Acquisition{Tree: tree, Owner: o.Owner, Grant: "child", Claims: o.Claims, Lease: o.Lease, Wait: o.Wait}
		req.Waiting = func() { fmt.Println("waiting") }
		grant, err := store.Acquire(context.Background(), req)
		if err != nil {
			return err
		}
		fmt.Println("granted")
		fmt.Println(grant.Fence)
		_, err = io.Copy(io.Discard, os.Stdin) // nothing comes
		return err
	}()
	fmt.Println("ended:", err)
	os.Exit(1)
}

// expect requires that the next that a child says is the given line.
func expect(t *testing.T, lines *bufio.Scanner, says string) {
	t.Helper()
	if !lines.Scan() || lines.Text() != says {
		t.Fatalf("the child says %q, want %q", lines.Text(), says)
	}
}

// talkingChild starts a process that makes a request, and returns what it says, line by line.
func talkingChild(t *testing.T, d *deployment, req pathlock.Acquisition) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	spec, err := json.Marshal(order{d.url, req.Tree.Namespace(), req.Tree.ID(), req.Owner, req.Claims, req.Lease, req.Wait})
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.CommandContext(context.Background(), program) // until it is killed
	process.Env = append(os.Environ(), childVariable+"="+string(spec))
	stdin, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		kill(t, process)
	})
	return process, bufio.NewScanner(output)
}

// kill ends a child as a crash does.
func kill(t *testing.T, process *exec.Cmd) {
	t.Helper()
	if process.ProcessState != nil {
		return
	}
	if err := process.Process.Kill(); err != nil {
		t.Errorf("killing a child: %v", err)
	}
	_ = process.Wait() // it was killed: that is the error
}

// lease is a lease that ends during a test, and slack what may come on top until the next is let
// in.
const (
	lease = time.Second
	slack = 5 * time.Second
)
