//go:build unix

package topology

import (
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/internal/testredis"
)

// TestStoppedWaiter: a process that is stopped while it waits, is granted the lock, and goes on
// when its lease has ended and somebody else holds, does not believe the message about the first
// grant, which has been there for it all the time. It waits for its turn.
func TestStoppedWaiter(t *testing.T) {
	const waiters = 6 // whether the message or the timer comes first is chance
	d := single(t, testredis.Redis)
	for range waiters {
		t.Run("waiter", func(t *testing.T) {
			t.Parallel()
			store, tree := d.store(t), newTree(t)
			first := ask(tree, x("/a"))
			take(t, store, first)
			req := ask(tree, x("/a"))
			req.Lease, req.Wait = lease, long
			process, lines := talkingChild(t, d, req)
			expect(t, lines, "waiting")

			stop(t, process)
			release(t, store, first)
			next := queue(t, store, ask(tree, x("/a")))
			fence := next.granted(lease + slack).Fence
			if err := process.Process.Signal(syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(patience); ; {
				snapshot, err := store.Snapshot(t.Context(), tree)
				if err != nil {
					t.Fatal(err)
				}
				if len(snapshot.Waiters) > 0 {
					break
				}
				if time.Now().After(deadline) {
					kill(t, process)
					lines.Scan()
					t.Fatalf("the process does not ask again, and says %q; held by %+v", lines.Text(), snapshot.Holders)
				}
			}
			release(t, store, next.req)
			expect(t, lines, "granted")
			lines.Scan()
			if got, err := strconv.ParseUint(lines.Text(), 10, 64); err != nil || got <= fence {
				t.Errorf("the process has the fence %q, which is not after %d, that of who held when it went on", lines.Text(), fence)
			}
		})
	}
}

// stop stops a process, and returns when none of its threads runs any more.
func stop(t *testing.T, process *exec.Cmd) {
	t.Helper()
	if err := process.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(process.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the process has not stopped: %v, %v", status, err)
	}
}
