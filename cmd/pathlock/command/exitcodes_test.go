package command_test

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// An exit code says what happened, a message says why, and no message has a password.
func TestExitCodes(t *testing.T) {
	soundURL, _ := table(t, sound)
	brokenURL, _ := table(t, broken)
	emptyURL, empty := table(t, `VALUES (1, 1, NULL, 'a', '/a')`)
	testerr.Must(t, testerr.Of(empty.ExecContext(t.Context(), `UPDATE suites SET deleted_at = '2026-01-01'`)))
	tests := []struct {
		args string
		code int
		says string
	}{
		{"fsck --help", 0, "130  interrupted"},
		{"watch --locks redis://127.0.0.1:1 ns/id", 8, "looking at ns/id: the lock store does not answer"},
		{"watch --locks redis://127.0.0.1:1 --interval 10ms", 16, "--interval must be 100ms or more"},
		{"ls --locks redis://:secret@127.0.0.1:1", 8, "the lock store does not answer"},
		{"ls --locks redis://:secret@127.0.0.1:1/x", 16, "--locks"},
		{"release --locks redis://:secret@127.0.0.1:1 ns/id ABC --reason x", 8, "the lock store does not answer"},
		{"doctor --locks redis://:secret@127.0.0.1:1", 8, "does not answer"},
		{"doctor --db mysql://root:secret@tcp(127.0.0.1:1)/x", 8, "the database does not answer"},
		{"ls --locks sqlite:///nowhere/x?timeout=1s", 8, "there is no file /nowhere/x-locks"},
		{"doctor", 16, "nothing to examine"},
		{"lock --locks redis://:secret@127.0.0.1:1 n -- true", 125, "the lock store does not answer"},
		{"elect --locks redis://:secret@127.0.0.1:1 n -- true", 125, "the lock store does not answer"},
		{"lock --locks redis://127.0.0.1:1 n -- no-such-program", 127, "no-such-program"},
		{"lock --locks redis://127.0.0.1:1 n -- /", 126, "is a directory"},
		{"lock --locks redis://127.0.0.1:1 n", 16, "no command: give it behind --"},
		{"lock --locks redis://127.0.0.1:1 n true", 16, "no command: give it behind --"},
		{"lock --locks redis://127.0.0.1:1 -- sudo true", 16, "give what is locked before --"},
		{"lock --locks redis://127.0.0.1:1 --tree ns/id n -- true", 16, "nothing but the command behind it"},
		{"elect --locks redis://127.0.0.1:1 -- sudo true", 16, "give what is locked before --"},
		{"lock --locks memory:// n -- true", 16, "shows its locks to no other program"},
		{"lock --locks redis://127.0.0.1:1 n --path /a -- true", 16, "--path is for --tree"},
		{"lock --locks redis://127.0.0.1:1 n --lease 6s -- true", 16, "--grace must be from 0 to half of --lease, and is 5s of 6s"},
		{"lock --locks redis://127.0.0.1:1", 16, "usage: the name of the lock, without --tree: "},
		{"lock --locks redis://127.0.0.1:1 n --wait=-1s -- true", 16, "--wait is negative"},
		{"lock --locks redis://127.0.0.1:1 --tree plan-001 -- true", 16, "has no namespace"},
		{"elect --locks redis://127.0.0.1:1 n --lease 5ms --grace 0 -- true", 16, "at least 10ms is needed"},
		{"doctor --locks redis://h --table x", 16, "--table without --db"},
		{"adopt --db sqlite://f --name x", 16, "--tree-column and --name need --table"},
		{"explain rename ns/id /a --new-name b/c", 16, "--new-name: "},
		{"explain gate ns/id /a", 16, "takes no path"},
		{"explain delete ns/id /", 16, "the root of a tree cannot be the target of a delete"},
		{"explain rename ns/id / --new-name b", 16, "the root of a tree cannot be the target of a rename"},
		{"explain move ns/id /a --to /a/b", 16, "cannot be moved below itself"},
		{"nonsense", 16, "nonsense"},
		{"fsck --table suites --db " + brokenURL, 4, `orphan: tree 1, row 4 "x": its parent 99 is missing`},
		{"fsck --table suites --repair --db " + brokenURL, 4, "nothing has been written"},
		{"fsck --table suites --apply --db " + brokenURL, 16, "--apply without --repair"},
		{"fsck --table suites --repair --apply --db " + brokenURL, 16, "--locks off"},
		{"fsck --table suites --repair --apply --locks nonsense:// --db " + brokenURL, 16, "scheme"},
		{"fsck --table suites --repair --apply --locks etcd://root:secret@127.0.0.1:1?timeout=100ms --db " + brokenURL, 8, "connection refused"},
		{"fsck --table suites --repair --apply --locks redis://:secret@127.0.0.1:1/0 --db " + brokenURL, 8, "the lock store does not answer"},
		{"fsck --table suites --id-path path --db " + brokenURL, 8, `the path column and the id path column are both "path"`},
		{"fsck --table nothing --db " + soundURL, 8, `table "nothing": `},
		{"fsck --table suites --parent father --db " + soundURL, 8, `table "suites": the parent column, "father": `},
		{"fsck --table suites --key plan_id --tree-column id --db " + brokenURL, 8, `the key column, "plan_id", has 1 in several rows`},
		{"fsck --table suites --tree 7 --db " + soundURL, 8, `no live row of "suites" has "7" as its "plan_id"`},
		{"fsck --table suites --tree 7 --single-tree 8 --db " + soundURL, 16, "--tree and --single-tree"},
		{"fsck --table suites --tree-column= --db " + soundURL, 8, "neither a tree column nor a single tree"},
		{"fsck --table suites --db " + emptyURL, 8, `"suites" has no live row (rows are deleted by "deleted_at")`},
		{"fsck --table suites --db mysql://root:secret@tcp(127.0.0.1:1)/x", 8, "connect to the database, which does not answer: "},
		{"fsck --table suites --db postgres://root:secret@127.0.0.1:1/x", 8, "`user=root database=x`: 127.0.0.1:1 "},
		{"doctor --db postgres://root:secret@127.0.0.1:1/x", 8, "the database does not answer: "},
		{"fsck --table suites --db sqlite:///no/such/file", 8, "no such file"},
		{"fsck --table suites --db " + brokenURL + "-missing", 8, "has a file that cannot be used"},
		{"doctor --db mysql://root:secret@tcp(127.0.0.1:3306)/", 16, "--db: sqlopen: the MySQL DSN names no database"},
		{"fsck --table suites mysql://root:secret@tcp(127.0.0.1:1)/x --db " + soundURL, 16, "unexpected argument"},
		{"fsck --table suites --database=mysql://root:secret@tcp(127.0.0.1:1)/x --db " + soundURL, 16, "unknown flag"},
		{"fsck --table suites --repair --apply --locks redis://:se/secret@127.0.0.1:1 --db " + brokenURL, 16, "--locks"},
		{"fsck --table suites --repair --apply --locks memory:// --db " + brokenURL, 16, "give off if no program"},
		{"fsck --table suites --deleted gone --db " + soundURL, 8, `the column of the deletion mark, "gone": no such column; name the columns by`},
		{"fsck --table suites --repair --apply --locks off --db " + brokenURL, 1, "0 problems left"},
		{"fsck --table suites --db " + brokenURL, 0, "6 rows, 0 problems"},
	}
	for _, tt := range tests {
		code, out, errs := run(t, strings.Fields(tt.args)...)
		if code != tt.code || !strings.Contains(out+errs, tt.says) {
			t.Errorf("%s: exit code %d, %s%s\nwant %d and something about %q", tt.args, code, out, errs, tt.code, tt.says)
		}
		if strings.Contains(out+errs, "secret") {
			t.Errorf("%s: the output contains the password: %s%s", tt.args, out, errs)
		}
	}
}
