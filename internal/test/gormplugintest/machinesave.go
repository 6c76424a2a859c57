package gormplugintest

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"pgregory.net/rapid"
)

// image is a row as it was read, and its paths at that time.
type image struct {
	id        int
	row       any
	node      node
	path, ids string
}

// read keeps a row as it is now, unless somebody else has deleted it.
func (m *machine) read(db *gorm.DB, id int) {
	row := m.table.new()
	if db.Where("id = ?", m.keys[id]).Take(row).Error != nil {
		return
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
		m.read(m.worlds[0].db, pick(m, m.live(), "row"))
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
	outdated, stated := false, false
	if _, err := m.line(at.id); exists && !now.dead && err == nil {
		path, ids := x.path != "" && at.path != m.form.of(m.path(at.id)), x.ids != "" && at.ids != x.idsForm.of(m.idPath(at.id))
		outdated, stated = path || ids, path && m.form.states(at.path) || ids && x.idsForm.states(at.ids)
	}
	want.dead = false
	if outdated && !stated {
		return m.update()
	}
	if outdated || m.moved(now, want) {
		want.version = now.version // else it is the caller's
	}
	g.rows[at.id] = want
	switch {
	case exists && now.dead && x.shown:
		want.version = now.version + 1
		g.rows[at.id] = want
		s.may = []error{pathlock.ErrPathChanged, gormplugin.ErrMisplaced} // it may state any place
		if s = m.placed(g, []int{at.id}, s); len(s.reasons) > 0 {
			s.reasons = append(s.reasons, s.may...)
		}
		return s
	case exists && now.dead:
		s.after, s.reasons = g, []error{gormplugin.ErrUnsupported}
		return s
	case !exists:
		return m.update() // as GORM, Save brings the row back; see the races
	}
	var changed []int
	if m.moved(now, want) {
		changed = []int{at.id}
		above := want.parent == now.parent && (m.byIDs || m.form.ofParent || at.path == m.form.of("") || at.node.name == now.name)
		if outdated && !above {
			s.reasons = append(s.reasons, pathlock.ErrPathChanged)
		}
		if m.isRoot(at.id) || want.name == "" && !m.nameless {
			s.reasons = append(s.reasons, gormplugin.ErrMisplaced, pathlock.ErrInvalidPath, gormplugin.ErrUnsupported)
		}
	}
	s = m.placed(g, changed, s)
	s.told = func(f forest) { m.toldPath(f, at.id, row) }
	return s
}

// upsert inserts a row that is there, at times in another place, or beside a new one.
func (m *machine) upsert() statement {
	x, g := m.table, m.clone()
	id := pick(m, append(m.live(), m.dead()...), "row")
	n := m.rows[id]
	conflict := clause.OnConflict{UpdateAll: true}
	columns := pick(m, [][]string{{x.label, x.parent, x.note}, {x.label, x.parent, x.note}, {x.label}, {x.parent}, nil}, "columns")
	switch {
	case columns == nil:
		conflict = clause.OnConflict{DoNothing: true}
	case len(columns) == 1:
		conflict = clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, DoUpdates: clause.AssignmentColumns(columns)}
	}
	label, parent := n.name, n.parent
	if m.rarely(3, "renamed") {
		label = m.name()
	}
	if m.rarely(3, "moved") {
		parent = m.parentOf()
	}
	values := map[string]any{"id": m.keys[id], x.label: label, x.parent: m.value(parent)}
	x.putIn(values, m.trees[n.tree])
	s := statement{}
	if text := m.textBelow(m.form, parent, label); x.path != "" && m.form.ofParent && text != "" && slices.Contains(columns, x.parent) && rapid.Bool().Draw(m.T, "by its path") {
		delete(values, x.parent)
		values[x.path] = text
		var ok bool
		if parent, ok = m.goal(m.form, n.tree, text, label); !ok {
			s.reasons = append(s.reasons, pathlock.ErrNotFound)
		}
		if len(columns) == 1 {
			conflict.DoUpdates = clause.AssignmentColumns([]string{x.path})
		}
	}
	if slices.Contains(columns, x.label) {
		n.name = label
	}
	if slices.Contains(columns, x.parent) {
		n.parent = parent
	}
	if x.note != "" && len(columns) > 1 {
		n.note = "upserted"
		values[x.note] = n.note
	}
	g.rows[id] = n
	var changed []int
	s.what = fmt.Sprintf("upsert %v of %v as %q below %d", values, m.paths([]int{id}), label, parent)
	if m.moved(m.rows[id], n) {
		changed = []int{id}
		if m.isRoot(id) || n.name == "" && !m.nameless {
			s.reasons = append(s.reasons, gormplugin.ErrMisplaced, pathlock.ErrInvalidPath, gormplugin.ErrUnsupported)
		}
	}
	rows := []any{x.row(values)}
	if x.key != nil && !m.open && m.rarely(2, "and a new row") {
		made := m.id()
		m.keys[made] = x.key()
		values := map[string]any{"id": m.keys[made], x.label: m.name(), x.parent: m.keys[id]}
		g.rows[made] = node{tree: n.tree, parent: id, name: fmt.Sprint(values[x.label])}
		rows, changed = append([]any{x.row(values)}, rows...), append(changed, made)
		s.parts = true // a slot of ids is known once the row has moved
	}
	dead := n.dead
	if s = m.placed(g, changed, s); dead {
		s.reasons = append(s.reasons, gormplugin.ErrUnsupported)
	}
	s.run = func(db *gorm.DB) error { return db.Clauses(conflict).Create(x.slice(rows)).Error }
	return s
}
