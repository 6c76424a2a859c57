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

// anomaly is a pair of operations that corrupts an unprotected tree when both are planned before
// either writes.
type anomaly struct {
	name  string
	rows  []string
	first func(w *world) func(db *gorm.DB) error
	other func(w *world) func(db *gorm.DB) error
	// harmless is set where the tree is protected without the assertion, too: by the unique index,
	// or since one statement reads and writes.
	harmless bool
	// fewer is set where a quarter of the tries will do: what protects the tree is what the others
	// have shown.
	fewer bool
}

func anomalies() []anomaly {
	return []anomaly{
		{name: "two renames of one row", rows: []string{"/a/x", "/a/y"}, first: rename("/a", "b"), other: rename("/a", "c")},
		{name: "rename and insert below", rows: []string{"/a/x"}, first: rename("/a", "b"), other: insert("/a/x")},
		{name: "rename of an ancestor and of a row below", rows: []string{"/a/b/c"}, first: rename("/a", "x"), other: rename("/a/b", "y")},
		{name: "crossing moves", rows: []string{"/a/b", "/c/d"}, first: move("/a", "/c/d"), other: move("/c", "/a/b")},
		{name: "move and rename of the destination", rows: []string{"/a/x", "/d"}, first: move("/a", "/d"), other: rename("/d", "e")},
		{name: "delete and insert below", rows: []string{"/a/x"}, first: remove("/a"), other: insert("/a/x")},
		{name: "delete and move below", rows: []string{"/a/x", "/b"}, first: remove("/a"), other: move("/b", "/a/x")},
		{name: "inserts of one name", rows: []string{"/a"}, first: insert("/a"), other: insert("/a"), harmless: true},
		{name: "a root row and a row at the top", first: atTop(""), other: atTop("a"), harmless: true},
		{name: "copy and rename of the destination", rows: []string{"/a/x", "/d"}, first: copyToD, other: rename("/d", "e"), fewer: true},
		{name: "copy and delete of the destination", rows: []string{"/a/x", "/d"}, first: copyToD, other: remove("/d"), fewer: true},
		{name: "copy and rename of the source", rows: []string{"/a/x", "/d"}, first: copyToD, other: rename("/a", "b"), harmless: true, fewer: true},
		{name: "copy and insert into the source", rows: []string{"/a/x", "/d"}, first: copyToD, other: insert("/a/x"), harmless: true, fewer: true},
		{name: "copies to one name", rows: []string{"/a/x", "/d"}, first: copyToD, other: copyToD, harmless: true, fewer: true},
	}
}

func rename(path, name string) func(*world) func(*gorm.DB) error {
	return func(w *world) func(*gorm.DB) error {
		id := w.build(path).ID
		return func(db *gorm.DB) error { return db.Model(&Suite{}).Where("id = ?", id).Update("name", name).Error }
	}
}

func move(path, to string) func(*world) func(*gorm.DB) error {
	return func(w *world) func(*gorm.DB) error {
		id, parent := w.build(path).ID, w.build(to).ID
		return func(db *gorm.DB) error {
			return db.Model(&Suite{}).Where("id = ?", id).Update("parent_id", parent).Error
		}
	}
}

// insert adds a row called new below path.
func insert(path string) func(*world) func(*gorm.DB) error {
	return func(w *world) func(*gorm.DB) error {
		parent := w.build(path).ID
		return func(db *gorm.DB) error { return db.Create(&Suite{ParentID: &parent, Name: "new"}).Error }
	}
}

// atTop makes a row in an empty tree.
func atTop(name string) func(*world) func(*gorm.DB) error {
	return func(w *world) func(*gorm.DB) error {
		w.must(w.db.Unscoped().Delete(&Suite{ID: w.root.ID}).Error)
		return func(db *gorm.DB) error { return db.Create(&Suite{PlanID: w.root.PlanID, Name: name}).Error }
	}
}

func remove(path string) func(*world) func(*gorm.DB) error {
	return func(w *world) func(*gorm.DB) error {
		id := w.build(path).ID
		return func(db *gorm.DB) error { return db.Delete(&Suite{}, id).Error }
	}
}

// copyToD copies /a to below /d.
func copyToD(w *world) func(*gorm.DB) error {
	id, parent := w.build("/a").ID, w.build("/d").ID
	return func(db *gorm.DB) error {
		_, err := gormplugin.Copy(db, &Suite{}, id, gormplugin.Below(parent))
		return err
	}
}

// order says how the two statements of a try meet. Each plans and is granted its locks before
// either begins to write; then both write at once, or one after the other.
type order int

const (
	together order = iota
	firstThenOther
	otherThenFirst
	unarranged
)

// turnKey is the context key of which of the two statements it is.
type turnKey struct{}

// meeting is an observer at which the statements wait for each other.
type meeting struct {
	pathlock.NopObserver
	mu sync.Mutex
	// granted[i] and done[i] are closed once statement i has planned, and once it has ended.
	granted, done [2]chan struct{}
	order         order
}

// arrange prepares the next try.
func (m *meeting) arrange(o order) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.order = o
	for i := range 2 {
		m.granted[i], m.done[i] = make(chan struct{}), make(chan struct{})
	}
}

// Granted implements [pathlock.Observer].
func (m *meeting) Granted(ctx context.Context, _ pathlock.Event) {
	turn, ok := ctx.Value(turnKey{}).(int)
	m.mu.Lock()
	if !ok || m.order == unarranged {
		m.mu.Unlock()
		return
	}
	select {
	case <-m.granted[turn]:
		// Only the first grant is the plan's.
		m.mu.Unlock()
		return
	default:
	}
	close(m.granted[turn])
	other, last := m.granted[1-turn], m.order == firstThenOther && turn == 1 || m.order == otherThenFirst && turn == 0
	ended := m.done[1-turn]
	m.mu.Unlock()
	select {
	case <-other:
	case <-ended: // it was refused before it was granted anything
	}
	if last {
		<-ended
	}
}

// ended is called when statement turn is over.
func (m *meeting) ended(turn int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.done[turn])
}

// checkAnomalies provokes the anomalies. A lock store that grants everything must not matter as
// long as there is the assertion; without the assertion it must, or the test is worth nothing.
func checkAnomalies(t *testing.T, d Database) {
	for _, a := range anomalies() {
		tries := d.tries(t)
		if a.fewer {
			tries = max(tries/4, 3)
		}
		t.Run(a.name, func(t *testing.T) {
			t.Run("a store that grants everything", func(t *testing.T) {
				got := provoke(t, d, a, tries, settings{store: offstore.New()}, together, firstThenOther, otherThenFirst)
				if got.corrupted != 0 {
					t.Errorf("%d of %d corrupted, such as %v", got.corrupted, tries, got.example)
				}
				if d.SoleWriter && got.retries > 0 {
					t.Errorf("%d statements were given up, where each only has to wait", got.retries)
				}
				t.Log(got)
			})
			t.Run("and no assertion", func(t *testing.T) {
				s := settings{store: offstore.New(), options: []gormplugin.Option{gormplugin.WithoutAssertion()}}
				got := provoke(t, d, a, 2, s, firstThenOther, otherThenFirst)
				if a.harmless != (got.corrupted == 0) {
					t.Errorf("%d corrupted, one after the other in either order", got.corrupted)
				}
				t.Log(got)
			})
			t.Run("a real store", func(t *testing.T) {
				got := provoke(t, d, a, tries, settings{store: memstore.New()}, unarranged)
				if got.corrupted != 0 {
					t.Errorf("%d of %d corrupted, such as %v", got.corrupted, tries, got.example)
				}
				if given := got.retries + got.changed; given > 0 {
					t.Errorf("%d statements were given up in %d tries: %v", given, tries, got)
				}
				t.Log(got)
			})
		})
	}
}

// outcome counts what became of the statements.
type outcome struct {
	corrupted, succeeded, changed, retries, refused int
	example                                         []string
}

// String implements [fmt.Stringer].
func (o outcome) String() string {
	return fmt.Sprintf("%d corrupted; of the statements %d succeeded, %d found the path changed, %d lost to a deadlock, %d were refused",
		o.corrupted, o.succeeded, o.changed, o.retries, o.refused)
}

// provoke runs an anomaly a number of times, each on a plan of its own.
func provoke(t *testing.T, d Database, a anomaly, tries int, s settings, orders ...order) outcome {
	t.Helper()
	m := new(meeting)
	s.observer = m
	w := newWorld(t, d, s)
	var o outcome
	for try := range tries {
		m.arrange(unarranged)
		w.root = w.newPlan()
		for _, p := range a.rows {
			w.build(p)
		}
		operations := []func(*gorm.DB) error{a.first(w), a.other(w)}
		m.arrange(orders[try%len(orders)])
		errs := make([]error, len(operations))
		var start, done sync.WaitGroup
		start.Add(1)
		for i, operation := range operations {
			done.Go(func() {
				start.Wait()
				errs[i] = operation(w.db.WithContext(context.WithValue(t.Context(), turnKey{}, i)))
				m.ended(i)
			})
		}
		start.Done()
		done.Wait()
		for _, err := range errs {
			o.add(t, err)
		}
		if found := w.problems(); len(found) > 0 {
			o.corrupted++
			o.example = found
		}
	}
	w.root = w.newPlan() // the last one may be corrupted on purpose
	return o
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

// report logs what became of the workers' statements, of which some have to succeed.
func report(t *testing.T, workers []outcome) {
	t.Helper()
	succeeded := 0
	for _, o := range workers {
		t.Log(o)
		succeeded += o.succeeded
	}
	if succeeded == 0 {
		t.Error("nothing succeeded")
	}
}
