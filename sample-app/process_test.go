package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testchild"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// interrupted sends a process a signal, and expects its end with the exit code of an interruption.
func interrupted(t *testing.T, cmd *exec.Cmd, signal os.Signal) {
	t.Helper()
	testerr.Must(t, cmd.Process.Signal(signal))
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 130 {
		t.Errorf("%q: exit code %d, want 130:\n%s", cmd.Args[1:], got, cmd.Stderr)
	}
}

// started starts a program, and keeps its output.
func started(t *testing.T, cmd *exec.Cmd) *testchild.Output {
	t.Helper()
	out := &testchild.Output{}
	cmd.Stdout, cmd.Stderr = out, out
	testerr.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return out
}

// A command can be stopped while it waits for the database before it begins.
func TestSignal_beforeTheWorkBegins(t *testing.T) {
	for _, command := range [][]string{{"serve", "--addr", "127.0.0.1:0"}, {"import", "--plan", "p", "."}} {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		testerr.Must(t, err)
		defer func() { _ = listener.Close() }()
		cmd := program(t, append(command, "--db", "mysql://u:secret@tcp("+listener.Addr().String()+")/x")...)
		out := started(t, cmd)
		conn, err := listener.Accept()
		testerr.Must(t, err)
		defer func() { _ = conn.Close() }()
		interrupted(t, cmd, syscall.SIGTERM)
		if strings.Contains(out.String(), "secret") {
			t.Errorf("the password is told: %s", out)
		}
	}
}

// An import that is stopped in the middle of its work says so by its exit code, and can be
// completed.
func TestImport_isStopped(t *testing.T) {
	dir, url := t.TempDir(), testdb.SQLite(t)
	for n := range 2000 {
		testerr.Must(t, os.Mkdir(filepath.Join(dir, fmt.Sprint(n)), 0o700))
	}
	db := testdb.Open(t, url)
	suites := func() (n int) {
		_ = db.Pool().QueryRow(`SELECT COUNT(*) FROM suites`).Scan(&n)
		return n
	}
	cmd := program(t, "import", "--db", url, "--plan", "p", dir)
	out := started(t, cmd)
	testserver.Await(t, "some suites are there", func() bool { return suites() > 1 })
	interrupted(t, cmd, syscall.SIGINT)
	if !strings.Contains(out.String(), "run it again to continue") {
		t.Errorf("the import says %s", out)
	}
	if text, err := program(t, "import", "--db", url, "--plan", "p", dir).CombinedOutput(); err != nil || suites() != 2001 {
		t.Errorf("%d suites, %v: %s", suites(), err, text)
	}
}

func TestStorm_isStopped(t *testing.T) {
	cmd := program(t, "storm", "--duration", "10m")
	out := started(t, cmd)
	testserver.Await(t, "the storm has begun", func() bool { return out.String() != "" })
	interrupted(t, cmd, syscall.SIGTERM)
}

// Unprotected trees break, and protected ones do not, on every database. The locks are in the
// database of each row.
func TestStorm(t *testing.T) {
	for _, db := range testdb.All(t) {
		t.Run("on "+db.Name, func(t *testing.T) {
			for broken := false; !broken; { // until an unprotected path is wrong
				broken = strings.Contains(report(t, "", "--db", db.URL, "--duration", "500ms"), "wrong-path: tree")
			}
		})
	}
}

// The instances of a storm get the password of the lock store, which nobody is told.
func TestStorm_withAPassword(t *testing.T) {
	const password = "p/#?@%:s3cret"
	redis := testredis.Start(t, testredis.Redis, "--requirepass", password)
	if text := report(t, password, "--locks", "redis://"+redis.Addr+"/0", "--duration", "500ms"); strings.Contains(text, "s3cret") {
		t.Errorf("the report tells the password: %s", text)
	}
}

// report runs a storm of three instances and returns its report. The program fails if a protected
// tree is corrupted, a request fails on it, or a lock is left.
func report(t *testing.T, password string, flags ...string) string {
	t.Helper()
	cmd := program(t, append([]string{"storm", "--instances", "3", "--clients", "4", "--seed", "1"}, flags...)...)
	if password != "" {
		cmd.Env = append(cmd.Env, "PATHLOCK_LOCKS_PASSWORD="+password)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	return string(out)
}
