package fscktest

import (
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/store/memstore"
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
			"a duplicate is renamed", Node{5, 1, 1, "a", "/a", "/1/5", false},
			`UPDATE suites SET name = 'e', path = '/e' WHERE id = 5`, "/e",
		},
		{"a cycle is broken", Node{5, 1, 6, "x", "", "", false}, `UPDATE suites SET parent_id = 4 WHERE id = 5`, "/c/x"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			w := newWorld(t, database, schema{})
			six := Node{6, 1, 1, "..", "/..", "/1/6", false}
			if tt.row.Parent == 6 {
				six.Parent = 5
			}
			w.insert(t, with(tt.row, six)...)
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

// editor returns a locker under which an editor has locked a path of tree 1, and what releases the
// lock.
func editor(t *testing.T, path string) (locker *pathlock.Locker, release func()) {
	t.Helper()
	locker = pathlock.New(memstore.New())
	tree, err := pathlock.NewTree("suites", "1")
	if err != nil {
		t.Fatal(err)
	}
	lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath(path))}, Note: "an editor"})
	if err != nil {
		t.Fatal(err)
	}
	return locker, func() {
		if err := lock.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
