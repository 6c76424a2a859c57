package gormplugintest

import (
	"reflect"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"pgregory.net/rapid"
)

// goal is the row below which a row of a tree goes that states the text of a path instead of a
// parent: a root row, or else the top, which is 0. It is not ok if there is none.
func (f forest) goal(form spelling, tree int, text, name string) (parent int, ok bool) {
	name = form.last(name)
	for _, id := range append(f.live(), 0) {
		if (id == 0 || f.rows[id].tree == tree) && form.of(f.path(id)+"/"+name) == text {
			return id, true
		}
	}
	return 0, false
}

// textBelow is the text of the path of a row with a name below another one, at times of none.
func (m *machine) textBelow(form spelling, parent int, name string) string {
	name = form.last(name)
	if _, err := m.line(parent); err != nil || m.rarely(8, "no such path") {
		return form.of("/else/where/" + name)
	}
	return form.of(m.path(parent) + "/" + name)
}

// destination is the place below a row, at times by its path if that says it in the source's tree.
func (m *machine) destination(source, parent int) gormplugin.Place {
	if line, err := m.line(parent); err == nil && len(line) > 0 && m.table.path != "" && !m.stale && m.rows[parent].tree == m.rows[source].tree {
		if path, err := pathlock.ParsePath(m.path(parent)); err == nil && m.rarely(2, "to a path") {
			return gormplugin.Below(path)
		}
	}
	return gormplugin.Below(m.keys[parent])
}

// typed is the text of a path as people may write it: with the separator at either end or not.
// Where a text of its own begins paths, nobody knows that from a name.
func (m *machine) typed(form spelling, text string) string {
	names := strings.Trim(text, form.separator)
	if names == "" || form.lead != "" && form.lead != form.separator || !m.rarely(3, "as people write it") {
		return text
	}
	ends := []string{"", form.separator}
	return pick(m, ends, "begins with") + names + pick(m, ends, "ends in")
}

// last is the last name of a path, any one where the column does not have it.
func (s spelling) last(name string) string {
	if s.ofParent {
		return "x"
	}
	return name
}

// endsIn reports whether the text of a path can end in a name.
func (s spelling) endsIn(name string) bool {
	return !s.ofParent && validName(name) && !strings.Contains(name, s.separator)
}

// noPlace is what the text of a path is refused by that says no place of the row's.
var noPlace = []error{pathlock.ErrNotFound, gormplugin.ErrMisplaced, pathlock.ErrPathChanged, pathlock.ErrInvalidPath}

// insertByPath has a new row state a path instead of its parent at times, and then no name, either,
// where the path has it.
func (m *machine) insertByPath(g forest, id int, row map[string]any, s *statement) {
	x, n := m.table, g.rows[id]
	if x.path == "" || n.name == "" && !m.form.ofParent || !m.rarely(3, "by its path") {
		return
	}
	text := m.textBelow(m.form, n.parent, n.name)
	row[x.path] = m.typed(m.form, text)
	delete(row, x.parent)
	x.putIn(row, m.trees[n.tree])
	parent, ok := m.goal(m.form, n.tree, text, n.name)
	switch {
	case m.form.ofParent && text == "":
		parent, ok = 0, true // it states none
		if rapid.Bool().Draw(m.T, "as the separator") {
			row[x.path] = m.form.separator
		}
	case !m.form.ofParent && !m.form.endsIn(n.name):
		s.reasons = append(s.reasons, noPlace...)
	case !m.form.ofParent && rapid.Bool().Draw(m.T, "without its name"):
		delete(row, x.label)
	}
	if !ok {
		s.reasons = append(s.reasons, pathlock.ErrNotFound)
	}
	n.parent = parent
	g.rows[id] = n
	s.byPath = true
}

// updateByPath has an update state a path instead of the parent. It returns the parent that this
// means, and reports whether rows go there.
func (m *machine) updateByPath(ids []int, values map[string]any, parent int, name string, s *statement) (goal int, moves bool) {
	x, trees, ok := m.table, make(map[int]bool), true
	text := m.textBelow(m.form, parent, name)
	delete(values, x.parent)
	values[x.path] = m.typed(m.form, text)
	for _, id := range ids {
		if n := m.rows[id]; !n.dead {
			trees[n.tree], moves = true, moves || m.form.of(m.path(id)) != text
			goal, ok = m.goal(m.form, n.tree, text, name)
		}
	}
	switch {
	case moves && len(trees) > 1:
		s.reasons = append(s.reasons, gormplugin.ErrMisplaced)
	case !ok:
		s.reasons = append(s.reasons, pathlock.ErrNotFound)
	}
	s.byPath = true
	return goal, moves
}

// leafByPath gives a leaf of a tree the parent that the text of its path says.
func (m *machine) leafByPath(g forest, id, tree int, text string, s *statement) node {
	n := g.leaves[id]
	parent, ok := m.goal(m.leafForm, tree, text, n.name)
	if !ok {
		s.reasons = append(s.reasons, pathlock.ErrNotFound)
	}
	n.parent = parent
	g.leaves[id] = n
	return n
}

// toldParent checks the parent and the name that a struct has.
func (m *machine) toldParent(f forest, id int, row any) {
	x, n := m.table, f.rows[id]
	held := func(column string) string {
		if value := reflect.Indirect(reflect.ValueOf(x.get(row, column))); value.IsValid() {
			return x.text(value.Interface())
		}
		return "<nil>"
	}
	got, want := held(x.parent), "<nil>"
	if n.parent != 0 {
		want = x.text(m.keys[n.parent])
	}
	if got != want && (n.parent != 0 || !x.isNone(got)) || !strings.Contains("<nil>"+strings.TrimSpace(n.name), held(x.label)) {
		m.Fatalf("the struct says %+v, the row is %q below %s", row, n.name, want)
	}
}
