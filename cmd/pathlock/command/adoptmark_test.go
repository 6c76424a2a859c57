package command_test

import (
	"fmt"
	"strings"
	"testing"
)

// markCases are columns with what they hold in two live rows and in a deleted one. Each is known
// for a mark by its name, or stated by flags, if flags are wanted; says is a part of the output.
var markCases = []struct{ column, live, deleted, stated, flags, says string }{
	{"is_deleted CHAR(1) DEFAULT 'N'", "'N'", "'Y'", "", "--deleted is_deleted --deleted-when Y", `pathlock:"deleted,when:Y"`},
	{"del_flag VARCHAR(5)", "'No'", "'No'", "", "--deleted del_flag --deleted-when Yes", ""},
	{"deleted VARCHAR(5)", "'FALSE'", "'TRUE'", "", "--deleted deleted --deleted-when TRUE", ""},
	{"is_trashed SMALLINT NOT NULL", "0", "1", "", "--deleted is_trashed", "gormplugin.Delete remove rows for good"},
	{"trashed BOOLEAN NOT NULL", "false", "true", "", "--deleted trashed", `pathlock:"deleted"`},
	{"is_removed INTEGER", "NULL", "1", "", "--deleted is_removed", `pathlock:"deleted"`},
	{"is_gone SMALLINT NULL", "NULL", "1", "--deleted is_gone", "--deleted is_gone", " AND ("},
	{"trashed BOOLEAN", "NULL", "true", "", "--deleted trashed", " AND ("},
	{"deleted_at BIGINT NULL", "NULL", "9", "", "", `pathlock:"deleted"`},
	{"deleted_at TIMESTAMP NOT NULL", "'1980-01-01 00:00:00'", "'2001-01-01 00:00:00'", "", "", "if deleted_at marks deleted rows by a time: this is not supported"},
	{"removed_at TIMESTAMP NULL", "NULL", "'2001-01-01 00:00:00'", "", "--deleted removed_at", "Delete also deletes the rows below"},
	{"del CHAR(1)", "'0'", "'1'", "", "--deleted del", `pathlock:"deleted"`},
	{"status VARCHAR(9)", "'live'", "'trashed'", "", "--deleted status --deleted-when trashed", ""},
	{"del_flag INTEGER", "1", "2", "", "", "if del_flag (1, 2) marks deleted rows, give --deleted del_flag --deleted-when VALUE"},
	{"state INTEGER NOT NULL", "1", "-1", "", "", "if state (-1, 1) marks deleted rows, give --deleted state --deleted-when VALUE"},
	{"state INTEGER NOT NULL", "1", "-1", "--deleted state --deleted-when=-1", "--deleted state --deleted-when=-1", `pathlock:"deleted,when:-1"`},
	{"is_archived BOOLEAN", "false", "true", "", "", "marks deleted rows, give --deleted is_archived to"},
	{"is_active CHAR(1)", "'Y'", "'N'", "", "", "if is_active (N, Y) marks deleted rows, give --deleted is_active --deleted-when VALUE"},
	{"is_active SMALLINT", "1", "0", "", "", "if is_active (0, 1) marks deleted rows by 0: this is not supported"},
	{"shelf VARCHAR(9)", "'a'", "'bin'", "--deleted shelf --deleted-when bin", "--deleted shelf --deleted-when bin", "deleted      shelf, when:bin"},
	{"is_deleted CHAR(1)", "'N'", "'Y'", "--deleted=", "", "Delete also deletes the rows below"},
	{"shelf VARCHAR(9)", "'a'", "'bin'", "--deleted shelf", "error", "give the value that deleted rows have"},
	{"state INTEGER", "1", "0", "--deleted state --deleted-when 0", "error", "cannot be the value of state in deleted rows"},
	{"is_active BOOLEAN", "true", "false", "--deleted is_active --deleted-when false", "error", "is_active"},
}

// Rows marked as deleted may break every law. With the mark that adopt names, and its statements,
// fsck finds nothing.
func TestAdopt_marks(t *testing.T) {
	eachEmpty(t, func(t *testing.T, tr trial) {
		for _, c := range markCases {
			tr.exec(t, "DROP TABLE IF EXISTS folders")
			tr.exec(t, fmt.Sprintf("CREATE TABLE folders (id INTEGER PRIMARY KEY, parent_id INTEGER, name VARCHAR(50) NOT NULL, path VARCHAR(200) NOT NULL, %s)", c.column))
			tr.exec(t, strings.NewReplacer("LIVE", c.live, "GONE", c.deleted).Replace("INSERT INTO folders"+
				" VALUES (1, NULL, 'a', '/a', LIVE), (2, 1, 'b', '/a/b', LIVE), (3, 2, 'c', '/a/b/c', LIVE), (4, 1, 'd', '/a/d', LIVE), (5, 4, 'e', '/a/d/e', GONE)"))
			args := append([]string{"adopt", "--db", tr.url, "--table", "folders"}, strings.Fields(c.stated)...)
			code, out, errs := run(t, args...)
			fails := c.flags == "error"
			if !strings.Contains(out+errs, c.says) || (code == 0) == fails {
				t.Errorf("%v: exit code %d, want it to say %q: %s%s", c, code, c.says, out, errs)
			}
			if fails {
				continue
			}
			tree := tr.adopt(t, args[3:]...).Trees[0]
			_, flags, _ := strings.Cut(tree.Fsck, "--deleted")
			if want := strings.Replace(c.flags+" ", "--deleted", "", 1); strings.TrimSpace(strings.TrimPrefix(flags, "=")) != strings.TrimSpace(want) {
				t.Errorf("%v: got %s", c, tree.Fsck)
			}
			for _, s := range tree.Statements {
				tr.exec(t, s.SQL)
			}
			if code, out, errs := run(t, append([]string{"fsck", "--db", tr.url}, strings.Fields(tree.Fsck)...)...); code != 0 {
				t.Errorf("%v: fsck %s: %s%s", c, tree.Fsck, out, errs)
			}
			if again := tr.adopt(t, args[3:]...).Trees[0]; len(again.Statements) > 0 {
				t.Errorf("%v: there is still %v", c, again.Statements)
			}
		}
	})
}
