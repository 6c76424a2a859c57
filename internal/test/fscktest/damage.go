package fscktest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
)

// damageCase is a damaged tree, and what a repair makes of it.
type damageCase struct {
	what string
	rows []Node
	// mended has "id parent name path" for each changed row. The created lost+found has the id
	// "new".
	mended []string
}

// with returns the tree 1 of most cases, and further rows. The tree has the root row 1 with the
// suites 2 "a", 3 "a/b" and 4 "c".
func with(nodes ...Node) []Node {
	return append([]Node{
		{1, 1, 0, "", "", "/1", false}, {2, 1, 1, "a", "/a", "/1/2", false}, {3, 1, 2, "b", "/a/b", "/1/2/3", false}, {4, 1, 1, "c", "/c", "/1/4", false},
	}, nodes...)
}

// long is a name of n characters.
func long(n int) string { return strings.Repeat("é", n) }

var damage = []damageCase{
	{
		what: "a parent that is missing", rows: with(Node{5, 1, 99, "x", "/gone/x", "/1/99/5", false}, Node{6, 1, 5, "y", "/gone/x/y", "/1/99/5/6", false}),
		mended: []string{"new 1 lost+found /lost+found", "5 new x /lost+found/x", "6 5 y /lost+found/x/y"},
	},
	{
		what: "orphans of one name, and a lost+found that is there", rows: with(
			Node{5, 1, 1, "lost+found", "/lost+found", "/1/5", false}, Node{6, 1, 98, "x", "/p/x", "/1/98/6", false}, Node{7, 1, 99, "x", "/q/x", "/1/99/7", false}),
		mended: []string{"6 5 x /lost+found/x", "7 5 x (2) /lost+found/x (2)"},
	},
	{
		what: "a cycle of three, with a row below it", rows: with(
			Node{7, 1, 6, "x", "/z/y/x", "/1/5/6/7", false}, Node{6, 1, 5, "y", "/z/y", "/1/5/6", false}, Node{5, 1, 7, "z", "/z", "/1/5", false}, Node{8, 1, 6, "w", "/z/y/w", "/1/5/6/8", false}),
		mended: []string{"new 1 lost+found /lost+found", "5 new z /lost+found/z", "6 5 y /lost+found/z/y", "7 6 x /lost+found/z/y/x", "8 6 w /lost+found/z/y/w"},
	},
	{
		what: "two root rows, and a row at the top beside them, which keeps its path", rows: with(
			Node{5, 1, 0, "", "", "/5", false}, Node{6, 1, 5, "x", "/x", "/5/6", false}, Node{7, 1, 0, "y", "/y", "/7", false}),
		mended: []string{"5 1 root /root", "6 5 x /root/x", "7 1 y /y"},
	},
	{
		what: "siblings of one name, and a number that is taken", rows: with(
			Node{5, 1, 1, "a", "/a", "/1/5", false}, Node{6, 1, 1, "a (2)", "/a (2)", "/1/6", false}, Node{7, 1, 1, "a", "/a", "/1/7", false}, Node{8, 1, 7, "x", "/a/x", "/1/7/8", false}),
		mended: []string{"5 1 a (3) /a (3)", "7 1 a (4) /a (4)", "8 7 x /a (4)/x"},
	},
	{
		what: "duplicates that have no room for a number", rows: with(
			Node{5, 1, 1, long(40), "/" + long(40), "/1/5", false}, Node{6, 1, 1, long(40), "/" + long(40), "/1/6", false}),
		mended: []string{"6 1 " + long(36) + " (2) /" + long(36) + " (2)"},
	},
	{
		what: "names that no path can have", rows: with(
			Node{5, 1, 1, "x/y", "/x/y", "/1/5", false}, Node{6, 1, 1, "..", "/..", "/1/6", false}, Node{7, 1, 2, "", "/a/", "/1/2/7", false},
			Node{8, 1, 1, "x_y", "/x_y", "/1/8", false}, Node{9, 1, 5, "z", "/x/y/z", "/1/5/9", false}),
		mended: []string{"5 1 x_y (2) /x_y (2)", "6 1 __ /__", "7 2 unnamed /a/unnamed", "9 5 z /x_y (2)/z"},
	},
}

func testDamage(t *testing.T, database Database) {
	for _, tt := range damage {
		t.Run(tt.what, func(t *testing.T) {
			if database.Dialect == fsck.SQLite && strings.HasPrefix(tt.what, "duplicates that have no room") {
				t.Skip("columns have no length")
			}
			w := newWorld(t, database, schema{})
			w.insert(t, tt.rows...)
			before := w.rows(t)
			if _, summary := w.repair(t, fsck.RepairOptions{Apply: true, BatchRows: 2}); summary.After.Total() > 0 {
				t.Errorf("left: %v", summary.After.Problems)
			}
			if got := changed(before, w.rows(t)); !slices.Equal(got, tt.mended) {
				t.Errorf("mended\n%q, want\n%q", got, tt.mended)
			}
		})
	}
	t.Run("an orphan whose parent's key is the next to be given out", func(t *testing.T) {
		w := newWorld(t, database, schema{})
		w.insert(t, Node{5, 1, 1000000, "x", "/x", "/5", false}, Node{999999, 1, 0, "y", "/y", "/999999", false})
		if skips := w.skips(t, fsck.RepairOptions{}); len(skips) != 1 || !strings.Contains(skips[0], "create it yourself") || len(w.rows(t)) != 2 {
			t.Errorf("skipped %q, and the rows are %v", skips, w.rows(t))
		}
	})
	t.Run("a table of columns that are NOT NULL and have no default", func(t *testing.T) {
		text, when, flag := "VARCHAR(40)", "TIMESTAMP", "BOOLEAN"
		if database.Dialect == fsck.MySQL {
			when = "DATETIME"
		}
		w := newWorld(t, database, schema{
			more:  fmt.Sprintf(", title %s NOT NULL, made_at %s NOT NULL, hidden %s NOT NULL, rank_no INTEGER NOT NULL", text, when, flag),
			table: func(d *fsck.Table) { d.Version = "rank_no" },
		})
		notNull := map[fsck.Dialect]string{fsck.MySQL: "ALTER TABLE suites MODIFY parent_id BIGINT NOT NULL", fsck.PostgreSQL: "ALTER TABLE suites ALTER parent_id SET NOT NULL"}[database.Dialect]
		if notNull != "" {
			w.exec(t, notNull)
		}
		w.exec(t, "INSERT INTO suites (id, plan_id, parent_id, name, path, id_path, title, made_at, hidden, rank_no) VALUES (5, 1, 99, 'x', '/x', '/5', 't', '2026-01-01 00:00:00', TRUE, 7)")
		if skips := w.skips(t, fsck.RepairOptions{AllowMoves: true}); len(skips) > 0 || w.rows(t)[5].Path != "/lost+found/x" {
			t.Errorf("skipped %q, and the rows are %v", skips, w.rows(t))
		}
	})
	t.Run("depths, of rows, of a root row, of leaves and of a lost+found", func(t *testing.T) {
		for _, byIDs := range []bool{false, true} {
			w := newWorld(t, database, schema{leaves: true, more: ", level INTEGER NOT NULL", table: func(d *fsck.Table) {
				if d.Depth, d.DepthTop = "level", "2"; byIDs {
					d.Path = ""
				}
			}})
			w.exec(t, "ALTER TABLE cases ADD level BIGINT")
			w.table.Leaves[0].Depth = "level"
			row := "INSERT INTO suites (id, plan_id, parent_id, name, path, id_path, level) VALUES (?, ?, ?, ?, ?, ?, ?)"
			w.exec(t, row, 1, 1, nil, "", "", "/1", 7)
			w.exec(t, row, 2, 1, 1, "a", "/a", "/1/2", 2)
			w.exec(t, row, 3, 2, nil, "x", "/wrong", "/wrong", 2)
			w.exec(t, row, 4, 2, 99, "y", "/y", "/4", 0)
			w.exec(t, "INSERT INTO cases (id, suite_id, name, path, id_path) VALUES (9, 2, 'l', '/a', '/1/2/9')")
			planned, _ := w.repair(t, fsck.RepairOptions{})
			done, summary := w.repair(t, fsck.RepairOptions{Apply: true})
			if !maps.Equal(values(planned), values(done)) || summary.After.Total() > 0 {
				t.Errorf("planned %v, done %v, left %v", planned, done, summary.After.Problems)
			}
			levels := make(map[string]int)
			for _, c := range done {
				if c.Column == "level" {
					levels[fmt.Sprint(c.Table, " ", c.ID, " ", c.Why)], _ = strconv.Atoi(fmt.Sprint(c.New))
				}
			}
			want := map[string]int{"suites 1 wrong-depth": 1, "cases 9 wrong-depth": 3, "suites 4 wrong-depth": 3, "suites " + w.idOf(t, "lost+found") + " orphan": 2}
			if byIDs { // the root row has an id, and names do not count
				want = map[string]int{"suites 1 wrong-depth": 2, "suites 2 wrong-depth": 3, "cases 9 wrong-depth": 4, "suites 4 wrong-depth": 3, "suites " + w.idOf(t, "lost+found") + " orphan": 2}
			}
			if !maps.Equal(levels, want) {
				t.Errorf("the depths are %v, want %v", levels, want)
			}
		}
	})
	t.Run("a leaf whose name no path can have", func(t *testing.T) {
		w := newWorld(t, database, schema{leaves: true, table: func(d *fsck.Table) { d.PathForm = "parent:/*/*" }}) // the leaves have their own
		w.insert(t, Node{5, 1, 0, "b", "", "/5", false})
		w.exec(t, "INSERT INTO cases (id, suite_id, name, path, id_path) VALUES (9, 5, 'p/q', '/junk', '/junk')")
		_, summary := w.repair(t, fsck.RepairOptions{Apply: true})
		if before, left := summary.Before.Problems, summary.After.Problems; before[fsck.BadName] != 1 || before[fsck.WrongIDPath] != 1 || before[fsck.WrongPath] != 0 || left[fsck.BadName] != 1 || summary.After.Total() != 1 {
			t.Errorf("found %v, left %v", before, left)
		}
	})
	t.Run("a chain that is longer than a path can be", func(t *testing.T) {
		w := newWorld(t, database, schema{})
		var nodes []Node
		for id := 1; id <= pathlock.MaxDepth+3; id++ {
			nodes = append(nodes, Node{ID: id, Tree: 1, Parent: id - 1, Name: "n"})
		}
		w.insert(t, nodes...)
		_, summary := w.repair(t, fsck.RepairOptions{Apply: true})
		if left := summary.After.Problems; summary.Before.Problems[fsck.TooDeep] != 3 || left[fsck.TooDeep] != 3 || summary.After.Total() != 3+left[fsck.PathTooLong] {
			t.Errorf("found %v, left %v", summary.Before.Problems, left)
		}
	})
	t.Run("a path that does not fit into the column", func(t *testing.T) {
		if database.Dialect == fsck.SQLite {
			t.Skip("columns have no length")
		}
		w := newWorld(t, database, schema{})
		path := ""
		for id := 1; id <= 5; id++ {
			path += "/" + long(40)
			w.insert(t, Node{id, 1, id - 1, long(40), "/wrong", "", false})
		}
		_, summary := w.repair(t, fsck.RepairOptions{Apply: true})
		if left := summary.After.Problems; left[fsck.PathTooLong] != 1 || summary.After.Total() != 1 {
			t.Errorf("left: %v, want one path too long", left)
		}
		if rows := w.rows(t); rows[4].Path != strings.TrimSuffix(path, "/"+long(40)) || rows[5].Path != "/wrong" {
			t.Errorf("rows %v", rows)
		}
	})
}

// idOf returns the id of the row with a name.
func (w *world) idOf(t testing.TB, name string) string {
	t.Helper()
	for id, is := range w.dump(t) {
		if is[2] == name {
			return id
		}
	}
	return ""
}

// changed returns the rows that differ from before, as text.
func changed(before, after map[int]Node) []string {
	var lines, created []string
	for _, id := range slices.Sorted(maps.Keys(after)) {
		n := after[id]
		if old, ok := before[id]; ok && old.Parent == n.Parent && old.Name == n.Name && old.Path == n.Path && old.IDPath == n.IDPath {
			continue
		}
		parent := fmt.Sprint(n.Parent)
		if _, ok := before[n.Parent]; !ok && n.Parent != 0 {
			parent = "new"
		}
		if _, ok := before[id]; !ok {
			created = append(created, fmt.Sprintf("new %s %s %s", parent, n.Name, n.Path))
			continue
		}
		lines = append(lines, fmt.Sprintf("%d %s %s %s", id, parent, n.Name, n.Path))
	}
	return append(created, lines...)
}
