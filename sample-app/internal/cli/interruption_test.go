package cli_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/sample-app/internal/apitest"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// exits waits for the end of a process and compares its exit code.
func exits(t *testing.T, cmd *exec.Cmd, want int) {
	t.Helper()
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != want {
		t.Errorf("%q: exit code %d, want %d:\n%s", cmd.Args[1:], got, want, cmd.Stderr)
	}
}

// started starts a program, and keeps its output.
func started(t *testing.T, cmd *exec.Cmd) *apitest.Output {
	t.Helper()
	out := &apitest.Output{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return out
}

// A command can be stopped while it waits for the database before it begins. For serve, that is a
// success; for import, it is a failure.
func TestASignalBeforeTheWorkBegins(t *testing.T) {
	for _, tt := range []struct {
		command []string
		code    int
	}{
		{[]string{"serve", "--addr", "127.0.0.1:0"}, 0},
		{[]string{"import", "--plan", "p", "."}, 143},
		{[]string{"storm"}, 143},
	} {
		t.Run(tt.command[0], func(t *testing.T) {
			listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = listener.Close() }()
			cmd := program(t, append(tt.command, "--db", "mysql://u:secret@tcp("+listener.Addr().String()+")/x")...)
			out := started(t, cmd)
			conn, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			exits(t, cmd, tt.code)
			if strings.Contains(out.String(), "secret") {
				t.Errorf("the password is told: %s", out)
			}
		})
	}
}

// An import or a storm that is stopped in the middle of its work says so by its exit code, and the
// import can be completed.
func TestASignalInTheMiddleOfTheWork(t *testing.T) {
	for signal, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run("import "+signal.String(), func(t *testing.T) {
			dir, url := t.TempDir(), testdb.SQLite(t)
			for n := range 2000 {
				if err := os.Mkdir(filepath.Join(dir, fmt.Sprint(n)), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			cmd := program(t, "import", "--db", url, "--plan", "p", dir)
			out := started(t, cmd)
			db := testdb.Open(t, url)
			eventually(t, "some suites are there", func() bool {
				var n int
				_ = db.Pool().QueryRow(`SELECT COUNT(*) FROM suites`).Scan(&n)
				return n > 1
			})
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			exits(t, cmd, code)
			if !strings.Contains(out.String(), "run it again to continue") {
				t.Errorf("the import says %s", out)
			}
			// The next import completes it.
			text, err := program(t, "import", "--db", url, "--plan", "p", dir).CombinedOutput()
			var suites int
			if counted := db.Pool().QueryRow(`SELECT COUNT(*) FROM suites`).Scan(&suites); err != nil || counted != nil || suites != 2001 {
				t.Errorf("%d suites, %v, %v: %s", suites, counted, err, text)
			}
		})
		t.Run("storm "+signal.String(), func(t *testing.T) {
			cmd := program(t, "storm", "--duration", "10m")
			out := started(t, cmd)
			eventually(t, "the storm has begun", func() bool { return out.String() != "" })
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			exits(t, cmd, code)
		})
	}
}

// Other users of the machine cannot read the passwords that a storm gives to its instances, and the
// instances reach the lock store with them.
func TestAStormTellsNoPasswordOnCommandLines(t *testing.T) {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip(err)
	}
	redis := testredis.Start(t, testredis.Redis, "--requirepass", "p/#?@%:s3cret")
	cmd := program(t, "storm", "--duration", "500ms", "--instances", "2", "--clients", "2")
	cmd.Env = append(cmd.Env, "PATHLOCK_LOCKS=redis://"+redis.Addr+"/0", "PATHLOCK_LOCKS_PASSWORD=p/#?@%:s3cret")
	out := started(t, cmd)
	seen := map[string]bool{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	for running := true; running; {
		for _, line := range childrenOf(cmd.Process.Pid) {
			seen[line] = true
		}
		select {
		case <-ended:
			running = false
		default:
		}
	}
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	// Two instances in each of three rows.
	if len(seen) < 3 {
		t.Errorf("only the processes %v were seen", seen)
	}
	for line := range seen {
		if strings.Contains(line, "s3cret") || !strings.Contains(line, "serve") {
			t.Errorf("a process has the command line %q", line)
		}
	}
	if strings.Contains(out.String(), "s3cret") {
		t.Errorf("the report tells the password: %s", out)
	}
}

// childrenOf returns the command lines of a process's children.
func childrenOf(pid int) []string {
	var lines []string
	var text []byte
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, thread := range threads {
		more, _ := os.ReadFile(thread)
		text = append(append(text, ' '), more...)
	}
	for _, child := range strings.Fields(string(text)) {
		line, err := os.ReadFile("/proc/" + child + "/cmdline")
		// A child that has not become its program yet looks like its parent.
		if line := strings.ReplaceAll(string(line), "\x00", " "); err == nil && line != "" && !strings.Contains(line, " storm ") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}
