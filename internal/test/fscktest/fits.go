package fscktest

import (
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
)

// testFits renames a row with a long path below it.
func testFits(t *testing.T, database Database) {
	if database.Dialect == fsck.SQLite {
		t.Skip("columns have no length")
	}
	w := newWorld(t, database, schema{leaves: true})
	w.insert(t, Node{1, 1, 0, "a", "/a", "/1", false}, Node{2, 1, 0, long(40), "/" + long(40), "/2", false}, Node{3, 1, 0, long(38), "/" + long(38), "/3", false}, Node{4, 1, 0, long(38), "/" + long(38), "/4", false})
	path, ids := "/"+long(38), "/4"
	for id := 5; id <= 8; id++ { // 4 * 39 and 1 + 38 are 195 of 200
		path, ids = path+"/"+long(38), fmt.Sprint(ids, "/", id)
		w.insert(t, Node{id, 1, id - 1, long(38), path, ids, false})
	}
	w.insert(t, Node{9, 1, 8, "abcd", path + "/abcd", ids + "/9", false}) // 200
	if _, summary := w.repair(t, fsck.RepairOptions{Apply: true}); summary.After.Total() > 0 {
		t.Errorf("left: %v", summary.After.Problems)
	}
	if got, want := w.rows(t)[4].Name, long(34)+" (2)"; got != want {
		t.Errorf("the row is renamed %q, want %q", got, want)
	}
}
