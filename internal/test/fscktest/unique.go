package fscktest

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
)

// testUnique repairs tables whose unique indexes hold names equal that the collation does not, or
// refuse what nothing helps against.
func testUnique(t *testing.T, database Database) {
	t.Run("orphans whose names an index holds equal, and the collation does not", func(t *testing.T) {
		w := newWorld(t, database, schema{unique: true, uniquePaths: true})
		column := "lowered VARCHAR(40) GENERATED ALWAYS AS (LOWER(name)) STORED"
		if database.Dialect == fsck.SQLite {
			column = "lowered TEXT GENERATED ALWAYS AS (LOWER(name)) VIRTUAL" // SQLite cannot add a stored one
		}
		w.exec(t, `ALTER TABLE suites ADD COLUMN `+column)
		w.exec(t, `CREATE UNIQUE INDEX suites_lowered ON suites (plan_id, parent_id, lowered)`)
		w.insert(t, with(
			Node{5, 1, 99, "X", "/X", "/1/5", false}, Node{6, 1, 98, "x", "/x", "/1/6", false}, Node{7, 1, 97, "X", "/3", "/1/7", false},
			Node{8, 1, 1, "Lost+Found", "/Lost+Found", "/1/8", false})...)
		w.repair(t, fsck.RepairOptions{Apply: true})
		rows := w.rows(t)
		w.sound(t, rows)
		for id, want := range map[int]string{5: "/lost+found (2)/X", 6: "/lost+found (2)/x (2)", 7: "/lost+found (2)/X (3)"} {
			if rows[id].Path != want {
				t.Errorf("row %d gets %q, want %q", id, rows[id].Path, want)
			}
		}
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
		if skips := w.skips(t, fsck.RepairOptions{}); len(skips) != 1 || w.rows(t)[2].Path != "/a" {
			t.Errorf("skipped %q, and row 2, which had the right path, is %+v", skips, w.rows(t)[2])
		}
	})
	t.Run("an index that no name and no path helps against", func(t *testing.T) {
		w := newWorld(t, database, schema{unique: true, uniquePaths: true})
		w.insert(t, with(Node{5, 1, 99, "x", "/x", "/1/5", false})...)
		w.exec(t, `UPDATE suites SET version = id`)
		w.exec(t, `CREATE UNIQUE INDEX suites_one_child ON suites (plan_id, parent_id, version)`)
		w.repair(t, fsck.RepairOptions{Apply: true})
		w.sound(t, w.rows(t))
		w.exec(t, `INSERT INTO suites (id, plan_id, parent_id, name, path, id_path, version) VALUES (8, 1, 98, 'z', '/z', '/1/8', 5)`)
		// The lost+found has a row of version 5.
		if skips := w.skips(t, fsck.RepairOptions{}); len(skips) != 1 || !strings.Contains(skips[0], "row 8 (orphan)") || !strings.Contains(skips[0], "refused with 100 names") {
			t.Errorf("skipped %q", skips)
		}
	})
}
