package command_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/cmd/pathlock/command"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

const sound = `VALUES (1, 1, NULL, '', ''), (2, 1, 1, 'a', '/a'), (3, 1, 2, 'b', '/a/b')`

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
