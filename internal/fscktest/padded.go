package fscktest

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
)

// testPadded has columns of type CHAR(n), which databases pad with spaces. That is no damage. A
// session for which MySQL returns the spaces is refused.
func testPadded(t *testing.T, database Database) {
	char := "CHAR(40) " + database.Binary
	w := oddWorld(t, database, columnTypes{key: char, tree: char, name: char})
	w.db.SetMaxOpenConns(1)
	w.put(t, "1", "7", nil, "", "")
	w.put(t, "2", "7", "1", "a", "/a")
	w.put(t, "3", "7", "2", "b c", "/a/b c")
	w.put(t, "4", "7", "1", "lost+found", "/lost+found")
	if found := w.kinds(t); len(found) > 0 {
		t.Errorf("found %q in a sound table", found)
	}
	w.put(t, "5", "7", "99", "d", "/d")
	w.put(t, "6", "7", "2", "b c", "/wrong")
	w.repair(t, fsck.RepairOptions{})
	if _, summary := w.repair(t, fsck.RepairOptions{Apply: true, BatchRows: 1}); summary.After.Total() > 0 || summary.Before.Total() != 3 {
		t.Errorf("found %v, left %v", summary.Before.Problems, summary.After.Problems)
	}
	var paths []string
	rows := w.dump(t)
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		paths = append(paths, rows[id][strings.LastIndex(rows[id], ` "`)+1:])
	}
	if want := []string{`""`, `"/a"`, `"/a/b c"`, `"/lost+found"`, `"/lost+found/d"`, `"/a/b c (2)"`}; !slices.Equal(paths, want) {
		t.Errorf("the paths are\n%q, want\n%q", paths, want)
	}
	if database.Dialect == fsck.MySQL {
		w.exec(t, `SET SESSION sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'`)
		if _, err := fsck.New(t.Context(), w.db, w.Dialect, w.table); !errors.Is(err, fsck.ErrTable) {
			t.Errorf("error %v, want one that matches ErrTable", err)
		}
	}
}
