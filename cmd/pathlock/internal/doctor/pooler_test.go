package doctor_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/doctor"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// A pgbouncer in transaction mode is found, and a problem only for programs whose prepared
// statements it loses. One in session mode, or none, makes no finding.
func TestPooler_IsFound(t *testing.T) {
	for name, c := range map[string]struct {
		mode     string
		nameless bool
		want     doctor.Level
	}{
		"none":        {"", false, doctor.Fine},
		"session":     {"session", false, doctor.Fine},
		"transaction": {"transaction", false, doctor.Problem},
		"nameless":    {"transaction", true, doctor.Advice},
	} {
		t.Run(name, func(t *testing.T) {
			url := testserver.ScratchPostgres(t)
			if c.mode != "" {
				url = bouncer(t, url, c.mode)
			}
			r := examine(t, doctor.Subject{DB: open(t, url), Dialect: fsck.PostgreSQL, Nameless: c.nameless})
			got := doctor.Fine
			for _, f := range r.Findings {
				if f.Check == "pooler" {
					got = f.Level
				}
			}
			if got != c.want {
				t.Errorf("found %v, want %v: %v", got, c.want, r.Findings)
			}
		})
	}
}

// bouncer starts a pgbouncer that keeps no prepared statements in front of a database, and returns
// the URL of the database there.
func bouncer(t *testing.T, server, mode string) string {
	t.Helper()
	path, err := exec.LookPath("pgbouncer")
	if err != nil {
		testserver.Missing(t, "there is no pgbouncer")
	}
	u, err := url.Parse(server)
	testerr.Must(t, err)
	port := testnet.FreePort(t)
	config := filepath.Join(t.TempDir(), "pgbouncer.ini")
	testerr.Must(t, os.WriteFile(config, fmt.Appendf(nil, "[databases]\n* = host=%s port=%s user=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %s\nunix_socket_dir =\nauth_type = any\npool_mode = %s\n",
		u.Hostname(), u.Port(), u.User.Username(), port, mode), 0o600))
	args := []string{config}
	if os.Geteuid() == 0 {
		args = []string{"-u", "nobody", config} // it refuses to run as root
	}
	command := exec.CommandContext(context.Background(), path, args...)
	testerr.Must(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	u.Host = net.JoinHostPort("127.0.0.1", port)
	testserver.Await(t, "pgbouncer serves", func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", u.Host)
		if err == nil {
			err = conn.Close()
		}
		return err == nil
	})
	return u.String()
}
