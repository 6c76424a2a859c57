package fscktest

import (
	"errors"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
)

// testCollation has a name column whose collation treats different names as equal.
func testCollation(t *testing.T, database Database) {
	if database.Loose == "" {
		t.Skip("no such collation here")
	}
	w := newWorld(t, database, schema{collation: database.Loose})
	w.insert(t, with(Node{5, 1, 1, "A", "/A", "/1/5", false}, Node{6, 1, 1, "a", "/a", "/1/6", false}, Node{7, 1, 4, "x", "/C/x", "/1/4/7", false})...)
	kinds := make(map[int]fsck.Kind)
	for _, p := range w.problems(t) {
		kinds[w.number(p.ID)] = p.Kind
		if p.Kind == fsck.Lookalike && w.number(p.Others[0]) != 2 {
			t.Errorf("row %v looks like %v, want 2", p.ID, p.Others)
		}
	}
	for id, want := range map[int]fsck.Kind{5: fsck.Lookalike, 6: fsck.Duplicate, 7: fsck.WrongPath, 2: "", 3: ""} {
		// The path of 7 has a prefix that differs from its parent's path only in case.
		if kinds[id] != want {
			t.Errorf("row %d: %q, want %q", id, kinds[id], want)
		}
	}
	if kinds[4] != fsck.MixedPrefix {
		t.Errorf("row 4: %q, want %q", kinds[4], fsck.MixedPrefix)
	}
	w.repair(t, fsck.RepairOptions{Apply: true})
	rows := w.rows(t)
	w.sound(t, rows)
	if a, b := rows[5].Name, rows[6].Name; a == "A" || b == "a" || a == b {
		t.Errorf("names %q and %q beside %q", a, b, rows[2].Name)
	}
	if left := w.problems(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// testColumns has tables without some columns, or with other ones.
func testColumns(t *testing.T, database Database) {
	damaged := with(Node{5, 1, 4, "x", "/wrong", "/wrong", false}, Node{6, 1, 99, "y", "/y", "/1/6", false})
	t.Run("without an id path", func(t *testing.T) {
		w := newWorld(t, database, schema{table: func(d *fsck.Table) { d.IDPath = "" }})
		w.insert(t, damaged...)
		w.repair(t, fsck.RepairOptions{Apply: true})
		if rows := w.rows(t); rows[5].Path != "/c/x" || rows[5].IDPath != "/wrong" || rows[6].Path != "/lost+found/y" {
			t.Errorf("rows %v", rows)
		}
	})
	t.Run("without a path", func(t *testing.T) {
		w := newWorld(t, database, schema{table: func(d *fsck.Table) { d.Path = "" }})
		w.insert(t, damaged...)
		w.exec(t, "UPDATE suites SET path = 'untouched'")
		w.repair(t, fsck.RepairOptions{Apply: true})
		rows := w.rows(t)
		if rows[5].Path != "untouched" || rows[5].IDPath != "/1/4/5" || w.number(fsck.IntKey(int64(rows[6].Parent))) < 7 {
			t.Errorf("rows %v", rows)
		}
		if left := w.problems(t); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
	t.Run("a flag instead of a time", func(t *testing.T) {
		w := newWorld(t, database, schema{table: func(d *fsck.Table) { d.Deleted = "hidden" }})
		w.insert(t, with(Node{5, 1, 99, "x", "/x", "", false}, Node{6, 1, 98, "y", "/y", "", false})...)
		w.exec(t, "UPDATE suites SET hidden = 1 WHERE id = 5")
		w.exec(t, "UPDATE suites SET hidden = 0 WHERE id = 1")
		found := w.problems(t)
		if len(found) != 1 || w.number(found[0].ID) != 6 {
			t.Errorf("found %v, want the orphan 6 alone", found)
		}
	})
	t.Run("a version that counts", func(t *testing.T) {
		w := newWorld(t, database, schema{table: func(d *fsck.Table) { d.Version = "version" }})
		w.insert(t, damaged...)
		w.repair(t, fsck.RepairOptions{Apply: true})
		var version int
		if err := w.db.QueryRowContext(t.Context(), "SELECT version FROM suites WHERE id = 5").Scan(&version); err != nil || version != 2 {
			t.Errorf("version %d (%v), want 2", version, err)
		}
	})
	t.Run("a description that is wrong", func(t *testing.T) {
		w := newWorld(t, database, schema{})
		w.insert(t, damaged...)
		for _, tt := range []struct {
			change func(*fsck.Table)
			says   string
		}{
			{func(d *fsck.Table) { d.Table = "nothing" }, `table "nothing": `},
			{func(d *fsck.Table) { d.Parent = "father" }, `table "suites": the parent column, "father": `},
			{func(d *fsck.Table) { d.Deleted = "shown" }, `table "suites": the column of the deletion mark, "shown": `},
			{func(d *fsck.Table) { d.Key = "plan_id" }, `table "suites": the key column, "plan_id", has 1 in several rows`},
			{func(d *fsck.Table) { d.Path, d.IDPath = "", "" }, "neither a path nor an id path"},
		} {
			table := w.table
			tt.change(&table)
			c, err := fsck.New(t.Context(), w.db, w.Dialect, table)
			if err == nil {
				_, err = c.Repair(t.Context(), fsck.RepairOptions{Apply: true})
			}
			if !errors.Is(err, fsck.ErrTable) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v, want one that matches ErrTable and says %s", err, tt.says)
			}
		}
		if rows := w.rows(t); rows[5].Path != "/wrong" {
			t.Errorf("rows %v: changed by a wrong description", rows)
		}
	})
	t.Run("one tree of several", func(t *testing.T) {
		w := newWorld(t, database, schema{})
		w.insert(t, with(Node{5, 1, 1, "x", "/wrong", "/1/5", false}, Node{6, 2, 0, "x", "/wrong", "/6", false})...)
		for _, tree := range []fsck.Key{fsck.IntKey(2), fsck.TextKey("2")} { // a number may be given as text
			var found []string
			summary, err := w.checker(t).Check(t.Context(), fsck.Options{Tree: tree}, func(p fsck.Problem) error {
				found = append(found, p.ID.String())
				return nil
			})
			if err != nil || summary.Rows != 1 || len(found) != 1 || found[0] != "6" {
				t.Errorf("tree %v: %v %v %v", tree, summary, found, err)
			}
		}
		w.repair(t, fsck.RepairOptions{Tree: fsck.IntKey(2), Apply: true})
		if rows := w.rows(t); rows[6].Path != "/x" || rows[5].Path != "/wrong" {
			t.Errorf("rows %v", rows)
		}
	})
	t.Run("what has no place at the top", func(t *testing.T) {
		w := newWorld(t, database, schema{})
		w.insert(t, with(Node{5, 1, 99, "a", "/y", "", false}, Node{6, 2, 98, "y", "/y", "", false})...)
		w.repair(t, fsck.RepairOptions{Apply: true, ToTop: true})
		if rows := w.rows(t); rows[5].Parent != 1 || rows[5].Path != "/a (2)" || rows[6].Parent != 0 || rows[6].Path != "/y" {
			t.Errorf("rows %v", rows)
		}
	})
}
