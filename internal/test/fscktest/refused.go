package fscktest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// testRefused repairs tables with a row or a tree that cannot be repaired. The repair has to do the
// rest.
func testRefused(t *testing.T, database Database) {
	t.Run("a path and a name that a constraint refuses", func(t *testing.T) {
		w := putWorld(t, database, schema{more: `, CONSTRAINT suites_allowed CHECK (path <> '/a/forbidden' AND name <> 'b (2)')`})
		w.put(t, 1, 1, nil, "a", "/a")
		w.put(t, 2, 1, 1, "b", "/wrong/b")
		w.put(t, 3, 1, 1, "forbidden", "/wrong/forbidden")
		w.put(t, 4, 1, 1, "b", "/wrong/c") // its path is mended all the same
		var log bytes.Buffer
		skips := w.skips(t, fsck.RepairOptions{Log: &log})
		if len(skips) != 2 || !strings.Contains(skips[0], "row 4 (duplicate)") || !strings.Contains(skips[1], "row 3 (wrong-path)") || !strings.Contains(skips[1], "suites_allowed") {
			t.Errorf("skipped %q", skips)
		}
		if got, want := w.kinds(t), []string{"wrong-path 3", "duplicate 4"}; !slices.Equal(got, want) {
			t.Errorf("left %q, want %q", got, want)
		}
		if strings.Contains(log.String(), "forbidden") {
			t.Errorf("the log has what was not done:\n%s", &log)
		}
	})
	t.Run("one tree with a row that another session has locked", func(t *testing.T) {
		w := busyWorld(t, database)
		tx := w.lockRow(t)
		opts := fsck.RepairOptions{Wait: time.Millisecond, BatchRows: 1}
		if database.Dialect == fsck.SQLite { // in SQLite, a writer locks all trees
			if skips := w.skips(t, opts); len(skips) != 2 || !strings.Contains(skips[1], "locked") {
				t.Errorf("skipped %q, want both trees", skips)
			}
		} else {
			if skips := w.skips(t, opts); len(skips) != 1 || !strings.Contains(skips[0], "tree 1: ") {
				t.Errorf("skipped %q, want the tree 1", skips)
			}
			if got, want := w.kinds(t), []string{"wrong-path 10", "wrong-path 11"}; !slices.Equal(got, want) {
				t.Errorf("left %q, want %q", got, want)
			}
		}
		testerr.Must(t, tx.Rollback())
		if w.repair(t, fsck.RepairOptions{Apply: true}); len(w.kinds(t)) > 0 {
			t.Errorf("after the lock was released, left %q", w.kinds(t))
		}
	})
	t.Run("the end of the context during a wait for a row", func(t *testing.T) { testWaitEnds(t, database) })
	t.Run("a lost+found that is deleted during the repair", func(t *testing.T) { testLostFoundDeleted(t, database) })
}

// busyWorld creates a table with two trees. Each has two rows with wrong paths.
func busyWorld(t *testing.T, database Database) *world {
	t.Helper()
	w := putWorld(t, database, schema{})
	for tree := 1; tree <= 2; tree++ {
		w.put(t, 10*tree, tree, nil, "a", "/wrong/1")
		w.put(t, 10*tree+1, tree, 10*tree, "b", "/wrong/2")
	}
	return w
}

// lockRow locks a row of the first tree of busyWorld by changing it.
func (w *world) lockRow(t *testing.T) *sql.Tx {
	t.Helper()
	tx, err := w.db.BeginTx(t.Context(), nil)
	testerr.Must(t, err)
	testerr.Must(t, testerr.Of(tx.ExecContext(t.Context(), `UPDATE suites SET deleted_at = NULL WHERE id = 10`)))
	return tx
}

// testWaitEnds ends the context of a repair that would wait an hour for a row.
func testWaitEnds(t *testing.T, database Database) {
	w := busyWorld(t, database)
	before := w.dump(t)
	tx := w.lockRow(t)
	checker := w.checker(t)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := checker.Repair(ctx, fsck.RepairOptions{Apply: true, Wait: time.Hour, Tree: fsck.IntKey(1)})
	if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took > 20*time.Second {
		t.Errorf("error %v after %v, want one that matches context.DeadlineExceeded", err, took)
	}
	testerr.Must(t, tx.Rollback())
	if after := w.dump(t); !maps.Equal(before, after) {
		t.Errorf("changed: %v", after)
	}
}

// testLostFoundDeleted deletes the lost+found, all below it, and the root row, after the first
// orphan has moved there.
func testLostFoundDeleted(t *testing.T, database Database) {
	w := newWorld(t, database, schema{})
	w.insert(t, Node{1, 1, 0, "", "", "/1", false},
		Node{5, 1, 97, "x", "/x", "/1/5", false}, Node{6, 1, 98, "y", "/y", "/1/6", false}, Node{7, 1, 99, "z", "/z", "/1/7", false})
	deleted := false
	w.repair(t, fsck.RepairOptions{Apply: true, BatchRows: 1, Log: lineLog(func(line []byte) (int, error) {
		if !deleted && bytes.Contains(line, []byte(`"commit":true`)) {
			deleted = true
			w.exec(t, `DELETE FROM suites WHERE id IN (1, 5) OR name = 'lost+found'`)
		}
		return len(line), nil
	})})
	rows := w.rows(t)
	w.sound(t, rows)
	home := rows[rows[6].Parent]
	if !deleted || !strings.HasPrefix(home.Name, "lost+found") || rows[7].Parent != home.ID {
		t.Errorf("rows %v", rows)
	}
}
