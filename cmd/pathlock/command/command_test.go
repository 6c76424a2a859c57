package command_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/cmd/pathlock/command"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// cmdExits runs a command that has to end with an exit code, and must not tell that a password is
// "secret": exits CODE COMMAND…
func cmdExits(ts *testscript.TestScript, _ bool, args []string) {
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("the exit code is %d, want %s", code, args[0])
	}
	if strings.Contains(ts.ReadFile("stdout")+ts.ReadFile("stderr"), "secret") {
		ts.Fatalf("the output has the password")
	}
}

// cmdAwait waits until somebody waits in the trees of a mutex and an election: await NAME
func cmdAwait(ts *testscript.TestScript, _ bool, args []string) {
	p := ts.Value("people").(*people)
	testserver.Await(p.t, args[0]+" has a waiter", func() bool {
		n := 0
		for _, namespace := range []string{pathlock.MutexNamespace, "election"} {
			snapshot, err := pathlock.New(p.store).Snapshot(p.t.Context(), must(pathlock.NewTree(namespace, args[0])))
			testerr.Must(p.t, err)
			n += len(snapshot.Waiters)
		}
		return n > 0
	})
}

// cmdSQL runs the statements of a file on an SQLite file: sql DATABASE FILE
func cmdSQL(ts *testscript.TestScript, _ bool, args []string) {
	db, err := driver.Open("file:" + ts.MkAbs(args[0]) + "?_pragma=busy_timeout(10000)")
	ts.Check(err)
	defer func() { _ = db.Close() }()
	ts.Check(testerr.Of(db.ExecContext(context.Background(), ts.ReadFile(args[1]))))
}

// cmdQuery has as its output the only value that a query finds in an SQLite file: query DATABASE
// SQL
func cmdQuery(ts *testscript.TestScript, _ bool, args []string) {
	db, err := driver.Open("file:" + ts.MkAbs(args[0]))
	ts.Check(err)
	defer func() { _ = db.Close() }()
	var value string
	ts.Check(db.QueryRowContext(context.Background(), args[1]).Scan(&value))
	_, _ = io.WriteString(ts.Stdout(), value)
}

// A command whose lock cannot be renewed has ended when the lease ends, even if it ignores SIGTERM.
func TestLock_commandEndsBeforeItsLease(t *testing.T) {
	t.Parallel()
	const lease, grace, slack = 4 * time.Second, 2 * time.Second, 500 * time.Millisecond
	server := testredis.Start(t, testredis.Redis)
	cmd := program(t, "lock", "nightly", "--locks", "redis://"+server.Addr, "--lease", lease.String(), "--grace", grace.String(), "--",
		"sh", "-c", `trap '' TERM; echo up; while echo runs >&2; do sleep 0.1; done`)
	out, err := cmd.StdoutPipe()
	testerr.Must(t, err)
	var last lastWrite
	cmd.Stderr = &last
	testerr.Must(t, cmd.Start())
	testerr.Must(t, testerr.Of(out.Read(make([]byte, 1))))
	server.Pause()
	paused := time.Now()
	_ = cmd.Wait() // its exit code is looked at
	server.Resume()
	ran := last.at.Sub(paused)
	if code := cmd.ProcessState.ExitCode(); code != 123 || ran > lease+slack {
		t.Errorf("exit code %d; it ran for %v of its lease of %v: %s", code, ran, lease, last.text)
	}
}

// lastWrite knows when the command has written its last line.
type lastWrite struct {
	at   time.Time
	text string
}

func (l *lastWrite) Write(p []byte) (int, error) {
	if strings.Contains(string(bytes.TrimSpace(p)), "runs") {
		l.at = time.Now()
	} else {
		l.text += string(p)
	}
	return len(p), nil
}

// lasting is a store like a server's: a command that closes it leaves it open for the others.
type lasting struct{ pathlock.Store }

func (lasting) Close(context.Context) error { return nil }

// A program that is built with a lock store of its own has all commands on it.
func TestStore_ofTheProgramsOwn(t *testing.T) {
	t.Parallel()
	servers := map[string]pathlock.Store{"own://h1": memstore.New(), "own://h2": memstore.New(), "own://h3": memstore.New()}
	own := anystore.WithScheme("own", func(_ context.Context, url string) (pathlock.Store, error) { return lasting{servers[url]}, nil })
	for _, tt := range []struct{ args, says string }{
		{"lock a --locks own://h1 -- echo runs", "runs"},
		{"elect a --locks own://h1 -- echo leads", "leads"},
		{"ls --locks own://h1", "nobody holds"},
		{"doctor --locks own://h1", "handed over"},
		{"doctor --locks quorum:own://h1|own://h2|own://h3", "handed over"},
		{"ls --help", "own://…"},
	} {
		var out, errs bytes.Buffer
		if code := command.Main(t.Context(), strings.Fields(tt.args), &out, &errs, own); code != 0 || !strings.Contains(out.String(), tt.says) {
			t.Errorf("%s: exit code %d: %s%s, want something about %q", tt.args, code, &out, &errs, tt.says)
		}
	}
	if code, _, errs := run(t, "ls", "--locks", "own://h1"); code != 16 || !strings.Contains(errs, "scheme is unknown") {
		t.Errorf("without it: exit code %d: %s", code, errs)
	}
}

// How long something has lasted, and will last, is by the store's clock, which may be behind this
// host's.
func TestSpans_AreByTheStoresClock(t *testing.T) {
	tree, err := pathlock.NewTree("testplan", "plan-001")
	testerr.Must(t, err)
	now := time.Now().Add(-5 * time.Minute)
	entry := func(owner pathlock.Owner) pathlock.Entry {
		return pathlock.Entry{
			Owner: owner, Claims: pathlock.Normalize(pathlock.X(pathlock.MustParsePath("/a"))), Note: "work",
			Since: now.Add(-3 * time.Second), Until: now.Add(27 * time.Second),
		}
	}
	got := command.Texts(pathlock.Snapshot{
		Tree: tree, Now: now, Holders: []pathlock.Entry{entry("holder")}, Waiters: []pathlock.Entry{entry("waiter")},
	})
	if strings.Contains(got, "5m") || strings.Count(got, "27s") != 4 || strings.Count(got, "3s") != 8 {
		t.Errorf("want 3s and 27s everywhere:\n%s", got)
	}
}

// An interrupt ends a look at a store that hangs at once.
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

// While the store is down, watch says so once, and says when it is back.
func TestWatchOutage(t *testing.T) {
	var errs bytes.Buffer
	command.Outage(&errs, nil, errors.New("refused"), errors.New("refused"), nil, nil, errors.New("again"))
	const want = "pathlock: refused\npathlock: the lock store answers again\npathlock: again\n"
	if errs.String() != want {
		t.Errorf("it writes\n%swant\n%s", &errs, want)
	}
}

const sound = `VALUES (1, 1, NULL, '', ''), (2, 1, 1, 'a', '/a'), (3, 1, 2, 'b', '/a/b')`

// The output escapes what a terminal would interpret, in a key, a name, a path, or the database's
// message.
func TestFsck_escapesHostileTexts(t *testing.T) {
	const hostile = "\xff\x1b[2J\u009bk\u202e"
	url, db := table(t, sound)
	for _, statement := range []string{
		`CREATE TABLE texts (id TEXT PRIMARY KEY, plan_id TEXT, parent_id TEXT, name TEXT, path TEXT, deleted_at DATETIME, CHECK (path <> '/` + hostile + `2'))`,
		`INSERT INTO texts (id, plan_id, parent_id, name, path) VALUES ('` + hostile + `1', '` + hostile + `', NULL, '` + hostile + `', '` + hostile + `'),
			('` + hostile + `2', 'b', '` + hostile + `3', '` + hostile + `', '` + hostile + `')`,
	} {
		testerr.Must(t, testerr.Of(db.ExecContext(t.Context(), statement)))
	}
	for _, args := range [][]string{
		{}, {"--json"}, {"--repair"}, {"--repair", "--json"}, {"--repair", "--apply", "--locks", "off"}, {"--tree", hostile + "4"}, {"--parent", hostile},
	} {
		code, out, errs := run(t, append([]string{"fsck", "--table", "texts", "--db", url}, args...)...)
		if text := out + errs; !utf8.ValidString(text) || strings.ContainsAny(text, "\x1b\u009b\u202e") || !strings.Contains(text, `[2J\u009bk\u202e`) {
			t.Errorf("%v: exit code %d, written %q", args, code, text)
		}
	}
}

// A command gives up on a server that accepts connections and says nothing.
func TestFsck_GivesUpASilentDatabase(t *testing.T) {
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	testerr.Must(t, err)
	defer func() { _ = silent.Close() }()
	for _, url := range []string{"mysql://x@tcp(%s)/x", "postgres://x@%s/x"} {
		db, _, err := command.OpenDB(fmt.Sprintf(url, silent.Addr()))
		testerr.Must(t, err)
		if err := command.Reach(t.Context(), db, 50*time.Millisecond); err == nil || err.Error() != "connect to the database, which does not answer: no answer within 50ms" {
			t.Errorf("%s: %v", url, err)
		}
		_ = db.Close()
	}
}
