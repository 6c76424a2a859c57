package fscktest

import (
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
)

// testMeanwhile changes the tree between the check that finds a problem and the repair of it, after
// the bad name of row 6 is mended. What the repair writes has to follow from the current rows.
func testMeanwhile(t *testing.T, database Database) {
	for _, tt := range []struct {
		what string
		row  Node
		sql  string
		// want is what becomes of row 5.
		want string
	}{
		{
			"an ancestor of a wrong path is renamed", Node{5, 1, 4, "x", "/wrong", "/1/4/5", false},
			`UPDATE suites SET name = 'd', path = '/d' WHERE id = 4`, "/d/x",
		},
		{
			"an orphan is given a parent", Node{5, 1, 99, "x", "/x", "/1/5", false},
			`UPDATE suites SET parent_id = 4, path = '/c/x', id_path = '/1/4/5' WHERE id = 5`, "/c/x",
		},
		{
			"the twin of a duplicate is renamed", Node{5, 1, 1, "a", "/a", "/1/5", false},
			`UPDATE suites SET name = 'e', path = '/e' WHERE id = 2`, "/a",
		},
	} {
		t.Run(tt.what, func(t *testing.T) {
			w := newWorld(t, database, schema{})
			w.insert(t, with(tt.row, Node{6, 1, 1, "..", "/..", "/1/6", false})...)
			changed := false
			if _, err := w.checker(t).Repair(t.Context(), fsck.RepairOptions{Apply: true, BatchRows: 1, Changed: func(fsck.Change) error {
				if !changed {
					changed = true
					w.exec(t, tt.sql)
				}
				return nil
			}}); err != nil {
				t.Fatal(err)
			}
			rows := w.rows(t)
			if rows[5].Path != tt.want || !changed {
				t.Errorf("row 5 has path %q, want %q", rows[5].Path, tt.want)
			}
			w.sound(t, rows)
		})
	}
}
