package fscktest

import (
	"errors"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
)

// testColumns has descriptions that are wrong, and one tree of several.
func testColumns(t *testing.T, database Database) {
	t.Run("a description that is wrong", func(t *testing.T) {
		w := newWorld(t, database, schema{})
		w.insert(t, with(Node{5, 1, 4, "x", "/wrong", "/wrong", false})...)
		for _, tt := range []struct {
			change func(*fsck.Table)
			says   string
		}{
			{func(d *fsck.Table) { d.Table = "nothing" }, `table "nothing": `},
			{func(d *fsck.Table) { d.Parent = "father" }, `table "suites": the parent column, "father": `},
			{func(d *fsck.Table) { d.Key = "version" }, `table "suites": the key column, "version", has 1 in several rows`},
			{func(d *fsck.Table) { d.IDPath = d.Path }, `the path column and the id path column are both "path"`},
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
	})
	t.Run("rows that a policy may hide", func(t *testing.T) {
		if database.Dialect != fsck.PostgreSQL {
			t.Skip("there are no policies")
		}
		w := newWorld(t, database, schema{})
		w.db.SetMaxOpenConns(1)
		w.exec(t, `DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO pg_monitor', current_schema()); END $$`)
		w.exec(t, "GRANT SELECT ON suites TO pg_monitor")
		w.exec(t, "ALTER TABLE suites ENABLE ROW LEVEL SECURITY")
		w.exec(t, "SET ROLE pg_monitor")
		if _, err := fsck.New(t.Context(), w.db, w.Dialect, w.table); !errors.Is(err, fsck.ErrTable) || !strings.Contains(err.Error(), "row-level security") {
			t.Errorf("error %v, want one that matches ErrTable and names the policies", err)
		}
	})
	t.Run("keys with fractions", func(t *testing.T) {
		w := oddWorld(t, database, columnTypes{key: map[bool]string{true: "NUMERIC", false: "DOUBLE PRECISION"}[database.Dialect == fsck.SQLite]})
		w.put(t, 1, 7, nil, "a", "/a")
		w.put(t, 1.5, 7, 1, "b", "/wrong")
		if _, err := w.checker(t).Repair(t.Context(), fsck.RepairOptions{Apply: true}); !errors.Is(err, fsck.ErrTable) || !strings.Contains(err.Error(), `"id" has 1.5`) {
			t.Errorf("error %v, want one that matches ErrTable and names the key", err)
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
}
