package gormplugintest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"pgregory.net/rapid"
)

// update draws another name or parent for one to three rows, or another note.
func (m *machine) update() statement {
	ids := m.some(m.live(), "rows")
	if dead := m.dead(); m.table.shown && len(dead) > 0 && m.rarely(2, "a deleted one") {
		ids = append(ids, pick(m, dead, "deleted"))
	}
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
	goes := what&2 != 0
	byPath := goes && m.table.path != "" && m.form.ofParent && rapid.Bool().Draw(m.T, "by the text of a path")
	if byPath {
		parent, goes = m.updateByPath(ids, values, parent, name, &s)
	}
	var changed []int
	for _, id := range ids {
		n := g.rows[id]
		was := n
		if what&1 != 0 {
			n.name = name
		}
		if goes && (!byPath || !n.dead) {
			n.parent = parent
		}
		if m.table.note != "" && what&4 != 0 {
			n.note = note
		}
		g.rows[id] = n
		if m.moved(n, was) && !n.dead {
			changed = append(changed, id)
			if m.isRoot(id) || n.name == "" && !m.nameless {
				s.reasons = append(s.reasons, gormplugin.ErrMisplaced, pathlock.ErrInvalidPath, gormplugin.ErrUnsupported)
			}
		}
	}
	if s = m.placed(g, changed, s); len(ids) > 1 && len(s.reasons) > 0 {
		s.reasons = append(s.reasons, gormplugin.ErrDamagedRow, gormplugin.ErrPathTooLong) // one below another
	}
	if len(changed) > 1 && slices.Contains(s.reasons, gormplugin.ErrPathTooLong) {
		return m.refused() // the database finds what is too long by two renames only, and ends the transaction
	}
	s.what = fmt.Sprintf("update %v of %v", values, m.paths(ids))
	m.updating(&s, ids, values, what&1 != 0, what&2 != 0, name, parent)
	return s
}

// updating draws how the rows are updated.
func (m *machine) updating(s *statement, ids []int, values map[string]any, named, moved bool, name string, parent int) {
	x, keys := m.table, m.keysOf(ids)
	capitals := named && !m.nameless && rapid.Bool().Draw(m.T, "capitals")
	assigned := func() map[string]any {
		values := maps.Clone(values)
		if capitals {
			delete(values, x.label)
			values[strings.ToUpper(x.label)] = name
		}
		return values
	}
	// Conditions hold of deleted rows, too, which are not hit.
	hit := keys
	if !x.shown {
		hit = append(m.keysOf(m.dead()), keys...)
	}
	byID := func(db *gorm.DB) *gorm.DB { return db.Model(x.new()).Where("id IN ?", hit) }
	forms := map[string]func(db *gorm.DB) error{
		"by a condition":   func(db *gorm.DB) error { return byID(db).Updates(assigned()).Error },
		"as JSON has them": func(db *gorm.DB) error { return byID(db).Updates(asJSON(values)).Error },
		"UpdateColumns":    func(db *gorm.DB) error { return byID(db).UpdateColumns(assigned()).Error },
		"Or": func(db *gorm.DB) error {
			return db.Model(x.new()).Where(x.of(keys[0])).Or(x.of(hit...)).Updates(assigned()).Error
		},
		"a subquery": func(db *gorm.DB) error {
			return db.Model(x.new()).Where("id IN (?)", db.Session(&gorm.Session{NewDB: true}).Model(x.new()).Select("id").Where(x.of(hit...))).Updates(assigned()).Error
		},
		"a SET clause": func(db *gorm.DB) error {
			return byID(db).Clauses(clause.Assignments(assigned())).Omit("*").Updates(map[string]any{}).Error
		},
		"Select": func(db *gorm.DB) error {
			return byID(db).Select(slices.Sorted(maps.Keys(values))).Updates(x.row(values)).Error
		},
	}
	if (s.claims == nil || m.stale) && m.worlds[0].db.Name() == "mysql" {
		delete(forms, "a subquery") // MySQL refuses what reads the table that it writes
	}
	if len(values) == 1 {
		for column, value := range values {
			forms["Update"] = func(db *gorm.DB) error { return byID(db).Update(column, value).Error }
			forms["UpdateColumn"] = func(db *gorm.DB) error { return byID(db).UpdateColumn(column, value).Error }
		}
	}
	was := m.rows[ids[0]].parent
	told := func(row any) func(forest) {
		return func(f forest) {
			if m.toldPath(f, ids[0], row); s.byPath && f.rows[ids[0]].parent != was {
				m.toldParent(f, ids[0], row)
			}
		}
	}
	row := x.row(map[string]any{"id": keys[0]})
	forms["by a row"] = nil
	if len(ids) == 1 {
		forms["by a row"] = func(db *gorm.DB) error { return db.Model(row).Updates(assigned()).Error }
		if name != "" && (parent != 0 || s.byPath) && values[x.path] != "" {
			forms["by a struct"] = func(db *gorm.DB) error {
				return db.Model(x.row(map[string]any{"id": keys[0]})).Updates(x.row(values)).Error
			}
		}
		if named && len(values) == 1 && !m.nameless && !s.byPath {
			forms["Rename"] = func(db *gorm.DB) error { return gormplugin.Rename(db, row, keys[0], name) }
		}
		if moved && len(values) == 1 && parent != -1 && !s.byPath {
			to := m.destination(ids[0], parent)
			forms["Move"] = func(db *gorm.DB) error { return gormplugin.Move(db, row, keys[0], to) }
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

// asJSON returns values of other types, as a decoder gives them.
func asJSON(values map[string]any) map[string]any {
	loose := maps.Clone(values)
	for column, value := range loose {
		switch v := value.(type) {
		case int64:
			loose[column] = float64(v)
		case string:
			loose[column] = []byte(v)
		}
	}
	return loose
}
