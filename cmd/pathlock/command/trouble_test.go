package command_test

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
	"github.com/pathlock-go/pathlock/cmd/pathlock/command"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
)

// heldInFile takes the gates of trees in an SQLite file. It returns the store's URL, the locks, and
// a function that runs statements on the file.
func heldInFile(t *testing.T, ids ...string) (url string, locks []*pathlock.Lock, exec func(statements ...string)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "app.db")
	url = "sqlite://" + file
	locker := opened(t, url)
	for _, id := range ids {
		lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: must(pathlock.NewTree("testplan", id)), Gate: true})
		testerr.Must(t, err)
		t.Cleanup(func() { _ = lock.Release(context.Background()) }) // its record may be damaged
		locks = append(locks, lock)
	}
	db, err := driver.Open("file:" + file + "-locks?_pragma=busy_timeout(10000)")
	testerr.Must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return url, locks, func(statements ...string) {
		for _, statement := range statements {
			testerr.Must(t, testerr.Of(db.ExecContext(t.Context(), statement)))
		}
	}
}

// A release of which the store's answer is missing may have happened: its line says who tried it
// and why, and the message that it is not known.
func TestRelease_withoutAnAnswerIsWritten(t *testing.T) {
	t.Parallel()
	url, locks, exec := heldInFile(t, "plan-001")
	const trigger = ` ON pathlock_trees BEGIN SELECT RAISE(ABORT, 'a broken disk'); END`
	exec(`CREATE TRIGGER updates BEFORE UPDATE`+trigger, `CREATE TRIGGER deletes BEFORE DELETE`+trigger)
	code, out, errs := run(t, "release", "testplan/plan-001", fmt.Sprint(locks[0].Fence()), "--locks", url, "--reason", "it hangs, see INC-3", "--json")
	exec(`DROP TRIGGER updates`, `DROP TRIGGER deletes`)
	if code != 8 || !strings.Contains(errs, "may be released all the same: see pathlock ls testplan/plan-001") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if !regexp.MustCompile(`^\{"type":"released-by-force",.*"reason":"it hangs, see INC-3",.*"unanswered":"releasing .*a broken disk`).MatchString(out) {
		t.Errorf("it writes %q", out)
	}
}

// A tree with a damaged record does not hide the others.
func TestLs_namesADamagedTree(t *testing.T) {
	t.Parallel()
	url, _, exec := heldInFile(t, "plan-001", "plan-002")
	exec(`UPDATE pathlock_trees SET tickets = x'ff' WHERE CAST(id AS TEXT) = 'plan-001'`)
	for _, args := range [][]string{{"ls", "--locks", url}, {"ls", "--json", "--locks", url}} {
		code, out, errs := run(t, args...)
		if code != 8 || !strings.Contains(out, "plan-002") || strings.Contains(out, "plan-001") || !strings.Contains(errs, "looking at testplan/plan-001: ") {
			t.Errorf("%v: exit code %d: %s%s", args, code, out, errs)
		}
	}
}

// Whoever interrupts a look at a store that hangs does not wait for the store.
func TestLs_interruptedEndsAtOnce(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t, testredis.Redis)
	server.Pause()
	for _, name := range []string{"ls", "doctor"} {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		time.AfterFunc(200*time.Millisecond, cancel)
		code := command.Main(ctx, []string{name, "--locks", "redis://" + server.Addr + "/0"}, io.Discard, io.Discard)
		if took := time.Since(began); code != 130 || took > 2*time.Second {
			t.Errorf("%s: exit code %d after %v", name, code, took)
		}
	}
}
