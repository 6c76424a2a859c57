package gormplugintest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"

	"pgregory.net/rapid"
)

// draw draws a statement.
func (m *machine) draw() statement {
	kinds := []func() statement{m.insert, m.insert, m.update, m.update, m.update, m.arranged, m.arranged, m.remove, m.save, m.upsert, m.refused}
	if !m.nameless { // copies of twins could not be told apart
		kinds = append(kinds, m.copied, m.copied)
	}
	if m.table.live != "" {
		kinds = append(kinds, m.bringBack)
	}
	if m.table.leaf != nil {
		kinds = append(kinds, m.leaf, m.leaf)
	}
	if m.open {
		kinds = append(kinds, m.guard)
	}
	if len(m.live()) < 3 {
		return m.insert()
	}
	return kinds[rapid.IntRange(0, len(kinds)-1).Draw(m.T, "kind")]()
}

// pick draws one of several.
func pick[V any](m *machine, from []V, label string) V {
	return from[rapid.IntRange(0, len(from)-1).Draw(m.T, label)]
}

// rarely draws true once in n times.
func (m *machine) rarely(n int, label string) bool { return rapid.IntRange(1, n).Draw(m.T, label) == n }

// name draws a name: mostly one of few, so that they meet.
func (m *machine) name() string {
	if m.nameless {
		return pick(m, []string{"a", "b", "", "a/b", "//", "."}, "name")
	}
	if m.form.separator != "" && m.form.separator != "/" && m.rarely(12, "two names in one") {
		return "a" + m.form.separator + "b"
	}
	if m.rarely(8, "an unusual name") {
		unusual := []string{
			"A", "a ", " a", "a%", "a_", "%", "_", "'q'", `"q"`, "`q`", `b\s`, "?", "@name", "{}", "--", ";DROP", "测试", "é", "😀", "a/b", "/a", "//", "a/", "./a", "", ".", "..", "x\x00y", "\xff",
			strings.Repeat("é", 90), strings.Repeat("x", 99), strings.Repeat("😀", 100),
		}
		if m.table.full {
			// Two of them fill a path, or are one character too long.
			unusual = append(unusual, strings.Repeat("x", 249), strings.Repeat("é", 249), strings.Repeat("😀", 250), strings.Repeat("测", 249))
		}
		return pick(m, unusual, "name")
	}
	return pick(m, []string{"a", "b", "c", "ab", "a-b", "aa", "a0"}, "name")
}

// some draws one to three rows.
func (m *machine) some(from []int, label string) []int {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(from), 1, min(3, len(from)), rapid.ID).Draw(m.T, label)
}

// parentOf draws what a row is to hang below: mostly a live row, at times the top, a deleted row or
// none at all.
func (m *machine) parentOf() int {
	switch live := m.live(); {
	case m.rarely(10, "missing parent"):
		if dead := m.dead(); len(dead) > 0 && rapid.Bool().Draw(m.T, "deleted") {
			return pick(m, dead, "parent")
		}
		m.keys[-1] = m.table.missing()
		return -1
	case len(live) == 0 || m.rarely(6, "at the top"):
		return 0
	default:
		return pick(m, live, "parent")
	}
}

// missing makes a key that no row has.
func (x *table) missing() any {
	if x.key != nil {
		return x.key()
	}
	return x.keyOf(fmt.Sprint(1<<30 + rand.Int32N(1<<20)))
}

// keyOf is the key that reads as the text, as the model has it.
func (x *table) keyOf(text string) any {
	row := x.new()
	if x.get(row, "id") == any(Binary{}) {
		x.set(row, "id", []byte(text))
	} else {
		x.set(row, "id", text)
	}
	return x.get(row, "id")
}

// value is a row's value for the parent column, in any of the ways to say that there is no parent.
func (m *machine) value(parent int) any {
	if parent != 0 {
		return m.spelled(m.keys[parent])
	}
	zero := reflect.Zero(reflect.TypeOf(m.table.get(m.table.new(), "id")))
	if zero.Kind() == reflect.Array {
		return pick(m, []any{nil, zero.Interface()}, "none")
	}
	return pick(m, []any{nil, zero.Interface(), reflect.New(zero.Type()).Interface(), reflect.Zero(reflect.PointerTo(zero.Type())).Interface()}, "none")
}

// spelled spells a key in another way at times.
func (m *machine) spelled(key any) any {
	if _, several := key.(UUID); several && rapid.Bool().Draw(m.T, "respelled") {
		return respelled(m.worlds[0].db.Name(), key)
	}
	return key
}

// id makes the number of a new node.
func (m *machine) id() int {
	m.last++
	return m.last
}

// paths returns where rows are.
func (m *machine) paths(ids []int) (paths []string) {
	for _, id := range ids {
		paths = append(paths, fmt.Sprintf("%d%s", m.rows[id].tree, m.path(id)))
	}
	return paths
}

// keysOf returns the keys of rows.
func (m *machine) keysOf(ids []int) (keys []any) {
	for _, id := range ids {
		keys = append(keys, m.spelled(m.keys[id]))
	}
	return keys
}
