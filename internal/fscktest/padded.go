package fscktest

import (
	"errors"
	"maps"
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
	want := map[string]string{
		"1": `"7" NULL "" ""`, "2": `"7" "1" "a" "/a"`, "3": `"7" "2" "b c" "/a/b c"`, "4": `"7" "1" "lost+found" "/lost+found"`,
		"5": `"7" "4" "d" "/lost+found/d"`, "6": `"7" "2" "b c (2)" "/a/b c (2)"`,
	}
	got := make(map[string]string)
	for id, row := range w.dump(t) {
		got[strings.TrimRight(id, " ")] = unpadded(row)
	}
	if !maps.Equal(got, want) {
		t.Errorf("there are\n%q, want\n%q", got, want)
	}
	if database.Dialect == fsck.MySQL {
		w.exec(t, `SET SESSION sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'`)
		if _, err := fsck.New(t.Context(), w.db, w.Dialect, w.table); !errors.Is(err, fsck.ErrTable) {
			t.Errorf("error %v, want one that matches ErrTable", err)
		}
	}
}

// unpadded removes the spaces at the end of the values that dump returns for a row.
func unpadded(row string) string {
	values := strings.SplitAfter(row, `"`)
	for i, v := range values {
		if i%2 == 1 {
			values[i] = strings.TrimRight(strings.TrimSuffix(v, `"`), " ") + `"`
		}
	}
	return strings.Join(values, "")
}
