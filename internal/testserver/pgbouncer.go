package testserver

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testnet"
)

// PgBouncer runs a pgbouncer before a PostgreSQL database until the end of the test, with lines of
// its configuration, and returns the URL of the database through it.
func PgBouncer(t testing.TB, before string, lines ...string) string {
	t.Helper()
	if _, err := exec.LookPath("pgbouncer"); err != nil {
		Missing(t, err.Error())
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	through, err := url.Parse(before)
	must(err)
	// Another user than root cannot get into a folder of t.TempDir.
	dir, err := os.MkdirTemp("", "pgbouncer")
	must(err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(os.Chmod(dir, 0o755)) //nolint:gosec // pgbouncer runs as another user
	addr, err := testnet.FreeAddr(t.Context())
	must(err)
	_, port, err := net.SplitHostPort(addr)
	must(err)
	target := fmt.Sprintf("* = host=%s port=%s user=%s", through.Hostname(), through.Port(), through.User.Username())
	if password, ok := through.User.Password(); ok {
		target += " password=" + password
	}
	config := filepath.Join(dir, "pgbouncer.ini")
	must(os.WriteFile(config, []byte(strings.Join(append([]string{
		"[databases]", target,
		"[pgbouncer]", "listen_addr = 127.0.0.1", "listen_port = " + port, "auth_type=any", "unix_socket_dir=",
	}, append(lines, "")...), "\n")), 0o644)) //nolint:gosec // pgbouncer runs as another user
	args := []string{config}
	if os.Getuid() == 0 {
		args = append([]string{"-u", "nobody"}, args...)
	}
	server := exec.CommandContext(context.Background(), "pgbouncer", args...) // until it is killed
	var log strings.Builder
	server.Stdout, server.Stderr = &log, &log
	must(server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait() // it was killed: that is the error
		if t.Failed() {
			t.Logf("the log of pgbouncer:\n%s", &log)
		}
	})
	Await(t, "pgbouncer answers", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	through.Host = addr
	return through.String()
}
