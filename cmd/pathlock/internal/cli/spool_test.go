package cli_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A killed repair leaves no temporary file.
func TestTemporaryFiles(t *testing.T) {
	url, _ := table(t, many(1000))
	folder := t.TempDir()
	log := filepath.Join(t.TempDir(), "log")
	if err := syscall.Mkfifo(log, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, "fsck", "--table", "suites", "--repair", "--apply", "--locks", "off", "--batch", "20", "--db", url, "--log", log, "-q")
	cmd.Env = append(cmd.Env, "TMPDIR="+folder)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	if !bufio.NewScanner(pipe).Scan() { // the repair has begun
		t.Error("no line is in the log")
	}
	_ = cmd.Process.Kill()
	_ = pipe.Close()
	_ = cmd.Wait()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 || cmd.ProcessState.ExitCode() >= 0 {
		t.Errorf("left behind: %v (%v), exit code %d", left, err, cmd.ProcessState.ExitCode())
	}
}

// A repair looks for wrong paths again at the end. So it keeps them in no temporary file, for which
// there is no folder here.
func TestWrongPathsNeedNoFile(t *testing.T) {
	url, _ := table(t, `VALUES (1, 1, NULL, '', ''), (2, 1, 1, 'a', '/wrong')`)
	cmd := program(t, "fsck", "--table", "suites", "--repair", "--apply", "--locks", "off", "--db", url)
	cmd.Env = append(cmd.Env, "TMPDIR="+filepath.Join(t.TempDir(), "none"))
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("exit code %d (%v): %s", cmd.ProcessState.ExitCode(), err, out)
	}
}

// many are n children of a root row with wrong paths. Each tenth is an orphan, each hundredth a
// duplicate.
func many(n int) string {
	return fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i <= %d)
		SELECT 1, 1, NULL, '', '' UNION ALL
		SELECT i, 1, CASE WHEN i %% 10 = 0 THEN 100000 + i ELSE 1 END, CASE WHEN i %% 100 = 1 THEN 'same' ELSE 'n' || i END, 'wrong' FROM n`, n)
}
