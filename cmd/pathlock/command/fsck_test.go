package command_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/cmd/pathlock/command"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

const (
	sound  = `VALUES (1, 1, NULL, '', ''), (2, 1, 1, 'a', '/a'), (3, 1, 2, 'b', '/a/b')`
	broken = sound + `, (4, 1, 99, 'x', '/x'), (5, 1, 2, 'b', '/old/b')`
)

func TestFsck_json(t *testing.T) {
	url, _ := table(t, broken)
	code, out, _ := run(t, "fsck", "--table", "suites", "--db", url, "--repair", "--apply", "--locks", "off", "--json")
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	want := []string{
		`{"type":"problem","problem":"orphan","tree":1,"id":4,"others":[99],"name":"x","is":"/x","want":null,"detail":"its parent 99 is missing"}`,
		`{"type":"problem","problem":"wrong-path","tree":1,"id":5,"name":"b","is":"/old/b","want":"/a/b","detail":"its path is wrong"}`,
		`{"type":"problem","problem":"duplicate","tree":1,"id":5,"others":[3],"name":"b","is":"/old/b","want":null,"detail":"its sibling 3 has the same name"}`,
		`{"type":"change","tx":1,"table":"suites","tree":1,"id":6,"insert":true,"column":"parent_id","old":null,"new":1,"why":"orphan"}`,
		`{"type":"change","tx":1,"table":"suites","tree":1,"id":6,"insert":true,"column":"name","old":null,"new":"lost+found","why":"orphan"}`,
		`{"type":"change","tx":1,"table":"suites","tree":1,"id":6,"insert":true,"column":"path","old":null,"new":"/lost+found","why":"orphan"}`,
		`{"type":"change","tx":1,"table":"suites","tree":1,"id":4,"column":"parent_id","old":99,"new":6,"why":"orphan"}`,
		`{"type":"change","tx":1,"table":"suites","tree":1,"id":5,"column":"name","old":"b","new":"b (2)","why":"duplicate"}`,
		`{"type":"change","tx":2,"table":"suites","tree":1,"id":4,"column":"path","old":"/x","new":"/lost+found/x","why":"wrong-path"}`,
		`{"type":"change","tx":2,"table":"suites","tree":1,"id":5,"column":"path","old":"/old/b","new":"/a/b (2)","why":"wrong-path"}`,
		`{"type":"summary","applied":true,"complete":true,"before":{"rows":5,"problems":{"duplicate":1,"orphan":1,"wrong-path":1}},` +
			`"changes":7,"transactions":2,"after":{"rows":6,"problems":{}}}`,
	}
	if got := strings.Split(strings.TrimSpace(out), "\n"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", out, strings.Join(want, "\n"))
	}
}

// The output escapes what a terminal would interpret, in a key, a name, a path, or the database's
// message.
func TestFsck_escapesHostileTexts(t *testing.T) {
	const hostile = "\x1b[2J\u009bk\u202e"
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
		if text := out + errs; strings.ContainsAny(text, "\x1b\u009b\u202e") || !strings.Contains(text, `[2J\u009bk\u202e`) {
			t.Errorf("%v: exit code %d, written %q", args, code, text)
		}
	}
}

// A repair waits for the locks of other programs, and its log is complete. The locks may be named
// by the file with the table.
func TestFsck_locksAndLog(t *testing.T) {
	url, _ := table(t, broken)
	locker := opened(t, url)
	tree := must(pathlock.NewTree("fsck", "1"))
	lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))}, Note: "an editor"})
	testerr.Must(t, err)
	log := filepath.Join(t.TempDir(), "changes.jsonl")
	args := []string{"fsck", "--table", "suites", "--db", url, "--repair", "--apply", "--locks", url, "--namespace", "fsck", "--wait", "50ms", "--log", log}
	if code, out, errs := run(t, args...); code != 4 || !strings.Contains(out, "skipped: tree 1: ") || !strings.Contains(out, `"an editor"`) {
		t.Errorf("while somebody edits: exit code %d, %s%s", code, out, errs)
	}
	testerr.Must(t, lock.Release(t.Context()))
	if code, out, errs := run(t, args...); code != 1 {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	if trees, err := locker.Trees(t.Context()); err != nil || len(trees) > 0 {
		t.Errorf("afterwards, %v are held (%v)", trees, err)
	}
	text, err := os.ReadFile(log)
	testerr.Must(t, err)
	if lines := strings.Split(strings.TrimSpace(string(text)), "\n"); lines[len(lines)-1] != `{"tx":2,"commit":true}` {
		t.Errorf("the log ends with %s, want the commit of transaction 2", lines[len(lines)-1])
	}
}

// Tables whose rows carry the paths of the rows above are checked and repaired along with these.
func TestFsck_leaves(t *testing.T) {
	url, db := table(t, broken)
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE files (id INTEGER PRIMARY KEY, folder INT, name TEXT, place TEXT);
		INSERT INTO files VALUES (3, 3, 'x', '/a/b/'), (5, 5, 'y', '/old/b/')`); err != nil {
		t.Fatal(err)
	}
	const files = "files?parent=folder&path=place&path-form=parent:/*/*/"
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--leaves", "files?parent=folder&way=place"}, 16, "way is not known"},
		{[]string{"--leaves", files, "--repair", "--apply", "--locks", "off"}, 1, `change: tree 1, row 5 of files, place: "/old/b/" -> "/a/b (2)/" (wrong-path)`},
	} {
		code, out, errs := run(t, append([]string{"fsck", "--table", "suites", "--db", url}, c.args...)...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%q: exit code %d, want %d, and %q in\n%s%s", c.args, code, c.code, c.want, out, errs)
		}
	}
}

// A server that takes connections and says nothing is given up.
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

// A repair for which the lock store is not there says so, as every other command does.
func TestFsck_SaysThatTheLockStoreIsAway(t *testing.T) {
	url, _ := table(t, broken)
	for _, locks := range []string{"redis://127.0.0.1:1/0", "etcd://user:hidden@127.0.0.1:1?timeout=500ms"} {
		code, out, errs := run(t, "fsck", "--table", "suites", "--db", url, "--repair", "--apply", "--locks", locks)
		if code != 8 || !strings.Contains(errs, "the lock store does not answer") || !strings.Contains(errs, "connection refused") || strings.Contains(errs, "hidden") {
			t.Errorf("%s: exit code %d: %s%s", locks, code, out, errs)
		}
	}
}

// A repair under locks that are not those of the programs on the database changes nothing, and
// says where theirs are.
func TestFsck_RefusesOtherLocks(t *testing.T) {
	url, db := table(t, broken)
	id, err := opened(t, url).StoreID(t.Context())
	testerr.Must(t, err)
	for _, statement := range []string{
		"CREATE TABLE pathlock_stores (guarded VARCHAR(191) PRIMARY KEY, namespace VARCHAR(255), store VARCHAR(64))",
		"INSERT INTO pathlock_stores VALUES ('suites', 'testplan', 'ABCDEFGH of 2026-01-01')",
	} {
		testerr.Must(t, testerr.Of(db.ExecContext(t.Context(), statement)))
	}
	args := []string{"fsck", "--table", "suites", "--db", url, "--repair", "--apply", "--locks", url}
	refused := func(args []string, says ...string) {
		t.Helper()
		code, out, errs := run(t, args...)
		for _, part := range says {
			if code != 8 || out != "" || !strings.Contains(errs, part) {
				t.Errorf("exit code %d, want 8 and %q: %s%s", code, part, out, errs)
			}
		}
	}
	refused(append(args, "--namespace", "testplan"), "ABCDEFGH of 2026-01-01", id)
	testerr.Must(t, testerr.Of(db.ExecContext(t.Context(), "UPDATE pathlock_stores SET store = ?", id)))
	refused(args, "namespace testplan", "suites")
	if code, out, errs := run(t, append(args, "--namespace", "testplan")...); code != 1 {
		t.Errorf("exit code %d, want 1: %s%s", code, out, errs)
	}
}
