package gormplugintest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/offstore"
	"gorm.io/gorm"
)

// operation is one of those that meet: it prepares a write to the rows of a world.
type operation func(w *world) func(db *gorm.DB) error

// anomaly is a pair of operations that corrupts an unprotected tree when both are planned before
// either writes.
type anomaly struct {
	name         string
	rows         []string
	first, other operation
	// harmless is set where the tree is protected without the assertion, too, by the unique index.
	harmless bool
}

func anomalies() []anomaly {
	return []anomaly{
		{name: "two renames of one row", rows: []string{"/a/x", "/a/y"}, first: rename("/a", "b"), other: rename("/a", "c")},
		{name: "insert below a row that is renamed", rows: []string{"/a/x"}, first: insert("/a/x"), other: rename("/a", "b")},
		{name: "insert by the path of a row that is renamed", rows: []string{"/a/x"}, first: insertAt("/a/x"), other: rename("/a", "b")},
		{name: "rename of a row by whose path another is inserted", rows: []string{"/a/x"}, first: rename("/a", "b"), other: insertAt("/a/x"), harmless: true},
		{name: "insert by the path of a row that is deleted", rows: []string{"/a/x"}, first: insertAt("/a/x"), other: remove("/a/x")},
		{name: "move by the path of a row that is renamed", first: update("/a", "folder", "/d"), other: update("/d", "name", "e")},
		{name: "move by the path of a row below one that is moved", first: update("/a", "folder", "/d/x"), other: update("/d", "folder", "/c")},
		{name: "crossing moves by paths", first: update("/a", "folder", "/c/y"), other: update("/c", "folder", "/a/z")},
		{name: "move by the path of a row that is deleted", first: update("/a", "folder", "/d/x"), other: removeFile("/d/x")},
		{name: "rename of a row and of an ancestor", rows: []string{"/a/b/c"}, first: rename("/a/b", "y"), other: rename("/a", "x")},
		{name: "crossing moves", rows: []string{"/a/b", "/c/d"}, first: move("/a", "/c/d"), other: move("/c", "/a/b")},
		{name: "move to a row that is renamed", rows: []string{"/a/x", "/d"}, first: move("/a", "/d"), other: rename("/d", "e")},
		{name: "insert below a row that is deleted", rows: []string{"/a/x"}, first: insert("/a/x"), other: remove("/a")},
		{name: "move below a row that is deleted", rows: []string{"/a/x", "/b"}, first: move("/b", "/a/x"), other: remove("/a")},
		{name: "inserts of one name", rows: []string{"/a"}, first: insert("/a"), other: insert("/a"), harmless: true},
		{name: "a root row and a row at the top", first: atTop(""), other: atTop("a"), harmless: true},
		{name: "copy to a row that is renamed", rows: []string{"/a/x", "/d"}, first: copyTo("/a", "/d"), other: rename("/d", "e")},
		{name: "crossing arrangements", rows: []string{"/a/b", "/c/d"}, first: arrange("/a", "/c/d"), other: arrange("/c", "/a/b")},
		{name: "insert below a row that is arranged", rows: []string{"/a/x", "/b"}, first: insert("/a/x"), other: arrange("/a", "/b")},
		{name: "copy to a row that is deleted", rows: []string{"/a/x", "/d"}, first: copyTo("/a", "/d"), other: remove("/d")},
	}
}

// on is an operation on the row at a path, and at times on another one.
func on(path, to string, write func(db *gorm.DB, id, to int64) error) operation {
	return func(w *world) func(*gorm.DB) error {
		id, other := w.build(path).ID, w.build(to).ID
		return func(db *gorm.DB) error { return write(db, id, other) }
	}
}

func rename(path, name string) operation {
	return on(path, path, func(db *gorm.DB, id, _ int64) error {
		return db.Model(&Suite{}).Where("id = ?", id).Update("name", name).Error
	})
}

func move(path, to string) operation {
	return on(path, to, func(db *gorm.DB, id, parent int64) error {
		return db.Model(&Suite{}).Where("id = ?", id).Update("parent_id", parent).Error
	})
}

func arrange(path, to string) operation {
	return on(path, to, func(db *gorm.DB, id, parent int64) error {
		return gormplugin.Arrange(db, []Suite{{ID: id, ParentID: &parent}})
	})
}

// insert adds a row called new below path.
func insert(path string) operation {
	return on(path, path, func(db *gorm.DB, parent, _ int64) error {
		return db.Create(&Suite{ParentID: &parent, Name: "new"}).Error
	})
}

// insertAt does so by the text of the path.
func insertAt(path string) operation {
	return func(w *world) func(*gorm.DB) error {
		plan := w.root.PlanID
		return func(db *gorm.DB) error { return db.Create(&Suite{PlanID: plan, Path: path + "/new"}).Error }
	}
}

// update changes a column of a file, of those that it makes.
func update(path, column, value string) operation {
	return onFile(path, func(db *gorm.DB, id int64) error {
		return db.Model(&file{}).Where("id = ?", id).Update(column, value).Error
	})
}

func removeFile(path string) operation {
	return onFile(path, func(db *gorm.DB, id int64) error { return db.Delete(&file{}, id).Error })
}

// onFile is an operation on the file at a path, of a few that it makes.
func onFile(path string, write func(db *gorm.DB, id int64) error) operation {
	return func(w *world) func(*gorm.DB) error {
		for _, p := range []string{"/a", "/a/z", "/c", "/c/y", "/d", "/d/x"} {
			w.file(p)
		}
		id := w.file(path).ID
		return func(db *gorm.DB) error { return write(db, id) }
	}
}

func remove(path string) operation {
	return on(path, path, func(db *gorm.DB, id, _ int64) error { return db.Delete(&Suite{}, id).Error })
}

func copyTo(path, to string) operation {
	return on(path, to, func(db *gorm.DB, id, parent int64) error {
		_, err := gormplugin.Copy(db, &Suite{}, id, gormplugin.Below(parent))
		return err
	})
}

// atTop makes a row in an empty tree.
func atTop(name string) operation {
	return func(w *world) func(*gorm.DB) error {
		w.must(w.db.Unscoped().Delete(&Suite{ID: w.root.ID}).Error)
		return func(db *gorm.DB) error { return db.Create(&Suite{PlanID: w.root.PlanID, Name: name}).Error }
	}
}

// meanwhile is an observer that has something happen once, when the next locks are granted: between
// a statement's plan and its transaction.
type meanwhile struct {
	pathlock.NopObserver
	do func()
}

// Granted implements [pathlock.Observer].
func (o *meanwhile) Granted(context.Context, pathlock.Event) {
	if do := o.do; do != nil {
		o.do = nil
		do()
	}
}

// triesAtOnce is how often the operations of an anomaly meet under a store that locks.
const triesAtOnce = 10

// checkAnomalies has the second operation of each anomaly take place between the first one's plan
// and its write. A lock store that grants everything must not matter as long as there is the
// assertion; without the assertion it must, or the test is worth nothing. Under a store that locks,
// both only have to wait.
func checkAnomalies(t *testing.T, d Database) {
	for _, a := range anomalies() {
		t.Run(a.name, func(t *testing.T) {
			for _, asserts := range []bool{true, false} {
				between := new(meanwhile)
				s := settings{store: offstore.New(), observer: between}
				if !asserts {
					s.options = append(s.options, gormplugin.WithoutAssertion())
				}
				w := newWorld(t, d, s)
				first, other := a.prepare(w)
				var o outcome
				between.do = func() { o.add(t, other(w.db)) }
				o.add(t, first(w.db))
				if between.do != nil || o.succeeded == 0 {
					t.Error("the operations have not met")
				}
				if found := w.problems(); (len(found) > 0) == (asserts || a.harmless) {
					t.Errorf("asserted: %t: %v", asserts, found)
				}
				w.root = w.newPlan() // the last one may be corrupted on purpose
			}
			w := newWorld(t, d, settings{store: memstore.New()})
			if !d.SoleWriter {
				if got, want := a.inTurn(w, true), a.inTurn(w, false); got != want {
					t.Errorf("after an older read: %v; otherwise: %v", got, want)
				}
			}
			for range triesAtOnce {
				w.root = w.newPlan()
				first, other := a.prepare(w)
				var both sync.WaitGroup
				var o [2]outcome
				both.Go(func() { o[0].add(t, first(w.db)) })
				both.Go(func() { o[1].add(t, other(w.db)) })
				both.Wait()
				if given := o[0].retries + o[0].changed + o[1].retries + o[1].changed; given > 0 {
					t.Errorf("%d statements were given up: %v", given, o)
				}
				w.sound()
			}
		})
	}
}

// inTurn has the first operation come after the other one, in a transaction that has read before
// where older is set, and may keep that snapshot.
func (a anomaly) inTurn(w *world, older bool) (o outcome) {
	w.Helper()
	w.root = w.newPlan()
	first, other := a.prepare(w)
	if !older {
		o.add(w.T, other(w.db))
		o.add(w.T, first(w.db))
		return o
	}
	o.add(w.T, w.db.Transaction(func(tx *gorm.DB) error {
		w.must(tx.Find(&[]Suite{}, "plan_id = ?", w.root.PlanID).Error)
		o.add(w.T, other(w.db))
		return first(tx)
	}))
	w.sound()
	return o
}

// prepare makes the rows of an anomaly.
func (a anomaly) prepare(w *world) (first, other func(*gorm.DB) error) {
	w.Helper()
	for _, p := range a.rows {
		w.build(p)
	}
	return a.first(w), a.other(w)
}

// outcome counts what became of statements.
type outcome struct{ succeeded, changed, retries, refused int }

// String implements [fmt.Stringer].
func (o outcome) String() string {
	return fmt.Sprintf("%d succeeded, %d found the path changed, %d lost to a deadlock, %d were refused", o.succeeded, o.changed, o.retries, o.refused)
}

// add counts one statement's outcome; one that it must not have fails the test.
func (o *outcome) add(t *testing.T, err error) {
	t.Helper()
	switch {
	case err == nil:
		o.succeeded++
	case errors.Is(err, pathlock.ErrPathChanged):
		o.changed++
	case errors.Is(err, gormplugin.ErrRetry):
		o.retries++
	case matches(err, []error{pathlock.ErrNotFound, gormplugin.ErrNameTaken, gormplugin.ErrWouldCycle, gormplugin.ErrRootRow}):
		o.refused++
	default:
		t.Errorf("an error that nobody can handle: %v", err)
	}
}

// checkTargets changes rows between a statement's first look at what it hits and its transaction,
// in which it looks again. It writes the rows that it has locked, as far as they still match.
func checkTargets(t *testing.T, d Database) {
	rename := func(query *gorm.DB, _ any) error { return query.Update("name", "x").Error }
	move := func(query *gorm.DB, parent any) error { return query.Update("parent_id", parent).Error }
	remove := func(query *gorm.DB, _ any) error { return query.Delete(&Suite{}).Error }
	for _, c := range []struct {
		name string
		// notes are what those of /a/b, which is "mine" at first, and of /c/b, which is not,
		// become.
		notes [2]string
		write func(query *gorm.DB, d any) error
		tree  []string
	}{
		{"a further row matches: move", [2]string{"mine", "mine"}, move, []string{"/a", "/c", "/c/b", "/d", "/d/b", "/d/e"}},
		{"another row matches: rename", [2]string{"", "mine"}, rename, []string{"/a", "/a/b", "/c", "/c/b", "/d", "/x"}},
		{"another row matches: delete", [2]string{"", "mine"}, remove, []string{"/a", "/a/b", "/c", "/c/b", "/d"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			between := new(meanwhile)
			w := newWorld(t, d, settings{observer: between})
			ours, theirs, also, below := w.build("/a/b"), w.build("/c/b"), w.build("/e"), w.build("/d")
			note := func(s *Suite, text string) {
				w.must(gormplugin.AllowRawWrites(w.db).Exec("UPDATE suites SET note = ? WHERE id = ?", text, s.ID).Error)
			}
			note(ours, "mine")
			between.do = func() {
				note(ours, c.notes[0])
				note(theirs, c.notes[1])
			}
			// Unscoped, GORM adds no condition of its own, and the statement's are not in
			// parentheses.
			w.must(c.write(w.db.Unscoped().Model(&Suite{}).Where("plan_id = ? AND note = 'mine'", w.root.PlanID).Or("id = ?", also.ID), below.ID))
			if between.do != nil {
				t.Error("nothing happened in between")
			}
			w.has(c.tree...)
		})
	}
}
