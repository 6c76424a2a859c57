package cli_test

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// Unprotected trees break, and protected ones do not, on every database. The locks are in the
// database of each row.
func TestStorm(t *testing.T) {
	for _, db := range testdb.All(t) {
		t.Run("on "+db.Name, func(t *testing.T) {
			for broken := false; !broken; { // until an unprotected path is wrong
				broken = strings.Contains(storm(t, "--db", db.URL, "--duration", "1500ms"), "wrong-path: tree")
			}
		})
	}
}

// storm runs a storm of three instances and returns its report. The program fails if a protected
// tree is corrupted, a request fails on it, or a lock is left.
func storm(t *testing.T, flags ...string) (report string) {
	t.Helper()
	out, err := program(t, append([]string{"storm", "--instances", "3", "--clients", "4", "--seed", "1"}, flags...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	t.Logf("%s", out)
	for _, want := range []string{"locks and assertion off", "assertion alone", "locks and assertion"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the report does not say %q:\n%s", want, out)
		}
	}
	return string(out)
}
