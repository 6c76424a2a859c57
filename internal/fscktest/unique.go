package fscktest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
)

// testUnique repairs tables whose unique indexes allow the outcome, but not every state on the way.
func testUnique(t *testing.T, database Database) {
	for _, tt := range []struct {
		what string
		rows []Node
		// lowered adds a unique index over siblings' names in lower case, though the column's
		// collation heeds case.
		lowered bool
		want    map[int]string
	}{
		{
			what: "siblings that have each other's path",
			rows: with(Node{5, 1, 4, "x", "/c/y", "/1/4/6", false}, Node{6, 1, 4, "y", "/c/x", "/1/4/5", false}, Node{7, 1, 6, "z", "/c/y/z", "/1/4/6/7", false}),
			want: map[int]string{5: "/c/x", 6: "/c/y", 7: "/c/y/z"},
		},
		{
			what: "a row that has the path of the lost+found to be created", rows: with(
				Node{5, 1, 1, "e", "/lost+found", "/1/5", false}, Node{6, 1, 99, "x", "/x", "/1/6", false}, Node{7, 1, 1, "g", "/lost+found/x", "", false}),
			want: map[int]string{5: "/e", 6: "/lost+found/x", 7: "/g"},
		},
		{
			what: "rows at the top beside the root row, one with a sibling's path",
			rows: with(Node{5, 1, 0, "x", "/y", "/5", false}, Node{6, 1, 1, "y", "/x", "/6", false}, Node{7, 1, 0, "a", "/z", "/7", false}),
			want: map[int]string{1: "", 2: "/a", 5: "/x", 6: "/y", 7: "/a (2)"},
		},
		{
			what: "orphans whose names an index holds equal, and the collation does not", lowered: true,
			rows: with(Node{5, 1, 99, "X", "/X", "/1/5", false}, Node{6, 1, 98, "x", "/x", "/1/6", false}, Node{7, 1, 97, "X", "/3", "/1/7", false}),
			want: map[int]string{5: "/lost+found/X", 6: "/lost+found/x (2)", 7: "/lost+found/X (3)"},
		},
		{
			what: "a lost+found beside a row that an index holds equal", lowered: true,
			rows: with(Node{5, 1, 1, "Lost+Found", "/Lost+Found", "/1/5", false}, Node{6, 1, 98, "x", "/x", "/1/6", false}),
			want: map[int]string{5: "/Lost+Found", 6: "/lost+found (2)/x"},
		},
		{
			what: "a bad name whose mended one an index refuses", lowered: true,
			rows: with(Node{5, 1, 1, "A_b", "/A_b", "/1/5", false}, Node{6, 1, 1, "a/b", "/a/b/", "/1/6", false}),
			want: map[int]string{5: "/A_b", 6: "/a_b (2)"},
		},
	} {
		t.Run(tt.what, func(t *testing.T) {
			for _, batch := range []int{1, 2, 500} {
				w := uniqueWorld(t, database, tt.rows, tt.lowered)
				planned, _ := w.repair(t, fsck.RepairOptions{})
				done, summary := w.repair(t, fsck.RepairOptions{Apply: true, BatchRows: batch})
				rows := w.rows(t)
				w.sound(t, rows)
				if summary.After.Total() > 0 {
					t.Errorf("left: %v", summary.After.Problems)
				}
				for id, want := range tt.want {
					if rows[id].Path != want {
						t.Errorf("in batches of %d, row %d gets %q, want %q", batch, id, rows[id].Path, want)
					}
				}
				if planned, done := values(planned), values(done); !tt.lowered && !maps.Equal(planned, done) {
					t.Errorf("planned, and done:\n%s", difference(planned, done))
				}
				if again, _ := w.repair(t, fsck.RepairOptions{Apply: true}); len(again) > 0 {
					t.Errorf("a second repair changed %v", again)
				}
			}
		})
	}
	t.Run("a kill leaves no path put aside", func(t *testing.T) { testUniqueInterrupted(t, database) })
	t.Run("a path that a deleted row has", func(t *testing.T) {
		w := uniqueWorld(t, database, with(Node{5, 1, 1, "x", "/wrong", "/1/5", false}, Node{6, 1, 1, "y", "/x", "/1/6", true}), false)
		w.skipsOne(t, fsck.RepairOptions{}, "row 5")
	})
	t.Run("a constraint that is checked at the commit", func(t *testing.T) {
		if database.Dialect != fsck.PostgreSQL {
			t.Skip("there are none here")
		}
		w := newWorld(t, database, schema{})
		w.exec(t, `ALTER TABLE suites ADD CONSTRAINT suites_one_path UNIQUE (plan_id, path) DEFERRABLE INITIALLY DEFERRED`)
		w.insert(t, with(Node{5, 1, 4, "x", "/c/y", "/1/4/5", false}, Node{6, 1, 4, "y", "/c/x", "/1/4/6", false})...)
		w.repair(t, fsck.RepairOptions{Apply: true, BatchRows: 1})
		w.sound(t, w.rows(t))
	})
	t.Run("a path that the index treats as equal to a right one", func(t *testing.T) {
		w := newWorld(t, database, schema{})
		switch database.Dialect {
		case fsck.MySQL:
			w.exec(t, `ALTER TABLE suites MODIFY path VARCHAR(200) `+database.Loose)
		case fsck.PostgreSQL:
			w.exec(t, `ALTER TABLE suites ALTER path TYPE VARCHAR(200) `+database.Loose)
		default:
			t.Skip("a column's collation cannot be changed")
		}
		w.exec(t, `CREATE UNIQUE INDEX suites_one_path ON suites (plan_id, path)`)
		w.insert(t, with(Node{5, 1, 1, "A", "/wrong", "/1/5", false})...)
		w.skipsOne(t, fsck.RepairOptions{}, "row 5")
		if path := w.rows(t)[2].Path; path != "/a" {
			t.Errorf("row 2 had the right path, and was given %q", path)
		}
	})
	t.Run("an index that no name and no path helps against", func(t *testing.T) {
		w := uniqueWorld(t, database, with(Node{5, 1, 99, "x", "/x", "/1/5", false}), false)
		w.exec(t, `UPDATE suites SET version = id`)
		w.exec(t, `CREATE UNIQUE INDEX suites_one_child ON suites (plan_id, parent_id, version)`)
		if _, err := w.checker(t).Repair(t.Context(), fsck.RepairOptions{Apply: true}); err != nil {
			t.Fatal(err)
		}
		w.sound(t, w.rows(t))
		w.exec(t, `INSERT INTO suites (id, plan_id, parent_id, name, path, id_path, version) VALUES (8, 1, 98, 'z', '/z', '/1/8', 5)`)
		w.skipsOne(t, fsck.RepairOptions{}, "row 8 (orphan)", "refused with 100 names") // the lost+found has a row of version 5
	})
}

// uniqueWorld creates a table with unique indexes over names and paths.
func uniqueWorld(t *testing.T, database Database, rows []Node, lowered bool) *world {
	t.Helper()
	w := newWorld(t, database, schema{unique: true})
	w.exec(t, `CREATE UNIQUE INDEX suites_one_path ON suites (plan_id, path)`)
	w.exec(t, `CREATE UNIQUE INDEX suites_one_id_path ON suites (plan_id, id_path)`)
	if lowered {
		column := "lowered VARCHAR(40) GENERATED ALWAYS AS (LOWER(name)) STORED"
		if database.Dialect == fsck.SQLite {
			column = "lowered TEXT GENERATED ALWAYS AS (LOWER(name)) VIRTUAL" // SQLite cannot add a stored one
		}
		w.exec(t, `ALTER TABLE suites ADD COLUMN `+column)
		w.exec(t, `CREATE UNIQUE INDEX suites_lowered ON suites (plan_id, parent_id, lowered)`)
	}
	w.insert(t, rows...)
	return w
}

// testUniqueInterrupted shuffles the paths of a tree, and ends repairs at random points, until one
// completes.
func testUniqueInterrupted(t *testing.T, database Database) {
	eachSeed(t, 2, func(t *testing.T, random *rand.Rand) {
		nodes := shuffled(random, 30)
		w := uniqueWorld(t, database, nodes, false)
		replayed, interruptions := w.repairInPieces(t, random)
		got := w.rows(t)
		w.sound(t, got)
		for _, n := range nodes {
			if got[n.ID].Name != n.Name || got[n.ID].Parent != n.Parent {
				t.Errorf("row %d was moved or renamed: %v", n.ID, got[n.ID])
			}
		}
		if !maps.Equal(replayed, got) {
			t.Errorf("what the logs say, and what the table has:\n%s", difference(replayed, got))
		}
		if interruptions == 0 {
			t.Error("no repair was interrupted")
		}
	})
}

// shuffled returns a tree in which only the paths are wrong: each row has the path of some row.
func shuffled(random *rand.Rand, size int) []Node {
	nodes := []Node{{ID: 1, Tree: 1, IDPath: "/1"}}
	for id := 2; id <= size; id++ {
		above := nodes[random.IntN(len(nodes))]
		name := fmt.Sprintf("n%d", id)
		nodes = append(nodes, Node{ID: id, Tree: 1, Parent: above.ID, Name: name, Path: above.Path + "/" + name, IDPath: fmt.Sprintf("%s/%d", above.IDPath, id)})
	}
	random.Shuffle(size, func(i, j int) { nodes[i].Path, nodes[j].Path = nodes[j].Path, nodes[i].Path })
	random.Shuffle(size, func(i, j int) { nodes[i].IDPath, nodes[j].IDPath = nodes[j].IDPath, nodes[i].IDPath })
	return nodes
}
