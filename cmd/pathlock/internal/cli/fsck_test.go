package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ncruces/go-sqlite3/driver"
	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/cli"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// childVariable, when set, makes the test binary the program itself, so that tests can kill it.
const childVariable = "PATHLOCK_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// table makes an SQLite file with a table of trees, and returns its URL and a connection.
func table(t *testing.T, rows string) (string, *sql.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	db, err := driver.Open("file:" + filepath.ToSlash(path) + "?_pragma=journal_mode(wal)&_pragma=synchronous(off)&_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, statement := range []string{
		`CREATE TABLE suites (id INTEGER PRIMARY KEY, plan_id INTEGER, parent_id INTEGER, name TEXT, path TEXT, deleted_at DATETIME)`,
		`CREATE INDEX suites_sibling ON suites (parent_id, name)`,
		`INSERT INTO suites (id, plan_id, parent_id, name, path) ` + rows,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return "sqlite://" + path, db
}

const (
	sound  = `VALUES (1, 1, NULL, '', ''), (2, 1, 1, 'a', '/a'), (3, 1, 2, 'b', '/a/b')`
	broken = sound + `, (4, 1, 99, 'x', '/x'), (5, 1, 2, 'b', '/old/b')`
)

// run runs a command line.
func run(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = cli.Main(t.Context(), args, &o, &e)
	return code, o.String(), e.String()
}

func TestExitCodes(t *testing.T) {
	soundURL, more := table(t, sound)
	for _, statement := range []string{
		`CREATE TABLE unmarked (id INTEGER PRIMARY KEY, plan_id INTEGER, parent_id INTEGER, name TEXT, path TEXT)`, `INSERT INTO unmarked VALUES (1, 1, NULL, 'a', '/a')`,
	} {
		if _, err := more.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	brokenURL, _ := table(t, broken)
	emptyURL, empty := table(t, `VALUES (1, 1, NULL, 'a', '/a')`)
	if _, err := empty.ExecContext(t.Context(), `UPDATE suites SET deleted_at = '2026-01-01'`); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args string
		code int
		says string
	}{
		{"--help", 0, "fsck"},
		{"fsck --help", 0, "130  interrupted"},
		{"fsck --table suites", 16, "--db"},
		{"nonsense", 16, "nonsense"},
		{"fsck --table suites --db " + soundURL, 0, "3 rows, 0 problems"},
		{"fsck --table suites --repair --db " + soundURL, 0, "3 rows, 0 problems"},
		{"fsck --table suites --db " + brokenURL, 4, `orphan: tree 1, row 4 "x": its parent 99 is missing`},
		{"fsck --table suites --repair --db " + brokenURL, 4, "nothing has been written"},
		{"fsck --table suites --apply --db " + brokenURL, 16, "--apply without --repair"},
		{"fsck --table suites --repair --apply --db " + brokenURL, 16, "--locks off"},
		{"fsck --table suites --repair --apply --locks nonsense:// --db " + brokenURL, 16, "scheme"},
		{"fsck --table suites --repair --log x --db " + brokenURL, 16, "--log without --apply"},
		{"fsck --table suites --repair --batch 0 --db " + brokenURL, 16, "--batch"},
		{"fsck --table suites --repair --lost-found a/b --db " + brokenURL, 16, `--lost-found "a/b"`},
		{"fsck --table suites --repair --lost-found= --db " + brokenURL, 16, `--lost-found ""`},
		{"fsck --table suites --repair --to-top --lost-found x --db " + brokenURL, 16, "--to-top and --lost-found"},
		{"fsck --table suites --repair --wait 0s --db " + brokenURL, 16, "--wait"},
		{"fsck --table suites --wait 1s --db " + brokenURL, 16, "--wait without --repair"},
		{"fsck --table suites --batch 5 --db " + brokenURL, 16, "--batch without --repair"},
		{"fsck --table suites --to-top --db " + brokenURL, 16, "--to-top without --repair"},
		{"fsck --table suites --lost-found x --db " + brokenURL, 16, "--lost-found without --repair"},
		{"fsck --table suites --tree= --db " + brokenURL, 16, "--tree is empty"},
		{"fsck --table suites --deleted a --deleted-flag b --db " + brokenURL, 16, "--deleted and --deleted-flag"},
		{"fsck --table suites --path= --db " + brokenURL, 16, "neither --path nor --id-path"},
		{"fsck --table suites --id-path path --db " + brokenURL, 16, `--path and --id-path are both the column "path"`},
		{"fsck --table suites --key plan_id --db " + brokenURL, 16, `--key and --tree-column are both the column "plan_id"`},
		{"fsck --table suites --deleted-flag deleted_at --db " + soundURL, 0, "3 rows, 0 problems"},
		{"fsck --table nothing --db " + soundURL, 8, `table "nothing": `},
		{"fsck --table suites --parent father --db " + soundURL, 8, `table "suites": the parent column, "father": `},
		{"fsck --table suites --path way --id-path name2 --db " + soundURL, 8, `table "suites": the path column, "way": `},
		{"fsck --table suites --key plan_id --tree-column id --db " + brokenURL, 8, `the key column, "plan_id", has 1 in several rows`},
		{"fsck --table suites --tree 7 --db " + soundURL, 8, `no live row of "suites" has "7" as its "plan_id"`},
		{"fsck --table suites --json --tree 7 --db " + soundURL, 8, `no live row of "suites" has "7" as its "plan_id"`},
		{"fsck --table suites --db " + emptyURL, 8, `"suites" has no live row (rows are deleted by "deleted_at")`},
		{"fsck --table suites --deleted= --db " + emptyURL, 0, "1 rows"},
		{"fsck --table suites --repair --db " + emptyURL, 8, `"suites" has no live row`},
		{"fsck --table suites --repair --apply --locks off --db " + emptyURL, 8, `"suites" has no live row`},
		{"--version", 0, "pathlock "},
		{"fsck --table suites --db mysql://root:secret@tcp(127.0.0.1:1)/x", 8, "connect to the database: "},
		{"fsck --table suites --db sqlite:///no/such/file", 8, "no such file"},
		{"fsck --table suites --db suites.db", 16, "scheme"},
		{"fsck --table suites --db=", 16, "scheme"},
		{"fsck --table suites --db oracle://x", 16, "scheme"},
		{"fsck --table suites --db root:secret@tcp(127.0.0.1:1)/x", 16, "scheme"},
		{"fsck --table suites --db mysql://root:secret@tcp(127.0.0.1:1)", 16, "makes no sense"},
		{"fsck --table suites --db postgres://root:secret@127.0.0.1:port/x", 16, "makes no sense"},
		{"fsck --table suites --db postgres://root:secret@127.0.0.1:1/x", 8, "connect to the database: "},
		{"fsck --table suites mysql://root:secret@tcp(127.0.0.1:1)/x --db " + soundURL, 16, "unexpected argument"},
		{"fsck --table suites --database=mysql://root:secret@tcp(127.0.0.1:1)/x --db " + soundURL, 16, "unknown flag"},
		{"mysql://root:secret@tcp(127.0.0.1:1)/x fsck --table suites", 16, "unexpected argument"},
		{"fsck --table suites --json=mysql://root:secret@tcp(127.0.0.1:1)/x --db " + soundURL, 16, "--json"},
		{"fsck --table suites --wait=mysql://root:secret@tcp(127.0.0.1:1)/x --db " + soundURL, 16, "--wait"},
		{"fsck --table suites --repair --apply --locks redis://:se/secret@127.0.0.1:1 --db " + brokenURL, 16, "--locks"},
		{"fsck --table suites --repair --apply --locks redis://:secret@127.0.0.1:1/x --db " + brokenURL, 16, "--locks"},
		{"fsck --table= --db " + soundURL, 16, "--table is empty"},
		{"fsck --table suites --key= --db " + soundURL, 16, "--key is empty"},
		{"fsck --table suites --tree-column= --db " + soundURL, 16, "--tree-column is empty"},
		{"fsck --table suites --parent= --db " + soundURL, 16, "--parent is empty"},
		{"fsck --table suites --name= --db " + soundURL, 16, "--name is empty"},
		{"fsck --table suites --namespace " + strings.Repeat("n", 300) + " --db " + soundURL, 16, "--namespace"},
		{"fsck --table unmarked --db " + soundURL, 0, `"unmarked" has no column "deleted_at": every row counts as live`},
		{"fsck --table unmarked --deleted= --db " + soundURL, 0, "1 rows, 0 problems"},
		{"fsck --table unmarked --deleted deleted_at --db " + soundURL, 8, `the column of the deletion mark, "deleted_at": no such column`},
		{"fsck --table unmarked --deleted-flag deleted_at --db " + soundURL, 8, `the column of the deletion mark, "deleted_at": no such column`},
		{"fsck --table unmarked --parent father --db " + soundURL, 8, `the parent column, "father": no such column`},
		{"fsck --table unmarked --tree 7 --db " + soundURL, 8, `no live row of "unmarked" has "7" as its "plan_id"` + "\n"},
		{"fsck --table suites --repair --apply --locks off --tree 7 --db " + brokenURL, 8, "0 rows"},
		{"fsck --table suites --repair --yes --locks off --db " + brokenURL, 1, "0 problems left"},
		{"fsck --table suites --db " + brokenURL, 0, "6 rows, 0 problems"},
	}
	for _, tt := range tests {
		code, out, errs := run(t, strings.Fields(tt.args)...)
		if code != tt.code || !strings.Contains(out+errs, tt.says) {
			t.Errorf("%s: exit code %d, %s%s\nwant %d and something about %q", tt.args, code, out, errs, tt.code, tt.says)
		}
		if strings.Contains(out+errs, "secret") {
			t.Errorf("%s: the password is told: %s%s", tt.args, out, errs)
		}
	}
}

func TestJSON(t *testing.T) {
	url, _ := table(t, broken)
	code, out, _ := run(t, "fsck", "--table", "suites", "--db", url, "--repair", "--apply", "--locks", "off", "--json")
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	want := []string{
		`{"type":"problem","problem":"orphan","tree":1,"id":4,"others":[99],"name":"x","is":"/x","want":null,"detail":"its parent 99 is missing"}`,
		`{"type":"problem","problem":"wrong-path","tree":1,"id":5,"name":"b","is":"/old/b","want":"/a/b","detail":"its path is wrong"}`,
		`{"type":"problem","problem":"duplicate","tree":1,"id":5,"others":[3],"name":"b","is":"/old/b","want":null,"detail":"its sibling 3 has the same name"}`,
		`{"type":"problem","problem":"mixed-prefix","tree":1,"id":2,"name":"a","is":"/a","want":null,"detail":"1 of its children carry another prefix than its path"}`,
		`{"type":"change","tx":1,"table":"suites","tree":1,"id":6,"insert":true,"column":"parent_id","old":null,"new":1,"why":"orphan"}`,
		`{"type":"change","tx":1,"table":"suites","tree":1,"id":6,"insert":true,"column":"name","old":null,"new":"lost+found","why":"orphan"}`,
		`{"type":"change","tx":1,"table":"suites","tree":1,"id":6,"insert":true,"column":"path","old":null,"new":"/lost+found","why":"orphan"}`,
		`{"type":"change","tx":1,"table":"suites","tree":1,"id":4,"column":"parent_id","old":99,"new":6,"why":"orphan"}`,
		`{"type":"change","tx":2,"table":"suites","tree":1,"id":5,"column":"name","old":"b","new":"b (2)","why":"duplicate"}`,
		`{"type":"change","tx":3,"table":"suites","tree":1,"id":4,"column":"path","old":"/x","new":"/lost+found/x","why":"wrong-path"}`,
		`{"type":"change","tx":3,"table":"suites","tree":1,"id":5,"column":"path","old":"/old/b","new":"/a/b (2)","why":"wrong-path"}`,
		`{"type":"summary","applied":true,"complete":true,"before":{"rows":5,"problems":{"duplicate":1,"mixed-prefix":1,"orphan":1,"wrong-path":1}},` +
			`"changes":7,"transactions":3,"after":{"rows":6,"problems":{}}}`,
	}
	if got := strings.Split(strings.TrimSpace(out), "\n"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", out, strings.Join(want, "\n"))
	}
}

// What a terminal would obey is shown, whether it is in a key, a name, a path, or what the database
// says.
func TestHostile(t *testing.T) {
	const hostile = "\x1b[2J\u009bk\u202e"
	url, db := table(t, sound)
	for _, statement := range []string{
		`CREATE TABLE texts (id TEXT PRIMARY KEY, plan_id TEXT, parent_id TEXT, name TEXT, path TEXT, deleted_at DATETIME, CHECK (path <> '/` + hostile + `2'))`,
		`INSERT INTO texts (id, plan_id, parent_id, name, path) VALUES ('` + hostile + `1', '` + hostile + `', NULL, '` + hostile + `', '` + hostile + `'),
			('` + hostile + `2', 'b', '` + hostile + `3', '` + hostile + `', '` + hostile + `')`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{}, {"--json"}, {"--repair"}, {"--repair", "--json"}, {"--repair", "--apply", "--locks", "off", "--to-top"}, {"--tree", hostile + "4"}, {"--parent", hostile},
	} {
		code, out, errs := run(t, append([]string{"fsck", "--table", "texts", "--db", url}, args...)...)
		if text := out + errs; strings.ContainsAny(text, "\x1b\u009b\u202e") || !strings.Contains(text, `[2J\u009bk\u202e`) {
			t.Errorf("%v: exit code %d, written %q", args, code, text)
		}
	}
}

// A repair that is killed leaves no file of its own behind, and one that is not needs none for
// wrong paths.
func TestTemporaryFiles(t *testing.T) {
	url, _ := table(t, many(1000))
	folder := t.TempDir()
	log := filepath.Join(t.TempDir(), "log")
	if err := syscall.Mkfifo(log, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, "fsck", "--table", "suites", "--repair", "--apply", "--locks", "off", "--batch", "20", "--db", url, "--log", log, "-q")
	cmd.Env = append(cmd.Env, "TMPDIR="+folder)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	if !bufio.NewScanner(pipe).Scan() { // it has begun to mend
		t.Error("no line is in the log")
	}
	_ = cmd.Process.Kill()
	_ = pipe.Close()
	_ = cmd.Wait()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 || cmd.ProcessState.ExitCode() >= 0 {
		t.Errorf("left behind: %v (%v), exit code %d", left, err, cmd.ProcessState.ExitCode())
	}
}

// Wrong paths are looked for again when all else has been mended: they are not kept in a file, for
// which there is no room here.
func TestWrongPathsNeedNoFile(t *testing.T) {
	url, _ := table(t, `VALUES (1, 1, NULL, '', ''), (2, 1, 1, 'a', '/wrong')`)
	cmd := program(t, "fsck", "--table", "suites", "--repair", "--apply", "--locks", "off", "--db", url)
	cmd.Env = append(cmd.Env, "TMPDIR="+filepath.Join(t.TempDir(), "none"))
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("exit code %d (%v): %s", cmd.ProcessState.ExitCode(), err, out)
	}
}

// Others who use the lock store are respected, and the log has everything.
func TestRedisLocksAndLog(t *testing.T) {
	server := testserver.Redis(t)
	store, err := redisstore.Open(server)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close(context.WithoutCancel(t.Context())) }()
	namespace := "fsck-" + filepath.Base(t.TempDir()) + fmt.Sprint(os.Getpid())
	tree, err := pathlock.NewTree(namespace, "1")
	if err != nil {
		t.Fatal(err)
	}
	lock, err := pathlock.New(store).Acquire(t.Context(), pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))}, Note: "an editor"})
	if err != nil {
		t.Fatal(err)
	}
	url, _ := table(t, broken)
	log := filepath.Join(t.TempDir(), "changes.jsonl")
	args := []string{"fsck", "--table", "suites", "--db", url, "--repair", "--apply", "--locks", server, "--namespace", namespace, "--wait", "50ms", "--log", log}
	if code, out, errs := run(t, args...); code != 4 || !strings.Contains(out, "skipped: tree 1: ") || !strings.Contains(out, `"an editor"`) {
		t.Errorf("while somebody edits: exit code %d, %s%s", code, out, errs)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := run(t, args...); code != 1 {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var last struct {
		Transaction int  `json:"tx"`
		Commit      bool `json:"commit"`
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || !last.Commit || last.Transaction != 3 {
		t.Errorf("the log ends with %s, want the commit of transaction 3", lines[len(lines)-1])
	}
}

// program returns the program as a process of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), childVariable+"=1")
	return cmd
}

// many are a root row and so many children with wrong paths, each tenth of them an orphan, and each hundredth a duplicate.
func many(n int) string {
	return fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i <= %d)
		SELECT 1, 1, NULL, '', '' UNION ALL
		SELECT i, 1, CASE WHEN i %% 10 = 0 THEN 100000 + i ELSE 1 END, CASE WHEN i %% 100 = 1 THEN 'same' ELSE 'n' || i END, 'wrong' FROM n`, n)
}

// dump returns the table as text.
func dump(t *testing.T, db *sql.DB) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT id || ' ' || COALESCE(parent_id, 0) || ' ' || name || ' ' || path FROM suites ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var text strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		text.WriteString(line + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// A repair that is killed, again and again, each time after some more transactions, leaves what one does that nobody killed.
func TestKilled(t *testing.T) {
	t.Run("paths that are all wrong", func(t *testing.T) { testKilled(t) })
	t.Run("each the path of the one before, under a unique index", func(t *testing.T) {
		testKilled(t, `UPDATE suites SET path = '/n' || (id - 1)`, `CREATE UNIQUE INDEX suites_one_path ON suites (plan_id, path)`)
	})
}

// testKilled does that with a table that is made so.
func testKilled(t *testing.T, statements ...string) {
	t.Helper()
	const n = 1000
	table := func() (string, *sql.DB) {
		url, db := table(t, many(n))
		for _, statement := range statements {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		return url, db
	}
	flags := []string{"fsck", "--table", "suites", "--repair", "--apply", "--locks", "off", "--batch", "20", "--log"}
	url, whole := table()
	if code, out, errs := run(t, append(flags, filepath.Join(t.TempDir(), "log"), "--db", url)...); code != 1 {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	url, pieces := table()
	kills := 0
	for commits := 1; ; commits += 2 {
		log := filepath.Join(t.TempDir(), "log")
		if err := syscall.Mkfifo(log, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := program(t, append(flags, log, "--db", url)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		pipe, err := os.Open(log) // the log is a pipe, so that it tells when a transaction is written and when it is committed
		if err != nil {
			t.Fatal(err)
		}
		left := commits
		for lines := bufio.NewScanner(pipe); lines.Scan(); {
			if !strings.Contains(lines.Text(), `"commit":true`) {
				continue
			}
			if left--; left == 0 {
				_ = cmd.Process.Kill()
			}
		}
		_ = pipe.Close()
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() >= 0 {
			if cmd.ProcessState.ExitCode() != 1 && cmd.ProcessState.ExitCode() != 0 {
				t.Fatalf("not killed, and %v", err)
			}
			break
		}
		kills++
	}
	if kills < 3 {
		t.Errorf("killed %d times only", kills)
	}
	if got, want := dump(t, pieces), dump(t, whole); got != want {
		t.Errorf("after %d kills\n%s\nwant\n%s", kills, got, want)
	}
}

// SIGINT ends a repair after the transaction that it is in.
func TestInterrupt(t *testing.T) {
	url, db := table(t, many(1000))
	log := filepath.Join(t.TempDir(), "log")
	if err := syscall.Mkfifo(log, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := program(t, "fsck", "--table", "suites", "--repair", "--apply", "--locks", "off", "--batch", "20", "--db", url, "--log", log, "-q")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pipe.Close() }()
	last, changes := "", 0
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		last = lines.Text()
		if changes++; changes == 30 { // in the middle of a transaction
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(last, `"commit":true`) || !strings.Contains(out.String(), "ended early") || !strings.Contains(errs.String(), "pathlock: interrupted") {
		t.Errorf("exit code %d, the log ends with %s: %s%s", code, last, &out, &errs)
	}
	if strings.Count(dump(t, db), "wrong") == 0 {
		t.Error("everything was mended: it was not interrupted")
	}
}
