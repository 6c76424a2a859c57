package fscktest

import (
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// testMeanwhile changes the tree between the check that finds a problem and the repair of it. What
// the repair writes has to follow from the current rows.
func testMeanwhile(t *testing.T, database Database) {
	tests := []struct {
		what string
		rows []Node
		// phase is when the change happens.
		phase string
		sql   []string
		// want is what becomes of row 5.
		want string
	}{
		{
			what: "an ancestor of a wrong path is renamed", phase: "mend: paths",
			rows: with(Node{5, 1, 4, "x", "/wrong", "/1/4/5", false}),
			sql:  []string{`UPDATE suites SET name = 'd', path = '/d' WHERE id = 4`},
			want: "/d/x",
		},
		{
			what: "an orphan is given a parent", phase: "mend: bad-name",
			rows: with(Node{5, 1, 99, "x", "/x", "/1/5", false}, Node{6, 1, 1, "..", "/..", "/1/6", false}),
			sql:  []string{`UPDATE suites SET parent_id = 4, path = '/c/x', id_path = '/1/4/5' WHERE id = 5`},
			want: "/c/x",
		},
		{
			what: "a duplicate is renamed", phase: "mend: bad-name",
			rows: with(Node{5, 1, 1, "a", "/a", "/1/5", false}, Node{6, 1, 1, "..", "/..", "/1/6", false}),
			sql:  []string{`UPDATE suites SET name = 'e', path = '/e' WHERE id = 5`},
			want: "/e",
		},
		{
			what: "a cycle is broken", phase: "mend: bad-name",
			rows: with(Node{5, 1, 6, "x", "", "", false}, Node{6, 1, 5, "..", "/..", "/1/6", false}),
			sql:  []string{`UPDATE suites SET parent_id = 4 WHERE id = 5`},
			want: "/c/x",
		},
		{
			what: "an orphan is deleted", phase: "mend: bad-name",
			rows: with(Node{5, 1, 99, "x", "/x", "/1/5", false}, Node{6, 1, 1, "..", "/..", "/1/6", false}),
			sql:  []string{`DELETE FROM suites WHERE id = 5`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			w := newWorld(t, database, schema{})
			w.insert(t, tt.rows...)
			changed := false
			_, err := w.checker(t).Repair(t.Context(), fsck.RepairOptions{Apply: true, Progress: func(phase string, _, _ int64) {
				if phase != tt.phase || changed {
					return
				}
				changed = true
				for _, statement := range tt.sql {
					w.exec(t, statement)
				}
			}})
			if err != nil {
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

// testGate repairs a tree in which an editor holds a lock, and again after the editor has released
// it.
func testGate(t *testing.T, database Database) {
	w := newWorld(t, database, schema{})
	w.insert(t, with(Node{5, 1, 4, "x", "/wrong", "/1/4/5", false})...)
	locker, release := editor(t, "/c")
	opts := fsck.RepairOptions{Apply: true, Locker: locker, Wait: pathlock.NoWait}
	w.skipsOne(t, opts, "tree 1: ", "an editor")
	if path := w.rows(t)[5].Path; path != "/wrong" {
		t.Errorf("path %q: changed without the gate", path)
	}
	release()
	if _, err := w.checker(t).Repair(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	w.sound(t, w.rows(t))
	if trees, err := locker.Trees(t.Context()); err != nil || len(trees) > 0 {
		t.Errorf("held afterwards: %v (%v)", trees, err)
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
