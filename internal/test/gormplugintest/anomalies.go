package gormplugintest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/offstore"
	"gorm.io/gorm"
)

// anomaly is a pair of operations that corrupts an unprotected tree when both are planned before
// either writes; [world.operation] has their words.
type anomaly struct {
	name string
	// rows are the paths that there are.
	rows, first, other string
	// harmless is set where the tree is protected without the assertion, too, by the unique index.
	harmless bool
}

func anomalies() []anomaly {
	return []anomaly{
		{"two renames of one row", "/a/x /a/y", "rename /a b", "rename /a c", false},
		{"insert below a row that is renamed", "/a/x", "insert /a/x", "rename /a b", false},
		{"insert by the path of a row that is renamed", "/a/x", "insert-by /a/x", "rename /a b", false},
		{"rename of a row by whose path another is inserted", "/a/x", "rename /a b", "insert-by /a/x", true},
		{"insert by the path of a row that is deleted", "/a/x", "insert-by /a/x", "delete /a/x", false},
		{"move by the path of a row that is renamed", "", "file-to /a /d", "file-rename /d e", false},
		{"move by the path of a row below one that is moved", "", "file-to /a /d/x", "file-to /d /c", false},
		{"crossing moves by paths", "", "file-to /a /c/y", "file-to /c /a/z", false},
		{"move by the path of a row that is deleted", "", "file-to /a /d/x", "file-delete /d/x", false},
		{"rename of a row and of an ancestor", "/a/b/c", "rename /a/b y", "rename /a x", false},
		{"crossing moves", "/a/b /c/d", "move /a /c/d", "move /c /a/b", false},
		{"move to a row that is renamed", "/a/x /d", "move /a /d", "rename /d e", false},
		{"insert below a row that is deleted", "/a/x", "insert /a/x", "delete /a", false},
		{"move below a row that is deleted", "/a/x /b", "move /b /a/x", "delete /a", false},
		{"inserts of one name", "/a", "insert /a", "insert /a", true},
		{"a root row and a row at the top", "", "top", "top a", true},
		{"copy to a row that is renamed", "/a/x /d", "copy /a /d", "rename /d e", false},
		{"crossing arrangements", "/a/b /c/d", "arrange /a /c/d", "arrange /c /a/b", false},
		{"insert below a row that is arranged", "/a/x /b", "insert /a/x", "arrange /a /b", false},
		{"arrangement of a row to where one is renamed", "/a/x /d/x", "arrange /a/x /d", "rename /d/x y", true},
		{"copy to a row that is deleted", "/a/x /d", "copy /a /d", "delete /d", false},
	}
}

// operation prepares one in words: what is done to the row at a path, and the name or the path that
// it gets. What begins with "file-" is done to the tree of files.
func (w *world) operation(words string) func(db *gorm.DB) error {
	w.Helper()
	what, rest, _ := strings.Cut(words, " ")
	path, to, _ := strings.Cut(rest, " ")
	plan, model, id, parent := w.root.PlanID, any(&Suite{}), int64(0), int64(0)
	done, isFile := strings.CutPrefix(what, "file-")
	switch {
	case what == "top":
		w.must(w.db.Unscoped().Delete(&Suite{ID: w.root.ID}).Error)
	case isFile:
		for _, p := range []string{"/a", "/a/z", "/c", "/c/y", "/d", "/d/x"} {
			w.file(p)
		}
		model, id = &file{}, w.file(path).ID
	default:
		if id = w.build(path).ID; strings.HasPrefix(to, "/") {
			parent = w.build(to).ID
		}
	}
	return func(db *gorm.DB) (err error) {
		one := db.Model(model).Where("id = ?", id)
		switch done {
		case "top":
			return db.Create(&Suite{PlanID: plan, Name: path}).Error
		case "insert":
			return db.Create(&Suite{ParentID: &id, Name: "new"}).Error
		case "insert-by":
			return db.Create(&Suite{PlanID: plan, Path: path + "/new"}).Error
		case "rename":
			return one.Update("name", to).Error
		case "move":
			return one.Update("parent_id", parent).Error
		case "to":
			return one.Update("folder", to).Error
		case "delete":
			return one.Delete(model).Error
		case "arrange":
			return gormplugin.Arrange(db, []Suite{{ID: id, ParentID: &parent}})
		case "copy":
			_, err = gormplugin.Copy(db, &Suite{}, id, gormplugin.Below(parent))
			return err
		default:
			return fmt.Errorf("no operation is called %q", what)
		}
	}
}

// checkDirtyReads has an operation read what another transaction then rolls back. It does what it
// would have done without that.
func checkDirtyReads(t *testing.T, d Database) {
	for _, c := range []struct{ undone, operation, tree string }{
		{"rename /a b", "rename /a b", "/b /c"},
		{"move /a /c", "move /a /c", "/c /c/a"},
		{"delete /a", "rename /a b", "/b /c"},
		{"delete /a", "move /a /c", "/c /c/a"},
		{"delete /a", "delete /a", "/c"},
		{"delete /a", "insert /a", "/a /a/new /c"},
		{"move /a /c", "move /c /a", "/a /a/c"},
	} {
		t.Run(c.operation+" after a read of "+c.undone, func(t *testing.T) {
			w := newWorld(t, d, settings{})
			w.build("/a")
			w.build("/c")
			undone, operation := w.operation(c.undone), w.operation(c.operation)
			tx := w.db.Begin()
			w.must(undone(tx))
			w.trace.intercept(func(done call) error {
				if done.after && done.kind == "query" {
					w.trace.intercept(nil)
					w.must(tx.Rollback().Error)
				}
				return nil
			})
			w.must(operation(w.db))
			w.has(strings.Fields(c.tree)...)
		})
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
const triesAtOnce = 3

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
	for p := range strings.FieldsSeq(a.rows) {
		w.build(p)
	}
	return w.operation(a.first), w.operation(a.other)
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
