package gormplugintest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"pgregory.net/rapid"
)

// draw draws a statement.
func (m *machine) draw() statement {
	kinds := []func() statement{m.insert, m.insert, m.update, m.update, m.update, m.remove, m.copied, m.save, m.upsert, m.refused}
	if m.table.live != "" {
		kinds = append(kinds, m.bringBack, m.renameDead)
	}
	if m.table.leaf != nil {
		kinds = append(kinds, m.leaf, m.leaf)
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

// often draws true once in n times.
func (m *machine) rarely(n int, label string) bool { return rapid.IntRange(1, n).Draw(m.T, label) == n }

// name draws a name: mostly one of few, so that they meet.
func (m *machine) name() string {
	if m.rarely(8, "an unusual name") {
		unusual := []string{
			"A", "a ", " a", "a%", "a_", "%", "_", "'q'", `"q"`, "`q`", `b\s`, "?", "@name", "{}", "--", ";DROP", "测试", "é", "😀", "a/b", "", ".", "..", "x\x00y", "\xff",
			strings.Repeat("é", 90), strings.Repeat("x", 99), strings.Repeat("😀", 100),
		}
		if m.table.leaf != nil {
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

// value is what a parent column is given for a row, in any of the ways to say that there is none.
func (m *machine) value(parent int) any {
	if parent != 0 {
		return m.keys[parent]
	}
	zero := reflect.Zero(reflect.TypeOf(m.table.get(m.table.new(), "id")))
	if zero.Kind() == reflect.Array {
		return pick(m, []any{nil, zero.Interface()}, "none")
	}
	return pick(m, []any{nil, zero.Interface(), reflect.New(zero.Type()).Interface(), reflect.Zero(reflect.PointerTo(zero.Type())).Interface()}, "none")
}

// id makes the number of a new node.
func (m *machine) id() int {
	m.last++
	return m.last
}

// placed completes a statement that has given rows of g other places than in the forest.
func (m *machine) placed(g forest, changed []int, s statement) statement {
	s.after, s.reasons = g, append(s.reasons, g.problems(changed)...)
	if len(changed) > 0 {
		s.claims = make(map[int][]string)
	}
	for _, id := range changed {
		s.top = s.top || g.rows[id].parent == 0
		for _, f := range []forest{m.forest, g} {
			if _, ok := f.rows[id]; ok && !f.rows[id].dead && (len(s.reasons) == 0 || f.path(id) != "") {
				s.claims[f.rows[id].tree] = append(s.claims[f.rows[id].tree], f.path(id))
			}
		}
	}
	for tree, paths := range s.claims {
		s.claims[tree] = topmost(paths)
	}
	if len(s.reasons) > 0 {
		return s
	}
	for _, id := range g.live() {
		n, was := g.rows[id], m.rows[id]
		if _, ok := m.rows[id]; !ok || was.dead {
			continue
		}
		line, _ := g.line(id)
		before, _ := m.line(id)
		if slices.Contains(changed, id) || m.table.path != "" && g.path(id) != m.path(id) || m.table.ids != "" && !slices.Equal(line, before) {
			n.version++
			g.rows[id] = n
		}
	}
	return s
}

// topmost drops what lies below others.
func topmost(paths []string) (kept []string) {
	for _, p := range paths {
		if !slices.ContainsFunc(paths, func(other string) bool { return strings.HasPrefix(p, other+"/") }) && !slices.Contains(kept, p) {
			kept = append(kept, p)
		}
	}
	return kept
}

// insert draws the creation of rows, in one of the forms that there are.
func (m *machine) insert() statement {
	g := m.clone()
	var fresh []int
	var values []map[string]any
	given := m.table.given && rapid.Bool().Draw(m.T, "keys by the database")
	s := statement{}
	for i := range rapid.IntRange(1, 3).Draw(m.T, "rows") {
		n := node{parent: m.parentOf(), name: m.name()}
		if !given && m.table.key != nil && i > 0 && m.rarely(3, "below another new row") {
			n.parent = fresh[0]
		}
		id := m.id()
		row := map[string]any{m.table.label: n.name}
		if n.parent != 0 {
			n.tree = g.rows[n.parent].tree
			if m.rarely(3, "states its tree") {
				row[m.table.treeColumn] = m.trees[n.tree]
			}
		} else {
			n.tree = rapid.IntRange(0, 1).Draw(m.T, "tree")
			row[m.table.treeColumn] = m.trees[n.tree]
			if len(m.live()) == 0 && rapid.Bool().Draw(m.T, "root row") {
				n.name = ""
				row[m.table.label] = ""
			}
		}
		row[m.table.parent] = m.value(n.parent)
		if !given && m.table.key != nil {
			m.keys[id] = m.table.key()
			row["id"] = m.keys[id]
		}
		if m.table.note != "" {
			n.note = pick(m, []string{"", "n", "m"}, "note")
			row[m.table.note] = n.note
		}
		g.rows[id] = n
		fresh, values = append(fresh, id), append(values, row)
	}
	stated := m.stated(g, fresh, values, &s)
	if s = m.placed(g, fresh, s); stated && len(s.reasons) > 0 {
		s.reasons = append(s.reasons, pathlock.ErrPathChanged)
	}
	s.what = fmt.Sprintf("insert %v", values)
	m.inserting(&s, fresh, values)
	return s
}

// stated has a new row state its path at times, rightly or wrongly.
func (m *machine) stated(g forest, fresh []int, values []map[string]any, s *statement) bool {
	if m.table.path == "" || m.knows || !m.rarely(5, "states its path") {
		return false
	}
	id, row := fresh[0], values[0]
	row[m.table.path] = g.path(id)
	if rapid.Bool().Draw(m.T, "wrongly") {
		row[m.table.path] = "/else/where"
		s.reasons = append(s.reasons, pathlock.ErrPathChanged)
	}
	return true
}

// inserting draws how the rows are created.
func (m *machine) inserting(s *statement, fresh []int, values []map[string]any) {
	x := m.table
	rows := make([]any, len(values))
	for i, v := range values {
		rows[i] = x.row(v)
	}
	forms := map[string]func(db *gorm.DB) error{
		"a slice":   func(db *gorm.DB) error { return db.Create(x.slice(rows)).Error },
		"Select(*)": func(db *gorm.DB) error { return db.Select("*").Create(x.slice(rows)).Error },
		"Omit": func(db *gorm.DB) error {
			return db.Omit(x.schema.FieldsByDBName["id"].Name + "s").Create(x.slice(rows)).Error
		},
		"SkipHooks": func(db *gorm.DB) error {
			return db.Session(&gorm.Session{SkipHooks: true}).Create(x.slice(rows)).Error
		},
	}
	if len(rows) == 1 {
		forms["a struct"] = func(db *gorm.DB) error { return db.Create(rows[0]).Error }
		forms["Save"] = func(db *gorm.DB) error { return db.Save(rows[0]).Error }
		forms["the table by its name"] = func(db *gorm.DB) error { return db.Table(x.schema.Table).Create(rows[0]).Error }
	}
	if _, own := values[0]["id"]; own || x.ids == "" {
		maps := func(named bool) []map[string]any {
			var list []map[string]any
			for _, v := range values {
				if x.version != "" {
					v[x.version] = 0 // a map leaves the column empty, and NULL counts nothing
				}
				if named {
					v = x.fields(v)
				}
				list = append(list, v)
			}
			return list
		}
		forms["maps"] = func(db *gorm.DB) error {
			list := maps(false)
			return db.Model(x.new()).Create(&list).Error
		}
		forms["maps by fields"] = func(db *gorm.DB) error {
			list := maps(true)
			return db.Model(x.new()).Create(&list).Error
		}
	}
	if len(s.reasons) == 0 {
		forms["batches"] = func(db *gorm.DB) error { return db.CreateInBatches(x.slice(rows), 2).Error }
		if _, own := values[0]["id"]; own {
			forms["an upsert"] = func(db *gorm.DB) error {
				return db.Clauses(clause.OnConflict{UpdateAll: true}).Create(x.slice(rows)).Error
			}
		}
	}
	form := pick(m, slices.Sorted(maps.Keys(forms)), "form")
	s.what += ": " + form
	s.run, s.parts = forms[form], form == "batches"
	if strings.HasPrefix(form, "maps") {
		return
	}
	s.told = func(f forest) {
		for i, id := range fresh {
			m.toldPath(f, id, rows[i])
		}
	}
}

// toldPath checks the paths that a struct has.
func (m *machine) toldPath(f forest, id int, row any) {
	if m.table.path != "" && m.table.get(row, m.table.path) != f.path(id) {
		m.Fatalf("the struct says %q, the row is at %q", m.table.get(row, m.table.path), f.path(id))
	}
}

// update draws another name or parent for one to three rows, or another note.
func (m *machine) update() statement {
	ids := m.some(m.live(), "rows")
	g := m.clone()
	values := make(map[string]any)
	name, parent, note := m.name(), m.parentOf(), pick(m, []string{"n", "m", "k"}, "note")
	what := rapid.IntRange(1, 7).Draw(m.T, "assigned")
	s := statement{}
	if what&1 != 0 {
		values[m.table.label] = name
	}
	if what&2 != 0 {
		values[m.table.parent] = m.value(parent)
	}
	if m.table.note != "" && (what&4 != 0) {
		values[m.table.note] = note
	}
	if len(values) == 0 {
		values[m.table.label] = name
		what |= 1
	}
	var changed []int
	for _, id := range ids {
		n := g.rows[id]
		was := n
		if what&1 != 0 {
			n.name = name
		}
		if what&2 != 0 {
			n.parent = parent
		}
		if m.table.note != "" && what&4 != 0 {
			n.note = note
		}
		g.rows[id] = n
		if n.name != was.name || n.parent != was.parent {
			changed = append(changed, id)
			if m.isRoot(id) || n.name == "" {
				s.reasons = append(s.reasons, gormplugin.ErrMisplaced, pathlock.ErrInvalidPath, gormplugin.ErrUnsupported)
			}
		}
	}
	if s = m.placed(g, changed, s); len(ids) > 1 && len(s.reasons) > 0 {
		s.reasons = append(s.reasons, gormplugin.ErrDamagedRow, gormplugin.ErrPathTooLong) // one below another
	}
	s.what = fmt.Sprintf("update %v of %v", values, m.paths(ids))
	if len(changed) > 1 {
		// What goes from below one of the rows to elsewhere is counted with it.
		s.may = []error{gormplugin.ErrPathTooLong}
	}
	m.updating(&s, ids, values, what&1 != 0, what&2 != 0, name, parent)
	return s
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
		keys = append(keys, m.keys[id])
	}
	return keys
}

// updating draws how the rows are updated.
func (m *machine) updating(s *statement, ids []int, values map[string]any, named, moved bool, name string, parent int) {
	x, keys := m.table, m.keysOf(ids)
	assigned := func() map[string]any { return maps.Clone(values) }
	byID := func(db *gorm.DB) *gorm.DB { return db.Model(x.new()).Where("id IN ?", keys) }
	forms := map[string]func(db *gorm.DB) error{
		"by a condition": func(db *gorm.DB) error { return byID(db).Updates(assigned()).Error },
		"by fields":      func(db *gorm.DB) error { return byID(db).Updates(x.fields(values)).Error },
		"UpdateColumns":  func(db *gorm.DB) error { return byID(db).UpdateColumns(assigned()).Error },
		"Or": func(db *gorm.DB) error {
			return db.Model(x.new()).Where(x.of(keys[0])).Or(x.of(keys...)).Updates(assigned()).Error
		},
		"a scope": func(db *gorm.DB) error {
			return db.Model(x.new()).Scopes(func(db *gorm.DB) *gorm.DB { return db.Where(x.of(keys...)) }).Updates(assigned()).Error
		},
		"a subquery": func(db *gorm.DB) error {
			return db.Model(x.new()).Where("id IN (?)", db.Session(&gorm.Session{NewDB: true}).Model(x.new()).Select("id").Where(x.of(keys...))).Updates(assigned()).Error
		},
		"a SET clause": func(db *gorm.DB) error {
			return byID(db).Clauses(clause.Assignments(assigned())).Updates(map[string]any{}).Error
		},
		"Select": func(db *gorm.DB) error {
			return byID(db).Select(slices.Sorted(maps.Keys(values))).Updates(x.row(values)).Error
		},
		"Omit of others": func(db *gorm.DB) error { return byID(db).Omit("path", "version", "fence").Updates(assigned()).Error },
		"SkipHooks": func(db *gorm.DB) error {
			return byID(db.Session(&gorm.Session{SkipHooks: true})).Updates(assigned()).Error
		},
		"a slice of rows": func(db *gorm.DB) error {
			rows := make([]any, len(keys))
			for i, key := range keys {
				rows[i] = x.row(map[string]any{"id": key})
			}
			return db.Model(x.slice(rows)).Updates(assigned()).Error
		},
	}
	if s.claims == nil && m.worlds[0].db.Name() == "mysql" {
		delete(forms, "a subquery") // MySQL refuses what reads the table that it writes
	}
	if len(values) == 1 {
		for column, value := range values {
			forms["Update"] = func(db *gorm.DB) error { return byID(db).Update(column, value).Error }
			forms["UpdateColumn"] = func(db *gorm.DB) error { return byID(db).UpdateColumn(column, value).Error }
		}
	}
	told := func(row any) func(forest) { return func(f forest) { m.toldPath(f, ids[0], row) } }
	row := x.row(map[string]any{"id": keys[0]})
	forms["by a row"] = nil
	if len(ids) == 1 {
		forms["by a row"] = func(db *gorm.DB) error { return db.Model(row).Updates(assigned()).Error }
		if name != "" && parent != 0 {
			forms["by a struct"] = func(db *gorm.DB) error {
				return db.Model(x.row(map[string]any{"id": keys[0]})).Updates(x.row(values)).Error
			}
		}
		if named && len(values) == 1 {
			forms["Rename"] = func(db *gorm.DB) error { return gormplugin.Rename(db, row, keys[0], name) }
		}
		if moved && len(values) == 1 && parent != -1 {
			forms["Move"] = func(db *gorm.DB) error { return gormplugin.Move(db, row, keys[0], gormplugin.Below(m.keys[parent])) }
		}
	} else {
		delete(forms, "by a row")
	}
	form := pick(m, slices.Sorted(maps.Keys(forms)), "form")
	s.what += ": " + form
	s.run = forms[form]
	if form == "Rename" || form == "Move" || form == "by a row" && s.claims != nil {
		s.told = told(row)
	}
}

// renameDead writes to a row in the bin, whose place is the caller's.
func (m *machine) renameDead() statement {
	if len(m.dead()) == 0 {
		return m.insert()
	}
	id, g, name := pick(m, m.dead(), "row"), m.clone(), fmt.Sprint("binned ", m.id())
	n := g.rows[id]
	n.name = name
	g.rows[id] = n
	return statement{what: "a name in the bin", after: g, run: func(db *gorm.DB) error {
		return db.Unscoped().Model(m.table.new()).Where("id = ?", m.keys[id]).Update(m.table.label, name).Error
	}}
}

// bringBack takes the mark of deletion off rows, at times with another place for them.
func (m *machine) bringBack() statement {
	if len(m.dead()) == 0 {
		return m.remove()
	}
	ids, g := m.some(m.dead(), "rows"), m.clone()
	values := map[string]any{m.table.mark: m.table.restored}
	name, parent := "", 0
	if m.rarely(3, "renamed") {
		name = m.name()
		values[m.table.label] = name
	}
	moved := m.rarely(3, "moved")
	if moved {
		parent = m.parentOf()
		values[m.table.parent] = m.value(parent)
	}
	s := statement{}
	for _, id := range ids {
		n := g.rows[id]
		n.dead = false
		if _, ok := values[m.table.label]; ok {
			if n.name = name; n.name == "" && (!moved && n.parent != 0 || moved) {
				s.reasons = append(s.reasons, pathlock.ErrInvalidPath, gormplugin.ErrMisplaced, gormplugin.ErrUnsupported)
			}
		}
		if moved {
			n.parent = parent
		}
		n.version++
		g.rows[id] = n
	}
	s.what = fmt.Sprintf("restore %v of %v", values, ids)
	if s = m.placed(g, ids, s); slices.Contains(s.reasons, pathlock.ErrInvalidPath) {
		s.reasons = append(s.reasons, gormplugin.ErrDamagedRow) // one below another
	}
	s.run = func(db *gorm.DB) error {
		return db.Unscoped().Model(m.table.new()).Where("id IN ?", m.keysOf(ids)).Updates(values).Error
	}
	return s
}

// remove deletes rows, softly or for good, with all that is below them.
func (m *machine) remove() statement {
	x, g := m.table, m.clone()
	hard := x.live == "" || m.rarely(3, "for good")
	from := m.live()
	if hard && x.live != "" {
		from = append(from, m.dead()...)
	}
	ids := m.some(from, "rows")
	s := statement{what: fmt.Sprintf("delete %v, for good: %t", m.paths(ids), hard), claims: make(map[int][]string)}
	gone := 0
	for _, id := range ids {
		below := []int{id}
		if !m.rows[id].dead {
			s.claims[m.rows[id].tree] = append(s.claims[m.rows[id].tree], m.path(id))
			below = m.below(id)
		}
		for _, each := range below {
			if n, ok := g.rows[each]; hard {
				if ok {
					gone++
				}
				delete(g.rows, each)
			} else {
				n.dead = true
				g.rows[each] = n
				gone++
			}
		}
	}
	for tree, paths := range s.claims {
		s.claims[tree] = topmost(paths)
	}
	if len(s.claims) == 0 {
		s.claims = nil
	}
	s.after = g
	keys := m.keysOf(ids)
	of := func(db *gorm.DB) *gorm.DB {
		if hard && x.live != "" {
			return db.Unscoped()
		}
		return db
	}
	count := func(tx *gorm.DB) error {
		if tx.Error == nil && tx.RowsAffected != int64(len(ids)) {
			return fmt.Errorf("%d rows affected, want %d", tx.RowsAffected, len(ids))
		}
		return tx.Error
	}
	forms := []func(db *gorm.DB) error{
		func(db *gorm.DB) error { return count(of(db).Where("id IN ?", keys).Delete(x.new())) },
		func(db *gorm.DB) error { return count(of(db).Delete(x.new(), x.of(keys...))) },
		func(db *gorm.DB) error {
			rows := make([]any, len(keys))
			for i, key := range keys {
				rows[i] = x.row(map[string]any{"id": key})
			}
			return count(of(db).Delete(x.slice(rows)))
		},
	}
	if len(ids) == 1 && !m.rows[ids[0]].dead {
		forms = append(forms, func(db *gorm.DB) error {
			rows, err := gormplugin.Delete(of(db), x.new(), keys[0])
			if err == nil && rows != int64(gone) {
				return fmt.Errorf("%d rows deleted, want %d", rows, gone)
			}
			return err
		})
	}
	s.run = pick(m, forms, "form")
	return s
}

// copied copies a subtree, with its leaves at times.
func (m *machine) copied() statement {
	x, g := m.table, m.clone()
	source, parent, name := pick(m, m.live(), "source"), m.parentOf(), ""
	if rapid.Bool().Draw(m.T, "renamed") {
		name = m.name()
	}
	s := statement{what: fmt.Sprintf("copy %v below %v as %q", m.paths([]int{source}), m.paths([]int{parent}), name)}
	if !x.copies {
		s.reasons = append(s.reasons, gormplugin.ErrUnsupported)
	}
	var options []gormplugin.CopyOption
	if name != "" {
		options = append(options, gormplugin.CopyAs(name))
	}
	if m.rarely(3, "from one snapshot") {
		options = append(options, gormplugin.SnapshotSource())
	}
	if x.copies {
		options = append(options, x.keys(m.id())...)
	}
	leaves := x.leaf != nil && rapid.Bool().Draw(m.T, "with leaves")
	if leaves {
		options = append(options, gormplugin.CopyLeaves(reflect.New(reflect.TypeOf(x.leaf)).Interface(), nil))
	}
	tree := m.rows[source].tree
	if parent != 0 {
		tree = m.rows[parent].tree
	}
	fresh := make(map[int]int)
	for _, id := range m.below(source) {
		fresh[id] = m.id()
	}
	for id, made := range fresh {
		n := m.rows[id]
		n.tree, n.version, n.parent = tree, 0, fresh[n.parent]
		if id == source {
			if n.parent = parent; name != "" {
				n.name = name
			}
			if n.name == "" {
				s.reasons = append(s.reasons, pathlock.ErrInvalidPath, gormplugin.ErrMisplaced, gormplugin.ErrUnsupported)
			}
		}
		g.rows[made] = n
	}
	if leaves {
		for _, leaf := range m.leaves {
			if made, ok := fresh[leaf.parent]; ok {
				leaf.parent = made
				g.leaves[m.id()] = leaf
			}
		}
	}
	s = m.placed(g, []int{fresh[source]}, s)
	if slices.Contains(s.reasons, gormplugin.ErrRootRow) {
		s.reasons = append(s.reasons, gormplugin.ErrUnsupported)
	}
	made := x.new()
	s.run = func(db *gorm.DB) error {
		rows, err := gormplugin.Copy(db, made, m.keys[source], gormplugin.Below(m.keys[parent]), options...)
		if err == nil && rows != int64(len(fresh)) {
			return fmt.Errorf("%d rows copied, want %d", rows, len(fresh))
		}
		return err
	}
	s.told = func(f forest) { m.toldPath(f, fresh[source], made) }
	return s
}

// image is a row as it was read, and its paths at that time.
type image struct {
	id        int
	row       any
	node      node
	path, ids string
}

// read keeps a row as it is now.
func (m *machine) read(id int) {
	row := m.table.new()
	if err := m.worlds[0].db.Where("id = ?", m.keys[id]).Take(row).Error; err != nil {
		m.Fatal(err)
	}
	i := image{id: id, row: row, node: m.rows[id]}
	if m.table.path != "" {
		i.path = fmt.Sprint(m.table.get(row, m.table.path))
	}
	if m.table.ids != "" {
		i.ids = fmt.Sprint(m.table.get(row, m.table.ids))
	}
	m.images = append(m.images, i)
}

// save writes back a row that was read now, or some time ago.
func (m *machine) save() statement {
	x, g := m.table, m.clone()
	if !m.open && (len(m.images) == 0 || m.rarely(2, "of now")) {
		m.read(pick(m, m.live(), "row"))
	}
	if len(m.images) == 0 {
		return m.update()
	}
	at := pick(m, m.images, "image")
	row := x.new()
	reflect.ValueOf(row).Elem().Set(reflect.ValueOf(at.row).Elem())
	// GORM writes through the pointer that a parent may be.
	x.schema.FieldsByDBName[x.parent].ReflectValueOf(m.Context(), reflect.ValueOf(row).Elem()).SetZero()
	want := at.node
	if m.rarely(2, "renamed") {
		want.name = m.name()
	}
	if m.rarely(3, "moved") {
		want.parent = m.parentOf()
	}
	if m.keys[want.parent] == nil && want.parent != 0 {
		return m.update()
	}
	if x.note != "" {
		want.note = pick(m, []string{"n", "m"}, "note")
		x.set(row, x.note, want.note)
	}
	x.set(row, x.label, want.name)
	x.set(row, x.parent, m.value(want.parent))
	s := statement{what: fmt.Sprintf("save %d (%s) as %q below %d", at.id, at.path, want.name, want.parent), run: func(db *gorm.DB) error { return db.Save(row).Error }}
	now, exists := m.rows[at.id]
	outdated := false
	if _, err := m.line(at.id); exists && !now.dead && err == nil {
		outdated = x.path != "" && at.path != m.path(at.id) || x.ids != "" && at.ids != m.idPath(at.id)
	}
	want.dead = false
	if outdated && x.path != "" && at.path == "" {
		return m.update() // it was the root row, and an empty path states none
	}
	if outdated || now.name != want.name || now.parent != want.parent {
		want.version = now.version // else it is the caller's
	}
	g.rows[at.id] = want
	switch {
	case exists && now.dead:
		s.after, s.reasons = g, []error{gormplugin.ErrUnsupported}
		return s
	case !exists:
		return m.update() // as GORM, Save brings the row back; see the races
	}
	var changed []int
	if now.name != want.name || now.parent != want.parent {
		changed = []int{at.id}
		if outdated {
			s.reasons = append(s.reasons, pathlock.ErrPathChanged)
		}
		if m.isRoot(at.id) || want.name == "" {
			s.reasons = append(s.reasons, gormplugin.ErrMisplaced, pathlock.ErrInvalidPath, gormplugin.ErrUnsupported)
		}
	}
	s = m.placed(g, changed, s)
	s.told = func(f forest) { m.toldPath(f, at.id, row) }
	return s
}

// idPath is the path of ids of a live row.
func (m *machine) idPath(id int) (path string) {
	line, _ := m.line(id)
	for _, at := range line {
		path += "/" + m.table.text(m.keys[at])
	}
	return path
}

// upsert inserts rows that are there: what it says of their place has to be so.
func (m *machine) upsert() statement {
	x, g := m.table, m.clone()
	id := pick(m, append(m.live(), m.dead()...), "row")
	n := m.rows[id]
	values := map[string]any{"id": m.keys[id], x.treeColumn: m.trees[n.tree], x.label: n.name, x.parent: m.value(n.parent)}
	s := statement{what: fmt.Sprintf("upsert of %v", m.paths([]int{id}))}
	conflict := clause.OnConflict{UpdateAll: true}
	nothing := m.rarely(3, "nothing")
	if nothing {
		conflict = clause.OnConflict{DoNothing: true}
	}
	displaced := false
	if m.rarely(3, "renamed") {
		values[x.label], displaced = "other", n.name != "other"
	}
	if x.note != "" && !nothing {
		n.note = "upserted"
		values[x.note] = n.note
	}
	g.rows[id] = n
	s.after = g
	if n.dead || displaced && !nothing {
		s.reasons = []error{gormplugin.ErrUnsupported}
	}
	rows := []any{x.row(values)}
	if m.rarely(3, "among new rows") {
		s.reasons = append(s.reasons, gormplugin.ErrUnsupported, gormplugin.ErrNameTaken, gormplugin.ErrRootRow)
		if x.key == nil {
			return m.update()
		}
		other := maps.Clone(values)
		other["id"], other[x.label] = x.key(), "one more"
		rows = append(rows, x.row(other))
		if nothing {
			return m.update() // DO NOTHING inserts the others
		}
	}
	s.run = func(db *gorm.DB) error { return db.Clauses(conflict).Create(x.slice(rows)).Error }
	return s
}

// refused draws writes that are refused whatever the tree is.
func (m *machine) refused() statement {
	x := m.table
	id := pick(m, m.live(), "row")
	key := m.keys[id]
	byID := func(db *gorm.DB) *gorm.DB { return db.Model(x.new()).Where("id = ?", key) }
	unsupported, elsewhere := []error{gormplugin.ErrUnsupported}, []error{pathlock.ErrPathChanged, gormplugin.ErrUnsupported}
	path := x.path
	if path == "" {
		path = x.ids
	}
	all := []struct {
		what    string
		reasons []error
		run     func(db *gorm.DB) error
	}{
		{"a path", elsewhere, func(db *gorm.DB) error { return byID(db).Update(path, "/else/where").Error }},
		{"a path by UpdateColumn", elsewhere, func(db *gorm.DB) error { return byID(db).UpdateColumn(path, "/else/where").Error }},
		{"a path as expression", unsupported, func(db *gorm.DB) error { return byID(db).Update(path, gorm.Expr("'/x'")).Error }},
		{"a name as expression", unsupported, func(db *gorm.DB) error {
			return byID(db).Update(x.label, gorm.Expr("UPPER("+db.Statement.Quote(x.label)+")")).Error
		}},
		{"a parent as expression", unsupported, func(db *gorm.DB) error {
			return byID(db).Update(x.parent, gorm.Expr(db.Statement.Quote(x.parent))).Error
		}},
		{"another tree", unsupported, func(db *gorm.DB) error { return byID(db).Update(x.treeColumn, m.trees[1-m.rows[id].tree]).Error }},
		{"another key", unsupported, func(db *gorm.DB) error { return byID(db).Update("id", x.missing()).Error }},
		{"a row without its table's model", unsupported, func(db *gorm.DB) error {
			return db.Table(x.schema.Table).Where("id = ?", key).Update(x.label, "z").Error
		}},
		{"an alias", unsupported, func(db *gorm.DB) error {
			return db.Table(x.quoted(db)+" AS s").Model(x.new()).Where("s.id = ?", key).Update(x.label, "z").Error
		}},
		{"raw SQL", unsupported, func(db *gorm.DB) error {
			return db.Exec("UPDATE "+x.quoted(db)+" SET "+db.Statement.Quote(x.label)+" = 'z' WHERE id = ?", key).Error
		}},
		{"raw SQL that deletes", unsupported, func(db *gorm.DB) error { return db.Exec("DELETE FROM "+x.quoted(db)+" WHERE id = ?", key).Error }},
		{"raw SQL in a query", unsupported, func(db *gorm.DB) error {
			return db.Raw("/* why */ DELETE FROM "+x.quoted(db)+" WHERE id = ?", key).Scan(new([]map[string]any)).Error
		}},
		{"all rows", []error{gorm.ErrMissingWhereClause}, func(db *gorm.DB) error { return db.Delete(x.new()).Error }},
	}
	if x.mark != "" {
		all = append(all, struct {
			what    string
			reasons []error
			run     func(db *gorm.DB) error
		}{"the mark of deletion", unsupported, func(db *gorm.DB) error { return byID(db).Update(x.mark, m.gone()).Error }})
	}
	one := all[rapid.IntRange(0, len(all)-1).Draw(m.T, "which")]
	return statement{what: "refused: " + one.what, run: one.run, after: m.forest, reasons: one.reasons}
}

// gone is a mark of deletion.
func (m *machine) gone() any {
	if m.table.restored == nil {
		return m.worlds[0].db.NowFunc()
	}
	return 7
}

// leaf writes a leaf.
func (m *machine) leaf() statement {
	g := m.clone()
	ids := slices.Sorted(maps.Keys(m.leaves))
	name, parent := m.name(), m.parentOf()
	if len(ids) == 0 || m.rarely(3, "new") {
		id := m.id()
		g.leaves[id] = node{parent: parent, name: name}
		made := &Case{Name: name}
		if key, ok := m.keys[parent].(int64); ok {
			made.SuiteID = key
		}
		return m.placedLeaf(g, id, statement{
			what: fmt.Sprintf("a leaf %q below %v", name, m.paths([]int{parent})), run: func(db *gorm.DB) error {
				err := db.Create(made).Error
				m.leafKeys[id] = made.ID
				return err
			}, told: func(f forest) { m.toldLeaf(f, id, made.Path) },
		})
	}
	id := pick(m, ids, "leaf")
	n := g.leaves[id]
	key := func(db *gorm.DB) (key int64, err error) {
		err = db.Session(&gorm.Session{NewDB: true}).Model(&Case{}).Where("suite_id = ? AND name = ?", m.keys[n.parent], n.name).Pluck("id", &key).Error
		return key, err
	}
	switch rapid.IntRange(0, 4).Draw(m.T, "of the leaf") {
	case 0:
		delete(g.leaves, id)
		s := statement{what: "delete a leaf", after: g, run: func(db *gorm.DB) error {
			key, err := key(db)
			if err != nil {
				return err
			}
			return db.Delete(&Case{ID: key}).Error
		}}
		if m.path(n.parent) != "" || m.isRoot(n.parent) {
			s.claims = map[int][]string{m.rows[n.parent].tree: {m.path(n.parent) + "/" + n.name}}
		}
		return s
	case 1:
		was := n
		n.note = "edited"
		g.leaves[id] = n
		return statement{what: "edit a leaf", after: g, run: func(db *gorm.DB) error {
			key, err := key(db)
			if err != nil {
				return err
			}
			_ = was
			return db.Model(&Case{ID: key}).Update("body", "edited").Error
		}}
	}
	was := n
	moved := rapid.Bool().Draw(m.T, "moved")
	if moved {
		n.parent = parent
	} else {
		n.name = name
	}
	g.leaves[id] = n
	if _, err := m.line(was.parent); err != nil && was == n {
		return m.insert()
	}
	dest := new(Case)
	s := statement{what: fmt.Sprintf("a leaf %v to %v", was, n), told: func(f forest) { m.toldLeaf(f, id, dest.Path) }}
	function := rapid.Bool().Draw(m.T, "by a function")
	s.run = func(db *gorm.DB) error {
		key, err := (func() (key int64, err error) {
			err = db.Session(&gorm.Session{NewDB: true}).Model(&Case{}).Where("suite_id = ? AND name = ?", m.keys[was.parent], was.name).Pluck("id", &key).Error
			return key, err
		})()
		if err != nil {
			return err
		}
		dest.ID = key
		switch {
		case function && moved:
			return gormplugin.Move(db, dest, key, gormplugin.Below(m.keys[parent]))
		case function:
			return gormplugin.Rename(db, dest, key, name)
		case moved:
			return db.Model(dest).Update("suite_id", m.value(parent)).Error
		default:
			return db.Model(dest).Update("name", name).Error
		}
	}
	s = m.placedLeaf(g, id, s)
	if was == n {
		s.claims = nil
		s.told = nil
	}
	if _, err := m.line(was.parent); err != nil {
		s.reasons = append(s.reasons, err)
	} else if m.rows[was.parent].tree != m.rows[n.parent].tree {
		s.reasons = append(s.reasons, gormplugin.ErrMisplaced)
	}
	return s
}

// placedLeaf completes a statement that has given a leaf another place.
func (m *machine) placedLeaf(g forest, id int, s statement) statement {
	s.after, s.reasons, s.claims = g, append(s.reasons, g.leafProblems(id)...), make(map[int][]string)
	for _, f := range []forest{m.forest, g} {
		if n, ok := f.leaves[id]; ok && (f.path(n.parent) != "" || f.isRoot(n.parent)) {
			at := f.path(n.parent) + "/" + n.name
			if len([]rune(at)) > 0 {
				s.claims[f.rows[n.parent].tree] = append(s.claims[f.rows[n.parent].tree], at)
			}
		}
	}
	return s
}

// toldLeaf checks the path that a leaf's struct has.
func (m *machine) toldLeaf(f forest, id int, told string) {
	n := f.leaves[id]
	if want := f.path(n.parent) + "/" + n.name; told != want {
		m.Fatalf("the leaf's struct says %q, it is at %q", told, want)
	}
}

// look asks for rows by the functions that find them, and compares with the forest. What a request
// has found, one of its later statements knows.
func (m *machine) look(w *world) {
	x, db := m.table, w.db.WithContext(m.Context())
	resolver, ok := w.plugin.Resolver(x.new()).(pathlock.BatchResolver)
	if !ok {
		m.Fatal("the plugin's resolver resolves no more than one id")
	}
	ctx := m.Context()
	if p, ok := w.plugin.Resolver(x.new()).(preparer); ok {
		ctx = p.Prepare(ctx)
	}
	m.requests[w] = ctx
	ids := append(m.live(), m.dead()...)
	if len(ids) == 0 {
		return
	}
	ids = m.some(ids, "looked up")
	if m.table.restored == nil && x.get(x.new(), "id") == any(int64(0)) || x.get(x.new(), "id") == any("") {
		var texts []string
		for _, id := range ids {
			texts = append(texts, x.text(m.keys[id]))
		}
		for i, found := range resolver.ResolveAll(ctx, texts) {
			m.isAt(ids[i], found.Location, found.Err)
		}
	}
	for _, id := range ids {
		at, err := gormplugin.Resolve(db, x.new(), m.keys[id])
		m.isAt(id, at, err)
		if m.rows[id].dead {
			continue
		}
		line, _ := m.line(id)
		m.finds("Subtree", gormplugin.Subtree(db, x.new(), m.keys[id]), m.below(id))
		m.finds("Ancestors", gormplugin.Ancestors(db, x.new(), m.keys[id]), line[:len(line)-1])
		m.finds("Children", gormplugin.Children(db, x.new(), m.keys[id]), slices.DeleteFunc(m.live(), func(child int) bool { return m.rows[child].parent != id }))
		if x.path != "" {
			m.finds("At", gormplugin.At(db, x.new(), m.trees[m.rows[id].tree], at.Path), []int{id})
		}
	}
}

// preparer is a resolver whose answers a later write knows.
type preparer interface {
	Prepare(ctx context.Context) context.Context
}

// isAt checks where a row was found.
func (m *machine) isAt(id int, at pathlock.Location, err error) {
	switch {
	case m.rows[id].dead:
		if !isA(err, pathlock.ErrNotFound) {
			m.Fatalf("a deleted row is found at %v, %v", at, err)
		}
	case err != nil:
		m.Fatal(err)
	case m.table.path != "" && strings.TrimSuffix(at.Path.String(), "/") != m.path(id):
		m.Fatalf("%s is found at %s", m.path(id), at.Path)
	}
}

// finds checks what a query finds.
func (m *machine) finds(what string, query *gorm.DB, want []int) {
	rows := reflect.New(reflect.SliceOf(m.table.schema.ModelType))
	if err := query.Find(rows.Interface()).Error; err != nil {
		m.Fatalf("%s: %v", what, err)
	}
	var got, wanted []string
	for i := range rows.Elem().Len() {
		got = append(got, m.table.text(m.table.get(rows.Elem().Index(i).Addr().Interface(), "id")))
	}
	for _, id := range want {
		wanted = append(wanted, m.table.text(m.keys[id]))
	}
	m.same(got, wanted)
}
