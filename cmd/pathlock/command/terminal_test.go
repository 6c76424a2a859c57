//go:build linux

package command_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// On a terminal, a command reads from it, gets its Ctrl-C, ignores Ctrl-Z, and goes on where it has
// stopped itself.
func TestLock_terminal(t *testing.T) {
	url, _ := table(t, sound)
	master, slave := terminal(t)
	cmd := program(t, "lock", "--locks", url, "n", "--", "sh", "-c", `trap "exit 9" INT; echo ask; read x; echo "got $x"; read y; echo "got $y"; kill -STOP $$; echo "goes on"; while :; do sleep 1; done`)
	converse(t, cmd, master, slave, []line{{"ask", "hello\n"}, {"got hello", "\x1aagain\n"}, {"got again", ""}, {"goes on", "\x03"}})
	if code := cmd.ProcessState.ExitCode(); code != 9 {
		t.Errorf("the exit code is %d, want 9", code)
	}
}

// A pager behind a pipe gets the terminal when it reads from it, and so does the command
// afterwards. Nothing stops pathlock meanwhile: the lease would end, and the command would run on.
func TestLock_pager(t *testing.T) {
	url, _ := table(t, sound)
	master, slave := terminal(t)
	dir := t.TempDir()
	testerr.Must(t, os.Symlink(must(os.Executable()), dir+"/pathlock"))
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `set -m; "$0" lock --locks "$1" n -- sh -c "$2" | sh -c "$3"`, dir+"/pathlock", url,
		`echo go; until [ -e `+dir+`/paged ]; do sleep 0.01; done; read x; echo "command has $x" >/dev/tty; while :; do sleep 1; done`,
		`read go; read y </dev/tty; echo "pager has $y" >/dev/tty; : >`+dir+`/paged; cat`)
	slow := time.AfterFunc(20*time.Second, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer slow.Stop()
	converse(t, cmd, master, slave, []line{{"", "page\n"}, {"pager has page", "more\n"}, {"command has more", "\x03"}})
}

// line is one that a program says, and what somebody types then.
type line struct{ says, types string }

// converse runs a program on a terminal to its end.
func converse(t *testing.T, cmd *exec.Cmd, master, slave *os.File, steps []line) {
	t.Helper()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	testerr.Must(t, cmd.Start())
	_ = slave.Close()
	lines := bufio.NewScanner(master)
	for _, step := range steps {
		for step.says != "" && lines.Scan() && !strings.Contains(lines.Text(), step.says) {
		}
		if lines.Err() != nil {
			t.Fatalf("nothing says %q: %v", step.says, lines.Err())
		}
		testerr.Must(t, testerr.Of(io.WriteString(master, step.types)))
	}
	for lines.Scan() {
	}
	_ = cmd.Wait()
}

// terminal returns both ends of a terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master = must(os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0))
	t.Cleanup(func() { _ = master.Close() })
	fd := int(master.Fd())
	testerr.Must(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	return master, must(os.OpenFile(fmt.Sprint("/dev/pts/", must(unix.IoctlGetInt(fd, unix.TIOCGPTN))), os.O_RDWR|syscall.O_NOCTTY, 0))
}
