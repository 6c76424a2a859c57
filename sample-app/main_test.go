package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// childVariable turns the test binary into the program.
const childVariable = "PATHLOCK_SAMPLE_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		main()
	}
	os.Exit(m.Run())
}

// Everything that the program writes besides its report has the log's format, even the messages of
// the Redis client.
func TestTheRedisClientWritesToTheLog(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// It starts, warns about its lock store, and fails to listen.
	cmd := exec.CommandContext(t.Context(), self, "--addr", "192.0.2.1:1",
		"--db", "sqlite://"+filepath.Join(t.TempDir(), "a.db"), "--locks", "redis://:s3cret@127.0.0.1:1/0")
	cmd.Env = append(os.Environ(), childVariable+"=1")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Run(); err == nil {
		t.Error("the program has served on a port that is none")
	}
	text := errs.String()
	if !strings.Contains(text, `msg="redis client"`) || strings.Contains(text, "s3cret") {
		t.Errorf("the client has complained nowhere, or told the password:\n%s", text)
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "time=") && !strings.HasPrefix(line, "sample-app: listen") {
			t.Errorf("a line past the log: %s", line)
		}
	}
}
