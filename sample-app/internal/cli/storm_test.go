package cli_test

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/testetcd"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/testzk"
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

// locks are lock stores outside of the database, by how to get the URL of one.
var locks = map[string]func(t *testing.T) string{
	"Redis":     func(t *testing.T) string { return testserver.Redis(t) },
	"ZooKeeper": func(t *testing.T) string { return "zk://" + testzk.Start(t).Addr + "/storm" },
	"etcd":      func(t *testing.T) string { return "etcd://" + testetcd.Start(t).Addr + "/storm" },
	"quorum": func(t *testing.T) string {
		var urls []string
		for range 3 {
			urls = append(urls, "redis://"+testredis.Start(t, testredis.Redis).Addr)
		}
		return "quorum:" + strings.Join(urls, "|")
	},
}

// Three instances keep a tree right under the locks of any store, and leave none behind.
func TestStormOnEveryLockStore(t *testing.T) {
	for name, url := range locks {
		t.Run(name, func(t *testing.T) {
			storm(t, "--locks", url(t), "--duration", "500ms")
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
