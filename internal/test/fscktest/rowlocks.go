package fscktest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// tryLock locks a row as a writer does, without waiting, and releases it.
func (w *world) tryLock(t *testing.T, id int) error {
	t.Helper()
	var got int
	return w.db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT id FROM suites WHERE id = %d FOR UPDATE NOWAIT", id)).Scan(&got)
}

// testRowLocks checks which rows others can change before a repair commits: neither the repaired
// row nor the rows above it, from which its path follows. The rows beside it are free.
func testRowLocks(t *testing.T, database Database) {
	if database.Dialect == fsck.SQLite {
		t.Skip("a writer is alone")
	}
	w := newWorld(t, database, schema{})
	w.insert(t, with(Node{5, 1, 4, "x", "/wrong", "/1/4/5", false})...)
	var free []int
	looked := false
	_, err := w.checker(t).Repair(t.Context(), fsck.RepairOptions{Apply: true, Log: lineLog(func(line []byte) (int, error) {
		if looked || !bytes.Contains(line, []byte(`"column":"path"`)) {
			return len(line), nil
		}
		looked = true
		for _, id := range []int{1, 2, 4, 5} {
			if w.tryLock(t, id) == nil {
				free = append(free, id)
			}
		}
		return len(line), nil
	})})
	if err != nil || !looked {
		t.Fatal(err, looked)
	}
	if got, want := fmt.Sprint(free), "[2]"; got != want {
		t.Errorf("before the commit, others could change the rows %s, want %s", got, want)
	}
	testerr.Is(t, "after the repair", w.tryLock(t, 5), nil)
}

// lineLog is a function as a writer.
type lineLog func([]byte) (int, error)

// Write implements [io.Writer].
func (f lineLog) Write(line []byte) (int, error) { return f(line) }
