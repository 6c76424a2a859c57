package cli_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/driver"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/cli"
	"github.com/pathlock-go/pathlock/internal/testredis"
)

// A release of which the store's answer is missing may have happened: its line says who tried it
// and why, and the message that it is not known.
func TestAReleaseWithoutAnAnswerIsWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "app.db")
	locker := opened(t, "sqlite://"+file)
	tree := must(pathlock.NewTree("testplan", "plan-001"))
	lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: tree, Gate: true})
	if err != nil {
		t.Fatal(err)
	}
	db, err := driver.Open("file:" + file + "-locks?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	exec := func(format string) {
		for _, write := range []string{"UPDATE", "DELETE"} {
			if _, err := db.ExecContext(t.Context(), fmt.Sprintf(format, write)); err != nil {
				t.Fatal(err)
			}
		}
	}
	exec(`CREATE TRIGGER broken_%[1]s BEFORE %[1]s ON pathlock_trees BEGIN SELECT RAISE(ABORT, 'a broken disk'); END`)
	code, out, errs := run(t, "release", cli.NameOf(tree), fmt.Sprint(lock.Fence()), "--locks", "sqlite://"+file, "--reason", "it hangs, see INC-3", "--json")
	exec(`DROP TRIGGER broken_%s`)
	if err := lock.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if code != 8 || !strings.Contains(errs, "may be released all the same: see pathlock ls testplan/plan-001") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if !regexp.MustCompile(`^\{"type":"released-by-force",.*"reason":"it hangs, see INC-3",.*"unanswered":"releasing .*a broken disk`).MatchString(out) {
		t.Errorf("it writes %q", out)
	}
}

// Whoever interrupts a look at a store that hangs does not wait for the store.
func TestAnInterruptedLookEndsAtOnce(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t, testredis.Redis)
	server.Pause()
	for _, command := range []string{"ls", "doctor"} {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		time.AfterFunc(200*time.Millisecond, cancel)
		code := cli.Main(ctx, []string{command, "--locks", "redis://" + server.Addr + "/0"}, io.Discard, io.Discard)
		if took := time.Since(began); code != 130 || took > 2*time.Second {
			t.Errorf("%s: exit code %d after %v", command, code, took)
		}
	}
}
