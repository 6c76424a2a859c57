package gormplugintest

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// newKey is a key that no row has: at times that of a row that was deleted for good, whose leaves,
// and the deleted rows below it, find the new row above them.
func (m *machine) newKey(g forest, id int) any {
	var gone []int
	for _, old := range slices.Sorted(maps.Keys(m.keys)) {
		has := func(other int) bool { return m.keys[other] == m.keys[old] }
		if old > 0 && m.keys[old] != nil && !slices.ContainsFunc(slices.Collect(maps.Keys(g.rows)), has) {
			gone = append(gone, old)
		}
	}
	if len(gone) == 0 || !m.rarely(3, "a key that comes again") {
		return m.table.key()
	}
	key := m.keys[pick(m, gone, "gone")]
	for _, nodes := range []map[int]node{g.leaves, g.rows} {
		for number, n := range nodes {
			if n.parent != 0 && m.keys[n.parent] == key {
				n.parent = id
				nodes[number] = n
			}
		}
	}
	return key
}

// cameAgain reports whether a row has a key that another one had before. What is known of that may
// contradict a tree that the row's new children state.
func (m *machine) cameAgain(id int) bool {
	for other, key := range m.keys {
		if other != id && key != nil && key == m.keys[id] {
			return true
		}
	}
	return false
}

// others has a row come back at every isolation level while somebody else writes its leaves.
func (w *world) others(check func(w *world, level sql.IsolationLevel, create func(db *gorm.DB, s *Suite) error)) {
	for _, level := range []sql.IsolationLevel{sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
		for how, create := range map[string]func(db *gorm.DB, s *Suite) error{
			"Create": func(db *gorm.DB, s *Suite) error { return db.Create(s).Error },
			"Save":   func(db *gorm.DB, s *Suite) error { return db.Save(s).Error },
		} {
			w.Run(fmt.Sprint(how, " at ", level), func(t *testing.T) {
				t.Parallel() // most of it is waiting for locks
				w := *w
				w.T = t
				w.root = w.newPlan()
				check(&w, level, create)
				w.sound()
			})
		}
	}
}

// outdateLeft has somebody delete a leaf that was left behind, and roll that back once the row is
// there again.
func outdateLeft(w *world, level sql.IsolationLevel, create func(db *gorm.DB, s *Suite) error) {
	gone := w.build("/a/old")
	leaf := &Case{SuiteID: gone.ID, Name: "f"}
	w.must(w.db.Create(leaf).Error)
	w.must(w.db.Unscoped().Delete(gone).Error)
	other := w.db.Begin(&sql.TxOptions{Isolation: sql.LevelReadCommitted})
	w.must(other.Delete(leaf).Error)
	w.mayGiveUp(w.db.Transaction(func(tx *gorm.DB) error {
		w.impatient(tx)
		return create(tx, &Suite{ID: gone.ID, ParentID: gone.ParentID, Name: "new"})
	}, &sql.TxOptions{Isolation: level}))
	w.must(other.Rollback().Error)
}

// snapshotLeft has somebody make a leaf, and delete the row above for good, while a transaction
// that brings the row back has read what was before.
func snapshotLeft(w *world, level sql.IsolationLevel, create func(db *gorm.DB, s *Suite) error) {
	gone := w.build("/a/old")
	w.mayGiveUp(w.db.Transaction(func(tx *gorm.DB) error {
		w.must(tx.Find(&[]Other{}).Error)
		w.must(w.db.Create(&Case{SuiteID: gone.ID, Name: "f"}).Error)
		w.must(w.db.Unscoped().Delete(gone).Error)
		return create(tx, &Suite{ID: gone.ID, ParentID: gone.ParentID, Name: "new"})
	}, &sql.TxOptions{Isolation: level}))
}

// impatient has a transaction wait for a row no longer than a second.
func (w *world) impatient(tx *gorm.DB) {
	w.Helper()
	d, err := dialect.Of(dialect.Name(tx.Name()))
	w.must(err)
	w.must(tx.Exec(fmt.Sprintf(cmp.Or(d.LockWait.Session, d.LockWait.Local), time.Second/d.LockWait.Unit)).Error)
}

// mayGiveUp fails the test on an error that asks for neither another try nor another level.
func (w *world) mayGiveUp(err error) {
	w.Helper()

	if err != nil && !errors.Is(err, gormplugin.ErrRetry) && !errors.Is(err, gormplugin.ErrIsolation) {
		w.Fatal(err)
	}
}
