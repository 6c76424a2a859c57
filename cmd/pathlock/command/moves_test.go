package command_test

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// A row whose path has gone stale takes all that is below it back to the top.
func TestFsck_movesASubtreeAsOne(t *testing.T) {
	url, db := table(t, `WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
		SELECT 1, 1, 0, 'a', '/old/a' UNION ALL SELECT i, 1, 1, 'n' || i, '/old/a/n' || i FROM n`)
	if code, out, errs := run(t, "fsck", "--table", "suites", "--db", url, "--repair", "--apply", "--locks", "off"); code != 1 {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	var wrong int
	if err := db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM suites AS s LEFT JOIN suites AS p ON p.id = s.parent_id WHERE s.path <> COALESCE(p.path, '') || '/' || s.name`).Scan(&wrong); err != nil || wrong > 0 {
		t.Errorf("%d paths are wrong: %v", wrong, err)
	}
}

// A parent column that nobody has filled flattens no tree, and neither does one with other keys.
func TestFsck_refusesToMoveMostRows(t *testing.T) {
	for _, c := range []struct{ rows, says string }{
		{`VALUES (1, 1, 0, 'a', '/a'), (2, 1, 0, 'b', '/a/b'), (3, 1, 0, 'c', '/a/b/c')`, `2 of 3 rows would move below lost+found or up; --apply refuses that without --allow-moves: no row has a parent in "parent_id"`},
		{`WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
			SELECT 1, 1, 0, 'a', '/a' UNION ALL SELECT i, 1, i + 100, 'n' || i, '/a/n' || i FROM n`, `19 of 20 rows would move`},
	} {
		url, db := table(t, c.rows)
		args := []string{"fsck", "--table", "suites", "--db", url, "--repair"}
		if code, out, errs := run(t, append(args, "-q")...); code != 4 || !strings.HasPrefix(out, c.says) || !strings.Contains(out, "--apply refuses that") {
			t.Errorf("a dry run: exit code %d, %s%s, want first %q", code, out, errs, c.says)
		}
		args = append(args, "--apply", "--locks", "off")
		moved := func() (n int) {
			testerr.Must(t, db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM suites WHERE path NOT LIKE '/a%'`).Scan(&n))
			return n
		}
		if code, out, errs := run(t, args...); code != 8 || !strings.Contains(errs, "--allow-moves") || moved() > 0 {
			t.Errorf("exit code %d, %d rows moved, %s%s", code, moved(), out, errs)
		}
		if code, out, errs := run(t, append(args, "--allow-moves")...); code != 1 || moved() == 0 {
			t.Errorf("with --allow-moves: exit code %d, %d rows moved, %s%s", code, moved(), out, errs)
		}
	}
}
