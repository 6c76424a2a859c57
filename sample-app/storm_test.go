package main

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// Unprotected trees break, and protected ones do not, on every database. The locks are in the
// database of each row.
func TestStorm(t *testing.T) {
	for _, db := range testdb.All(t) {
		t.Run("on "+db.Name, func(t *testing.T) {
			for broken := false; !broken; { // until an unprotected path is wrong
				broken = strings.Contains(report(t, "", "--db", db.URL, "--duration", "1500ms"), "wrong-path: tree")
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
