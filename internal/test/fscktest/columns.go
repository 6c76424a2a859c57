package fscktest

import (
	"errors"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
)

// testColumns has sessions that do not see all, and one tree of several.
func testColumns(t *testing.T, database Database) {
	t.Run("a session that does not see what there is", func(t *testing.T) {
		w := newWorld(t, database, schema{})
		w.db.SetMaxOpenConns(1)
		switch database.Dialect {
		case fsck.MySQL:
			w.exec(t, `SET SESSION sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'`)
		case fsck.PostgreSQL:
			w.exec(t, `DO $$ BEGIN EXECUTE format('GRANT USAGE ON SCHEMA %I TO pg_monitor', current_schema()); END $$`)
			w.exec(t, "GRANT SELECT ON suites TO pg_monitor")
			w.exec(t, "ALTER TABLE suites ENABLE ROW LEVEL SECURITY")
			w.exec(t, "SET ROLE pg_monitor")
		default:
			t.Skip("every session sees all")
		}
		if _, err := fsck.New(t.Context(), w.db, w.Dialect, w.table); !errors.Is(err, fsck.ErrTable) {
			t.Errorf("error %v, want one that matches ErrTable", err)
		}
	})
	t.Run("a row in no tree", func(t *testing.T) {
		w := newWorld(t, database, schema{})
		w.insert(t, with(Node{5, 0, 1, "x", "/x", "/1/5", true}, Node{6, 1, 1, "y", "/y", "/1/6", false})...)
		w.sound(t, w.rows(t))
		w.repair(t, fsck.RepairOptions{Apply: true})
		w.insert(t, Node{7, 0, 1, "z", "/z", "/1/7", false})
		_, err := w.checker(t).Check(t.Context(), fsck.Options{}, func(fsck.Problem) error { return nil })
		if !errors.Is(err, fsck.ErrTable) || !strings.Contains(err.Error(), "row 7") {
			t.Errorf("error %v, want one that matches ErrTable and names row 7", err)
		}
	})
	t.Run("a key that no path of ids can have", func(t *testing.T) {
		for _, key := range []string{"a/b", "a-b", ".."} {
			w := newWorld(t, database, schema{key: "VARCHAR(40) " + database.Binary, table: func(d *fsck.Table) { d.IDPathForm = "*-*-" }})
			w.put(t, key, 1, nil, "x", "/x")
			_, err := w.checker(t).Check(t.Context(), fsck.Options{}, func(fsck.Problem) error { return nil })
			if !errors.Is(err, fsck.ErrTable) || !strings.Contains(err.Error(), "row "+key) {
				t.Errorf("error %v, want one that matches ErrTable and names row %s", err, key)
			}
		}
	})
	t.Run("one tree of several", func(t *testing.T) {
		w := newWorld(t, database, schema{})
		w.insert(t, with(Node{5, 1, 1, "x", "/wrong", "/1/5", false}, Node{6, 2, 0, "x", "/wrong", "/6", false})...)
		summary, err := w.checker(t).Check(t.Context(), fsck.Options{Tree: fsck.TextKey("2")}, func(fsck.Problem) error { return nil }) // a number may be given as text
		if err != nil || summary.Rows != 1 || summary.Total() != 1 {
			t.Errorf("%v %v", summary, err)
		}
		w.repair(t, fsck.RepairOptions{Tree: fsck.IntKey(2), Apply: true})
		if rows := w.rows(t); rows[6].Path != "/x" || rows[5].Path != "/wrong" {
			t.Errorf("rows %v", rows)
		}
	})
}
