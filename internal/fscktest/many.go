package fscktest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
)

// testMany plans the repair of many rows with one kind of damage: what it costs grows with the
// rows, and not with their square.
func testMany(t *testing.T, database Database) {
	if database.Dialect != fsck.SQLite {
		t.Skip("the plan is the same on each database")
	}
	for what, node := range map[string]func(i int) Node{
		"siblings of one name": func(i int) Node { return Node{ID: i, Tree: 1, Parent: 1, Name: "x", Path: "/x"} },
		"names that share a stem": func(i int) Node {
			return Node{ID: i, Tree: 1, Parent: 1, Name: fmt.Sprint(strings.Repeat("x", pathlock.MaxNameBytes-6), i/2)}
		},
		"orphans of one parent":       func(i int) Node { return Node{ID: i, Tree: 1, Parent: 1000000, Name: "x", Path: "/x"} },
		"names that no path can have": func(i int) Node { return Node{ID: i, Tree: 1, Parent: 1, Name: "x/", Path: "/x"} },
		"cycles":                      func(i int) Node { return Node{ID: i, Tree: 1, Parent: i ^ 1, Name: "x", Path: "/x"} },
		"rows beside a root row":      func(i int) Node { return Node{ID: i, Tree: 1, Name: "x", Path: "/x"} },
	} {
		t.Run(what, func(t *testing.T) {
			took := func(n int) time.Duration {
				w := newWorld(t, database, schema{})
				nodes := []Node{{ID: 1, Tree: 1}}
				for i := 2; i < n; i++ {
					nodes = append(nodes, node(i))
				}
				w.insert(t, nodes...)
				begun := time.Now()
				if _, dry := w.repair(t, fsck.RepairOptions{AllowMoves: true}); dry.After.Total() > 0 {
					t.Errorf("%d rows: left are %v", n, dry.After.Problems)
				}
				return time.Since(begun)
			}
			few, many := took(2000), took(16000)
			for try := 1; try < 5 && many > 30*few; try++ { // the machine may have had other work
				few, many = max(few, took(2000)), min(many, took(16000))
			}
			if many > 30*few {
				t.Errorf("2,000 rows take %v, 16,000 take %v: more than 30 times as much", few, many)
			}
		})
	}
}

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
