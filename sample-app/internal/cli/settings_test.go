package cli_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/sample-app/internal/cli"
)

// The command line refuses settings that could serve no request. The message names them, whether
// they come from a flag or the environment.
func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	db := "sqlite://" + filepath.Join(t.TempDir(), "a.db")
	for _, tt := range []struct{ flag, variable, value, says string }{
		{"--lease", "PATHLOCK_LEASE", "1ms", "100ms to 24h"},
		{"--lease", "PATHLOCK_LEASE", "soon", "duration"},
		{"--wait", "PATHLOCK_WAIT", "-1s", "0s to 30s"},
		{"--wait", "PATHLOCK_WAIT", "1h", "30s"},
		{"--namespace", "PATHLOCK_NAMESPACE", strings.Repeat("n", 250), "at most 255"},
		{"--namespace", "PATHLOCK_NAMESPACE", "a\nb", "control character"},
		{"--db-conns", "PATHLOCK_DB_CONNS", "0", "1 to 10000"},
		{"--db", "PATHLOCK_DB", "root:secret@tcp(127.0.0.1:3306)/x", "mysql://user:password@"},
		{"--db", "PATHLOCK_DB", "mysql://root:secret@127.0.0.1:3306/x", "mysql://user:password@"},
		{"--locks", "PATHLOCK_LOCKS", "redis:/:secret@127.0.0.1:6379/0", "redis://host:6379/0"},
		{"--locks", "PATHLOCK_LOCKS", "redis://:12/secret@127.0.0.1/0", "%2F"},
		{"--locks", "PATHLOCK_LOCKS", "zookeeper://user:secret@h1", "supported are"},
		{"--locks-password", "PATHLOCK_LOCKS_PASSWORD", "secret", "without a password"},
	} {
		check := func(how string, args ...string) {
			t.Helper()
			var out bytes.Buffer
			code := cli.Main(t.Context(), args, &out, &out)
			message := out.String()
			named := strings.Contains(message, tt.flag) || strings.Contains(message, tt.variable)
			if code != 2 || !named || !strings.Contains(message, tt.says) || strings.Contains(message, "secret") {
				t.Errorf("%s = %q as %s: exit code %d and %q, want 2, the setting's name and %q", tt.flag, tt.value, how, code, message, tt.says)
			}
		}
		check("a flag of serve", "serve", "--addr=192.0.2.1:1", "--db="+db, tt.flag+"="+tt.value)
		check("a flag of import", "import", "--db="+db, "--plan=p", tt.flag+"="+tt.value, t.TempDir())
		t.Run(tt.variable, func(t *testing.T) {
			t.Setenv("PATHLOCK_DB", db)
			t.Setenv(tt.variable, tt.value)
			check("a variable", "serve", "--addr=192.0.2.1:1")
		})
	}
}

// No message about a command line quotes anything that may have a password in it, wherever a typing
// mistake has put it.
func TestNoMessageQuotesAPassword(t *testing.T) {
	t.Setenv("PATHLOCK_DB", "mysql://root:secret@tcp(127.0.0.1:3306)/x")
	t.Setenv("PATHLOCK_LOCKS", "redis://:secret@127.0.0.1/0")
	const url = `mysql://root:secret"\@tcp(127.0.0.1:3306)/x`
	for _, args := range [][]string{
		{"--help"}, {"serve", "--help"}, {"storm", "--help"}, {"import", "--help"},
		{url}, {"serve", url}, {"serve", "--dbs=" + url}, {"serve", "-d" + url}, {"serve", "--wait=" + url}, {"serve", "--wait", url},
		{"serve", "--assert=" + url}, {"serve", "--db-conns", url}, {"import", "--plan", "p", ".", url}, {"storm", "--clients", url},
		{"serve", "--rule", url}, {"serve", "--db", "root:secret@tcp(h)/x"}, {"storm", "--db", "root:secret@tcp(h)/x"},
		{"storm", "--locks", "redis:/:secret@h/0"},
	} {
		var out bytes.Buffer
		cli.Main(t.Context(), args, &out, &out)
		if out.Len() == 0 || strings.Contains(out.String(), "secret") {
			t.Errorf("%q: %s", args, &out)
		}
	}
}
