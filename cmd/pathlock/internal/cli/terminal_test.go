//go:build linux

package cli_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// On a terminal, a command reads from it, gets its Ctrl-C, ignores Ctrl-Z, and goes on where it has
// stopped itself.
func TestLock_terminal(t *testing.T) {
	url, _ := table(t, sound)
	master := got(os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0))
	defer func() { _ = master.Close() }()
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	slave := got(os.OpenFile(fmt.Sprint("/dev/pts/", got(unix.IoctlGetInt(fd, unix.TIOCGPTN))), os.O_RDWR|syscall.O_NOCTTY, 0))
	cmd := program(t, "lock", "--locks", url, "n", "--", "sh", "-c", `trap "exit 9" INT; echo ask; read x; echo "got $x"; read y; echo "got $y"; kill -STOP $$; echo "goes on"; while :; do sleep 1; done`)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close()
	lines := bufio.NewScanner(master)
	for _, step := range []struct{ says, types string }{{"ask", "hello\n"}, {"got hello", "\x1aagain\n"}, {"got again", ""}, {"goes on", "\x03"}} {
		for lines.Scan() && !strings.Contains(lines.Text(), step.says) {
		}
		if lines.Err() != nil {
			t.Fatalf("nothing says %q: %v", step.says, lines.Err())
		}
		if _, err := io.WriteString(master, step.types); err != nil {
			t.Fatal(err)
		}
	}
	for lines.Scan() {
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 9 {
		t.Errorf("the exit code is %d, want 9", code)
	}
}

// A command that is stopped is ended by a signal to pathlock all the same.
func TestLock_stopped(t *testing.T) {
	url, _ := table(t, sound)
	cmd := program(t, "lock", "--locks", url, "n", "--", "sh", "-c", "echo $$; kill -STOP $$")
	out := got(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	testserver.Await(t, "the command is stopped", func() bool {
		stat := string(got(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))))
		return strings.Contains(stat, ") T ")
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("the exit code is %d, want 143", code)
	}
}

// got is a value that a test needs.
func got[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
