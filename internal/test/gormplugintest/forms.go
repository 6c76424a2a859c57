package gormplugintest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// form is one way to write to a guarded table that the state machine does not draw, begun on a tree
// that is always the same: either what it makes of the tree, or the error by which it is refused,
// and then nothing is written.
type form struct {
	name  string
	write func(w *world, tx *gorm.DB) error
	// tree is what the tree is afterwards; empty where it stays as it was.
	tree string
	// refused is what the error matches; nil where there is none.
	refused error
	// only names the databases that know the form, all unless set.
	only string
}

// specification is what forms of write make of one kind of tree.
type specification struct {
	name string
	of   shape
	// plant makes the tree planted in the tree of w.root.PlanID, with its ids in w.ids by path.
	plant   func(w *world)
	planted string
	forms   []form
}

// unsupported is what many forms are refused by.
var unsupported = gormplugin.ErrUnsupported

// specifications returns all of them.
func specifications() []specification {
	return []specification{
		{"forms", shapes()[0], plantSuites, suiteTree, slices.Concat(suiteForms(), saveForms(), callbackForms())},
		{"associations", shape{model: Page{}}, plantPages, pageTree, associationForms()},
	}
}

// run runs every form in a transaction that is committed even where the form is refused.
func (s specification) run(t *testing.T, d Database) {
	t.Run(s.name, func(t *testing.T) {
		w := newWorld(t, d, settings{})
		w.meddles()
		x := w.tableOf(s.of)
		for _, f := range s.forms {
			if f.only != "" && !slices.Contains(strings.Fields(f.only), w.db.Name()) {
				continue
			}
			t.Run(f.name, func(t *testing.T) {
				w := *w
				w.T = t
				s.plant(&w)
				before := w.rowsOf(x)
				tx := w.db.WithContext(t.Context()).Begin()
				err := f.write(&w, tx)
				if committed := tx.Commit().Error; err == nil {
					err = committed
				}
				w.isA(err, f.refused)
				paths, found := x.problems(w.db, w.root.PlanID)
				for _, problem := range found {
					t.Error(problem)
				}
				if after := w.rowsOf(x); f.refused != nil && after != before {
					t.Errorf("it was refused, and yet wrote:\n%s", difference(before, after))
				}
				if f.tree == "" {
					f.tree = s.planted
				}
				want := strings.Fields(f.tree)
				slices.Sort(want)
				if f.refused == nil && !slices.Equal(paths, want) {
					t.Errorf("the tree is\n\t%q\nwant\n\t%q", paths, want)
				}
				w.nothingHeld()
			})
		}
	})
}

// rowsOf returns all rows of the tree, one a line.
func (w *world) rowsOf(x *table) string {
	w.Helper()
	rows, err := x.read(w.db, w.root.PlanID)
	w.must(err)
	lines := make([]string, len(rows))
	for i, r := range rows {
		lines[i] = fmt.Sprintf("%+v", r)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// isA checks that an error matches want, by which nil matches nil only.
func (w *world) isA(err, want error) {
	w.Helper()
	if !isA(err, want) {
		w.Errorf("got the error %v, want %v", err, want)
	}
}

// isA is errors.Is, by which nil matches nil only.
func isA(err, want error) bool {
	if want == nil {
		return err == nil
	}
	return errors.Is(err, want)
}

// difference returns the lines that only one of two texts has.
func difference(before, after string) string {
	var lines []string
	old, now := strings.Split(before, "\n"), strings.Split(after, "\n")
	for _, line := range old {
		if !slices.Contains(now, line) {
			lines = append(lines, "- "+line)
		}
	}
	for _, line := range now {
		if !slices.Contains(old, line) {
			lines = append(lines, "+ "+line)
		}
	}
	return strings.Join(lines, "\n")
}
