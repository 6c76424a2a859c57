package gormplugintest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// form is one way to write to a guarded table, begun on a tree that is always the same: either what
// it makes of the tree, or the error by which it is refused, and then nothing is written.
type form struct {
	name  string
	write func(w *world, tx *gorm.DB) error
	// tree is what the tree is afterwards; empty where it stays as it was.
	tree string
	// refused is what the error matches; nil where there is none.
	refused error
	// only names the databases that know the form, all unless set.
	only string
	// check looks further, if set.
	check func(w *world)
}

// specification is what forms of write make of one kind of tree.
type specification struct {
	name string
	// tree is where the reader finds the rows, and planted is what plant makes, in the tree of
	// w.root.PlanID.
	tree    treeTable
	planted string
	plant   func(w *world)
	forms   []form
}

// suiteTree is the tree that the forms on suites begin with. The ids are w.ids' by path. One row is
// in the bin, and a leaf hangs below /a/b.
const suiteTree = "/a /a/b /a/b/c /d /d/e"

// unchanged is what the errors of the forms that are refused may match, where the reason is one of
// several.
var errAny = errors.New("any error")

// plantSuites makes suiteTree by one statement each.
func plantSuites(w *world) {
	w.Helper()
	first := rand.Int64N(1 << 50)
	w.root = &Suite{ID: first, PlanID: first}
	w.ids = map[string]int64{"": first}
	values, args := []string{"(?, ?, NULL, '', '', 0, 0, NULL)"}, []any{first, first}
	for i, path := range append(strings.Fields(suiteTree), "/bin", "/bin/x") {
		id, slash := first+int64(i)+1, strings.LastIndexByte(path, '/')
		w.ids[path] = id
		deleted := any(nil)
		if strings.HasPrefix(path, "/bin") {
			deleted = "2026-01-02 03:04:05"
		}
		values = append(values, "(?, ?, ?, ?, ?, 0, 0, ?)")
		args = append(args, id, first, w.ids[path[:slash]], path[slash+1:], path, deleted)
	}
	raw := gormplugin.AllowRawWrites(w.db)
	w.must(raw.Exec("INSERT INTO suites (id, plan_id, parent_id, name, path, version, fence, deleted) VALUES "+strings.Join(values, ", "), args...).Error)
	w.must(raw.Exec("INSERT INTO cases (id, suite_id, name) VALUES (?, ?, 't')", first, w.ids["/a/b"]).Error)
}

// at returns the planted row with the path, as a query finds it.
func (w *world) at(path string) *Suite {
	w.Helper()
	s := new(Suite)
	w.must(w.db.Unscoped().Take(s, w.ids[path]).Error)
	return s
}

// parent returns a planted row's id for a parent column.
func (w *world) parent(path string) *int64 {
	id, ok := w.ids[path]
	if !ok {
		w.Fatalf("nothing was planted at %q", path)
	}
	return &id
}

// run runs every form by itself and within a transaction.
func (s specification) run(t *testing.T, d Database) {
	t.Run(s.name, func(t *testing.T) {
		base := newWorld(t, d, settings{})
		for _, f := range s.forms {
			if f.only != "" && !slices.Contains(strings.Fields(f.only), base.db.Name()) {
				continue
			}
			t.Run(f.name, func(t *testing.T) {
				for _, mode := range []struct {
					name string
					run  func(w *world, f form) error
				}{
					{"alone", func(w *world, f form) error { return f.write(w, w.db.WithContext(t.Context())) }},
					{"in a transaction", writeWithin},
				} {
					w := *base
					w.T = t
					s.plant(&w)
					s.try(&w, f, mode.name, mode.run)
				}
			})
		}
	})
}

// writeWithin runs a form in a transaction that is committed even where the form is refused.
func writeWithin(w *world, f form) error {
	tx := w.db.WithContext(w.Context()).Begin()
	w.must(tx.Error)
	err := f.write(w, tx)
	if committed := tx.Commit().Error; err == nil {
		return committed
	}
	return err
}

// try runs one form and looks at what it has left.
func (s specification) try(w *world, f form, mode string, run func(*world, form) error) {
	w.Helper()
	before := s.dump(w)
	err := run(w, f)
	switch {
	case f.refused == nil && err != nil:
		w.Fatalf("%s: %v", mode, err)
	case f.refused != nil && err == nil:
		w.Errorf("%s: it was not refused", mode)
	case f.refused != nil && !errors.Is(f.refused, errAny) && !errors.Is(err, f.refused):
		w.Errorf("%s: got the error %v, want %v", mode, err, f.refused)
	}
	rows, trouble := s.tree.problems(w.db, w.root.PlanID)
	for _, problem := range trouble {
		w.Errorf("%s: %s", mode, problem)
	}
	if f.refused != nil {
		if after := s.dump(w); after != before {
			w.Errorf("%s: it was refused (%v), and yet wrote:\n%s", mode, err, difference(before, after))
		}
	} else if got, want := strings.Join(rows, " "), inOrder(f.tree); f.tree != "" && got != want || f.tree == "" && got != s.planted {
		w.Errorf("%s: the tree is\n\t%s\nwant\n\t%s", mode, got, want)
	}
	if f.check != nil && !w.Failed() {
		f.check(w)
	}
	if trees, err := w.locker.Trees(w.Context()); err != nil || len(trees) > 0 {
		w.Errorf("%s: locks are left in %v (%v)", mode, trees, err)
	}
}

// dump returns all columns of all rows of the tree, and how many rows the guarded tables have.
func (s specification) dump(w *world) string {
	w.Helper()
	var rows []map[string]any
	w.must(w.db.Raw("SELECT * FROM "+s.tree.name+" WHERE "+s.tree.tree+" = ? ORDER BY "+s.tree.key, w.root.PlanID).Scan(&rows).Error)
	text := new(strings.Builder)
	for _, row := range rows {
		_, _ = fmt.Fprintln(text, row)
	}
	for _, table := range []string{s.tree.name, "cases", "blocks", "others"} {
		var n int64
		w.must(w.db.Raw("SELECT COUNT(*) FROM " + table).Scan(&n).Error)
		_, _ = fmt.Fprintln(text, table, n)
	}
	return text.String()
}

// inOrder returns a tree with its paths in order.
func inOrder(tree string) string {
	paths := strings.Fields(tree)
	slices.Sort(paths)
	return strings.Join(paths, " ")
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

// refusals that many forms share.
var (
	unsupported = gormplugin.ErrUnsupported
	notFound    = pathlock.ErrNotFound
	changed     = pathlock.ErrPathChanged
	taken       = gormplugin.ErrNameTaken
)

// specifications returns all of them.
func specifications() []specification {
	return []specification{
		{"forms of create", suites, suiteTree, plantSuites, createForms()},
		{"forms of update", suites, suiteTree, plantSuites, updateForms()},
		{"forms of delete", suites, suiteTree, plantSuites, deleteForms()},
		{"forms of save", suites, suiteTree, plantSuites, saveForms()},
		{"forms of associations", pages, pageTree, plantPages, associationForms()},
	}
}
