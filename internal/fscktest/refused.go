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

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
)

// testRefused repairs tables with a row or a tree that cannot be repaired. The repair has to do the
// rest.
func testRefused(t *testing.T, database Database) {
	t.Run("a path that a constraint refuses", func(t *testing.T) {
		w := oddWorld(t, database, columnTypes{more: `, CONSTRAINT suites_allowed CHECK (path <> '/a/forbidden')`})
		w.put(t, 1, 1, nil, "a", "/a")
		w.put(t, 2, 1, 1, "b", "/wrong/b")
		w.put(t, 3, 1, 1, "forbidden", "/wrong/forbidden")
		w.put(t, 4, 1, 1, "c", "/wrong/c")
		var log bytes.Buffer
		w.skipsOne(t, fsck.RepairOptions{Log: &log}, "row 3 (wrong-path)", "suites_allowed")
		if got, want := w.kinds(t), []string{"wrong-path 3"}; !slices.Equal(got, want) {
			t.Errorf("left %q, want %q", got, want)
		}
		if strings.Contains(log.String(), "forbidden") {
			t.Errorf("the log has what was not done:\n%s", &log)
		}
	})
	t.Run("a name that a constraint refuses, in a row whose path is mended all the same", func(t *testing.T) {
		w := oddWorld(t, database, columnTypes{more: `, CONSTRAINT suites_allowed CHECK (name <> 'b (2)')`})
		w.put(t, 1, 1, nil, "a", "/a")
		w.put(t, 2, 1, 1, "b", "/a/b")
		w.put(t, 3, 1, 1, "b", "/wrong")
		w.skipsOne(t, fsck.RepairOptions{}, "row 3 (duplicate)", "suites_allowed")
		if got := w.kinds(t); !slices.Equal(got, []string{"duplicate 3"}) {
			t.Errorf("left %q, want the duplicate alone", got)
		}
	})
	t.Run("a lost+found that cannot be created", func(t *testing.T) {
		w := oddWorld(t, database, columnTypes{more: `, owner VARCHAR(20) NOT NULL`})
		for _, r := range [][4]any{{1, nil, "a", "/wrong"}, {2, 97, "b", "/b"}, {3, 98, "c", "/c"}, {4, 99, "d", "/d"}, {5, nil, "x/y", "/x"}} {
			w.exec(t, `INSERT INTO suites (id, plan_id, parent_id, name, path, owner) VALUES (?, 1, ?, ?, ?, 'me')`, r[0], r[1], r[2], r[3])
		}
		skips := w.skips(t, fsck.RepairOptions{})
		if len(skips) != 3 || !strings.Contains(skips[2], "owner") || !strings.Contains(skips[2], "create it yourself") {
			t.Errorf("skipped %q, want three orphans, because of the owner", skips)
		}
		if got, want := w.kinds(t), []string{"orphan 2", "orphan 3", "orphan 4"}; !slices.Equal(got, want) {
			t.Errorf("left %q, want %q", got, want)
		}
	})
	t.Run("one tree that an editor has locked", func(t *testing.T) {
		w := busyWorld(t, database)
		locker, release := editor(t, "/a")
		w.skipsOne(t, fsck.RepairOptions{Locker: locker, Wait: pathlock.NoWait, BatchRows: 1}, "tree 1: ", "an editor")
		w.onlyTheOther(t)
		release()
		w.repair(t, fsck.RepairOptions{Locker: locker, Wait: pathlock.NoWait, Apply: true})
		if trees, err := locker.Trees(t.Context()); err != nil || len(trees) > 0 || len(w.kinds(t)) > 0 {
			t.Errorf("afterwards, %v are held (%v), and %q is left", trees, err, w.kinds(t))
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
			w.skipsOne(t, opts, "tree 1: ")
			w.onlyTheOther(t)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
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
	w := oddWorld(t, database, columnTypes{})
	for tree := 1; tree <= 2; tree++ {
		w.put(t, 10*tree, tree, nil, "a", "/wrong/1")
		w.put(t, 10*tree+1, tree, 10*tree, "b", "/wrong/2")
	}
	return w
}

// onlyTheOther fails the test unless only the second tree of busyWorld was repaired.
func (w *world) onlyTheOther(t *testing.T) {
	t.Helper()
	if got, want := w.kinds(t), []string{"wrong-path 10", "wrong-path 11"}; !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
}

// lockRow locks a row of the first tree of busyWorld by changing it.
func (w *world) lockRow(t *testing.T) *sql.Tx {
	t.Helper()
	tx, err := w.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), `UPDATE suites SET deleted_at = NULL WHERE id = 10`); err != nil {
		t.Fatal(err)
	}
	return tx
}

// testWaitEnds ends the context of a repair that would wait an hour for a row.
func testWaitEnds(t *testing.T, database Database) {
	w := busyWorld(t, database)
	before := w.dump(t)
	tx := w.lockRow(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	checker := w.checker(t)
	go func() {
		_, err := checker.Repair(ctx, fsck.RepairOptions{Apply: true, Wait: time.Hour, Tree: fsck.IntKey(1)})
		ended <- err
	}()
	w.awaitWaiter(t)
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want one that matches context.Canceled", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("it still waits")
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if after := w.dump(t); !maps.Equal(before, after) {
		t.Errorf("changed: %v", after)
	}
}

// awaitWaiter returns once a session waits for a lock in the database.
func (w *world) awaitWaiter(t *testing.T) {
	t.Helper()
	query := map[fsck.Dialect]string{
		fsck.MySQL: `SELECT COUNT(*) FROM information_schema.innodb_trx JOIN information_schema.processlist ON id = trx_mysql_thread_id
			WHERE trx_state = 'LOCK WAIT' AND db = DATABASE()`,
		fsck.PostgreSQL: `SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
		fsck.SQLite:     `SELECT 1`, // SQLite does not show waiters
	}[w.Dialect]
	for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(200 * time.Millisecond) { // InnoDB refreshes its answer after 100 ms without a query
		var waiting int
		if err := w.db.QueryRowContext(t.Context(), query).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		if waiting > 0 {
			return
		}
	}
	t.Fatal("no session waits")
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
