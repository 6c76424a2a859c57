//go:build unix

package lease_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// stopVariable has this program hold a lock and say what it believes, instead of running its tests.
const stopVariable = "PATHLOCK_TEST_STOPPED"

// A process that was stopped past its lease does not believe in it for a moment, also where it asks
// before any of its timers has fired.
func TestAStoppedHolderBelievesNothing(t *testing.T) {
	const lease = time.Second
	if os.Getenv(stopVariable) != "" {
		holdUntilLost(t, lease)
		return
	}
	for range 2 {
		child := exec.CommandContext(t.Context(), os.Args[0],
			"-test.run=^TestAStoppedHolderBelievesNothing$", "-test.timeout=30s")
		child.Env = append(os.Environ(), stopVariable+"=1")
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		said := bufio.NewScanner(out)
		expect := func(want string) {
			t.Helper()
			if !said.Scan() || said.Text() != want {
				t.Fatalf("the process says %q, want %q (%v)", said.Text(), want, said.Err())
			}
		}
		expect("held")
		signal := func(s syscall.Signal) {
			t.Helper()
			if err := child.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
		}
		signal(syscall.SIGSTOP)
		time.Sleep(2 * lease)
		signal(syscall.SIGCONT)
		expect("lost")
		for said.Scan() { // the test's own PASS
			continue
		}
		if err := child.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// holdUntilLost holds a lock, watches the clock for the time when the process was stopped, and says
// what it believes then.
func holdUntilLost(t *testing.T, lease time.Duration) {
	l := pathlock.New(memstore.New(), pathlock.WithLease(lease))
	lock, err := l.Mutex("stopped").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx := lock.Context()
	last := time.Now()
	if ctx.Err() == nil {
		fmt.Println("held")
	}
	for now := last; now.Sub(last) <= lease; now = time.Now() {
		last = now
	}
	if err := ctx.Err(); err == nil {
		fmt.Println("still held")
	} else if cause := context.Cause(ctx); !errors.Is(cause, pathlock.ErrLost) {
		fmt.Println(strings.ReplaceAll(cause.Error(), "\n", " "))
	} else {
		fmt.Println("lost")
	}
	_ = lock.Release(t.Context())
}
