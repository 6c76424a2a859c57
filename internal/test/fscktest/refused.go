package fscktest

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// testRefused repairs tables with a row or a tree that cannot be repaired. The repair has to do the
// rest.
func testRefused(t *testing.T, database Database) {
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
