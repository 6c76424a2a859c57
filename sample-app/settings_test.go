package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// The command line refuses what could serve no request, with a message that names the setting,
// whether that comes from a flag or the environment. No message quotes anything that may have a
// password in it, wherever a typing mistake has put it.
func TestUsage(t *testing.T) {
	const url = `mysql://root:secret"\@tcp(127.0.0.1:3306)/x`
	db := "sqlite://" + filepath.Join(t.TempDir(), "a.db")
	for _, tt := range []struct {
		variable string // NAME=VALUE
		args     []string
		code     int
		says     string
	}{
		{"PATHLOCK_DB=" + url, []string{"--help"}, 0, "import"},
		{"PATHLOCK_LOCKS=" + url, []string{"serve", "--help"}, 0, "PATHLOCK_LOCKS"},
		{"", []string{"import", "x"}, 2, "--plan"},
		{"", []string{"--db", "postgres://root:secret@localhost:1/x"}, 1, "failed to connect"},
		{"", []string{"--db", "sqlite:///no/such/folder/a.db"}, 1, "/no/such/folder/a.db"},
		{"", []string{"--addr", "127.0.0.1:99999"}, 2, "--addr (PATHLOCK_ADDR): "},
		{"PATHLOCK_ADDR=localhost", nil, 2, "missing port"},
		{"PATHLOCK_HOSTS=http://a", nil, 2, "--hosts (PATHLOCK_HOSTS): "},
		{"", []string{"import", "--plan=a/b", "."}, 2, "--plan: must not contain a slash"},
		{"", []string{"import", "--plan=p", "--project=", "."}, 2, "project must not be empty"},
		{"", nil, 1, "listen tcp 192.0.2.1:1: "},
		{"", []string{"--drain=-1s"}, 2, "0s to 10m"},
		{"", []string{"storm", "--clients", "0"}, 2, "positive"},
		{"", []string{"storm", "--locks", "memory://"}, 2, "a store in memory serves only one"},
		{"", []string{"--lease=1ms"}, 2, "100ms to 24h"},
		{"PATHLOCK_DB_CONNECTIONS=0", nil, 2, "1 to 1000"},
		{"PATHLOCK_LEASE=soon", nil, 2, "duration"},
		{"PATHLOCK_WAIT=-1s", nil, 2, "0s to 30s"},
		{"", []string{"import", "--plan=p", ".", "--namespace=" + strings.Repeat("n", 250)}, 2, "at most 255"},
		{"PATHLOCK_NAMESPACE=a\nb", nil, 2, "control character"},
		{"PATHLOCK_DB=root:secret@tcp(127.0.0.1:3306)/x", nil, 2, "mysql://user:password@"},
		{"PATHLOCK_LOCKS=redis:/:secret@127.0.0.1:6379/0", nil, 2, "redis://host:6379/0"},
		{"", []string{"--locks=redis://:12/secret@127.0.0.1/0"}, 2, "%2F"},
		{"", []string{"--locks=zookeeper://user:secret@h1"}, 2, "supported are"},
		{"PATHLOCK_LOCKS_PASSWORD=secret", nil, 2, "without a password"},
		{"", []string{url}, 2, "unexpected argument"},
		{"", []string{"-d" + url}, 2, "unknown flag"},
		{"", []string{"--wait", url}, 2, "--wait"},
		{"", []string{"--assert=" + url}, 2, "--assert"},
		{"", []string{"--rule", url}, 2, "--rule"},
		{"", []string{"storm", "--db", "root:secret@tcp(h)/x"}, 2, "--db"},
	} {
		t.Run(tt.says, func(t *testing.T) {
			t.Setenv("PATHLOCK_DB", db)
			t.Setenv("PATHLOCK_ADDR", "192.0.2.1:1") // no address of this machine
			if name, value, given := strings.Cut(tt.variable, "="); given {
				t.Setenv(name, value)
			}
			var out bytes.Buffer
			code := run(t.Context(), tt.args, &out, &out)
			if code != tt.code || !strings.Contains(out.String(), tt.says) || strings.Contains(out.String(), "secret") {
				t.Errorf("%s %q: exit code %d and %q, want %d and %q, and no secret", tt.variable, tt.args, code, &out, tt.code, tt.says)
			}
		})
	}
}
