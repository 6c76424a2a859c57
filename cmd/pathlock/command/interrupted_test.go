package command_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// SIGINT ends a repair after the transaction that it is in.
func TestFsck_interrupted(t *testing.T) {
	url, _ := table(t, many(2000))
	log := filepath.Join(t.TempDir(), "log")
	testerr.Must(t, syscall.Mkfifo(log, 0o600))
	cmd := program(t, "fsck", "--table", "suites", "--repair", "--apply", "--locks", "off", "--db", url, "--log", log, "-q")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	testerr.Must(t, cmd.Start())
	pipe, err := os.Open(log)
	testerr.Must(t, err)
	defer func() { _ = pipe.Close() }()
	last, changes := "", 0
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		last = lines.Text()
		if changes++; changes == 30 { // in the middle of a transaction
			testerr.Must(t, cmd.Process.Signal(syscall.SIGINT))
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(last, `"commit":true`) || !strings.Contains(out.String(), "ended early") || !strings.Contains(errs.String(), "pathlock: interrupted") {
		t.Errorf("exit code %d, the log ends with %s: %s%s", code, last, &out, &errs)
	}
}

// many are n children of a root row with wrong paths.
func many(n int) string {
	return fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i <= %d)
		SELECT 1, 1, NULL, '', '' UNION ALL SELECT i, 1, 1, 'n' || i, 'wrong' FROM n`, n)
}
