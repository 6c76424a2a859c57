package cli_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// inUse takes the gates of trees, given as namespace and id, on a server of their own. It returns
// the store's URL and what the commands call the holders.
func inUse(t *testing.T, trees [][2]string) (url string, holders []string) {
	t.Helper()
	url = "redis://" + testredis.Start(t, testredis.Redis).Addr + "/0"
	store, err := anystore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close(context.Background()) })
	locker := pathlock.New(store)
	for _, each := range trees {
		tree, err := pathlock.NewTree(each[0], each[1])
		if err != nil {
			t.Fatal(err)
		}
		lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: tree, Gate: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = lock.Release(context.Background()) })
		snapshot, err := locker.Snapshot(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		holders = append(holders, strings.TrimSuffix(snapshot.Holders[0].Owner.Short(), "…"))
	}
	return url, holders
}

// Every name that ls lists is the name of one tree to ls, explain and release, and of another tree
// than every other name.
func TestListedNamesAreTaken(t *testing.T) {
	t.Parallel()
	trees := [][2]string{{"a/b", "c/d"}, {"a", "b/c/d"}, {"a/b/c", "d"}, {"a%2Fb", "c/d"}, {"-x", "--y"}, {"a/", "/"}, {"/", "a//"}, {"%", "%2"}}
	for _, u := range unruly {
		trees = append(trees, [2]string{u.id, u.id})
	}
	url, holders := inUse(t, trees)
	_, out, errs := run(t, "ls", "--locks", url)
	var names []string
	for _, line := range strings.Split(strings.TrimSpace(out), "\n")[1:] {
		names = append(names, strings.Fields(line)[0])
	}
	if len(names) != len(trees) {
		t.Fatalf("ls lists %d of %d: %s%s", len(names), len(trees), out, errs)
	}
	for _, name := range names {
		code, shown, errs := run(t, "ls", "--locks", url, name)
		if code != 0 || !strings.HasPrefix(shown, name+": 1 hold, 0 wait\n") {
			t.Fatalf("ls %s: %d %s%s", name, code, shown, errs)
		}
		holder := strings.Fields(strings.Split(shown, "\n")[2])[0]
		code, shown, errs = run(t, "explain", "--locks", url, "gate", name)
		if code != 4 || !strings.Contains(shown, "gate in "+name+" takes") || !strings.Contains(shown, holder) {
			t.Errorf("explain gate %s: %d %s%s", name, code, shown, errs)
		}
		code, shown, errs = run(t, "release", "--locks", url, "--yes", "--reason", "a test", name, holder)
		i := slices.Index(holders, holder)
		if code != 0 || i < 0 || !strings.HasPrefix(shown, "released in "+name+" by ") {
			t.Fatalf("release %s %s: %d %s%s", name, holder, code, shown, errs)
		}
		holders = slices.Delete(holders, i, i+1)
	}
	if len(holders) > 0 {
		t.Errorf("not released: %q", holders)
	}
}

// A text that programs write for more than one tree is read as one, and the others are named.
func TestConfusedNames(t *testing.T) {
	t.Parallel()
	url, holders := inUse(t, [][2]string{{"a/b", "c/d"}, {"100%41", "x"}})
	for text, want := range map[string]string{"a/b/c/d": "a%2Fb/c/d", "100%41/x": "100%2541/x"} {
		for _, args := range [][]string{{"ls", text}, {"explain", "gate", text}, {"release", "--yes", "--reason", "a test", text, holders[0]}} {
			_, out, errs := run(t, append(args, "--locks", url)...)
			if !strings.Contains(errs, want+", of the namespace") {
				t.Errorf("%q does not name %s: %s%s", args, want, out, errs)
			}
		}
		_, out, errs := run(t, "ls", "--locks", url, want)
		if errs != "" || !strings.HasPrefix(out, fmt.Sprintf("%s: 1 hold", want)) {
			t.Errorf("ls %s: %s%s", want, out, errs)
		}
	}
}

// unruly are ids of trees that a shell would interpret, or that cannot be seen, with their names.
var unruly = []struct{ id, name string }{
	{"$(touch PWNED)", "%24%28touch%20PWNED%29"},
	{"`touch PWNED`", "%60touch%20PWNED%60"},
	{"x;touch PWNED", "x%3Btouch%20PWNED"},
	{"x&touch PWNED&", "x%26touch%20PWNED%26"},
	{"x|touch PWNED", "x%7Ctouch%20PWNED"},
	{"x>PWNED", "x%3EPWNED"},
	{"a 'b' \"c\"", "a%20%27b%27%20%22c%22"},
	{`back\slash`, "back%5Cslash"},
	{"*{a,b}?[c]~#!!^$HOME=", "%2A%7Ba,b%7D%3F%5Bc%5D%7E%23%21%21%5E%24HOME%3D"},
	{"right\u202eleft", "right%E2%80%AEleft"},
	{"no\u3000seen\u3164\u200b", "no%E3%80%80seen%E3%85%A4%E2%80%8B"},
	{"100%41", "100%2541"},
	{"计划-1", "计划-1"},
}
