package gormplugintest

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"pgregory.net/rapid"
)

// errCount says that a statement has hit other rows than were there when it was drawn.
var errCount = errors.New("the wrong number of rows")

// remove deletes rows, softly or for good, with all that is below them.
func (m *machine) remove() statement {
	x, g := m.table, m.clone()
	hard := x.live == "" || m.rarely(3, "for good")
	from := m.live()
	if hard && x.live != "" {
		from = append(from, m.dead()...)
	}
	ids := m.some(from, "rows")
	if dead := m.dead(); hard && len(dead) > 0 && rapid.Bool().Draw(m.T, "with a deleted one") {
		if id := pick(m, dead, "deleted"); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	s := statement{what: fmt.Sprintf("delete %v, for good: %t", m.paths(ids), hard), claims: make(map[int][]string)}
	marks := map[string]any{}
	if x.mark != "" && !hard && (x.shown || m.rarely(3, "by an update")) {
		if marks[x.mark] = x.gone; x.gone == nil { // a time, of which an index may want each once
			marks[x.mark] = 1000 + m.id()
		}
		if m.rarely(3, "renamed") && len(ids) == 1 {
			marks[x.label] = fmt.Sprint("deleted", m.id()) // an index may be over the names of deleted rows, too
		}
	}
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
				if n.dead = true; marks[x.label] != nil && slices.Contains(ids, each) {
					n.name = marks[x.label].(string)
				}
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
		if hard && x.live != "" && !x.shown {
			return db.Unscoped()
		}
		return db
	}
	count := func(tx *gorm.DB) error {
		if tx.Error == nil && tx.RowsAffected != int64(len(ids)) {
			return fmt.Errorf("%w: %d, want %d", errCount, tx.RowsAffected, len(ids))
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
	if len(marks) > 0 {
		forms = []func(db *gorm.DB) error{func(db *gorm.DB) error {
			values := maps.Clone(marks)
			if x.shown && x.gone == 1 {
				values[x.mark] = true // as programs on MySQL have it
			}
			return count(db.Model(x.new()).Where("id IN ?", keys).Updates(values))
		}}
		if len(ids) == 1 {
			forms = append(forms, func(db *gorm.DB) error {
				row := x.new()
				if err := db.Session(&gorm.Session{NewDB: true}).Where("id = ?", keys[0]).Take(row).Error; err != nil {
					return readError{err}
				}
				for column, value := range marks {
					x.set(row, column, value)
				}
				return count(db.Save(row))
			})
		}
	} else if len(ids) == 1 && !m.rows[ids[0]].dead {
		forms = append(forms, func(db *gorm.DB) error {
			rows, err := gormplugin.Delete(of(db), x.new(), keys[0])
			if err == nil && rows != int64(gone) {
				return fmt.Errorf("%w: %d, want %d", errCount, rows, gone)
			}
			return err
		})
	}
	s.run = pick(m, forms, "form")
	return s
}

// bringBack takes the mark of deletion off rows, at times with another place for them.
func (m *machine) bringBack() statement {
	if len(m.dead()) == 0 {
		return m.remove()
	}
	ids, g := m.some(m.dead(), "rows"), m.clone()
	if m.table.shown && m.rarely(4, "renamed where they are") {
		for _, id := range ids {
			n := g.rows[id]
			n.name = "renamed"
			g.rows[id] = n
		}
		return statement{what: fmt.Sprintf("rename the deleted %v", ids), after: g, run: func(db *gorm.DB) error {
			return db.Model(m.table.new()).Where("id IN ?", m.keysOf(ids)).Update(m.table.label, "renamed").Error
		}}
	}
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
			if n.name = name; n.name == "" && !m.nameless && (!moved && n.parent != 0 || moved) {
				s.reasons = append(s.reasons, pathlock.ErrInvalidPath, gormplugin.ErrMisplaced, gormplugin.ErrUnsupported)
			}
		}
		if moved {
			n.parent = parent
		}
		if was := g.rows[id]; !m.nameless && was.parent == 0 && n.parent != 0 && n.name == "" {
			s.reasons = append(s.reasons, gormplugin.ErrMisplaced) // a root row, which has no name below another
		}
		n.version++
		g.rows[id] = n
	}
	s.what = fmt.Sprintf("restore %v of %v", values, ids)
	if s = m.placed(g, ids, s); slices.Contains(s.reasons, pathlock.ErrInvalidPath) {
		s.reasons = append(s.reasons, gormplugin.ErrDamagedRow) // one below another
	}
	s.run = func(db *gorm.DB) error {
		if !m.table.shown {
			db = db.Unscoped()
		}
		return db.Model(m.table.new()).Where("id IN ?", m.keysOf(ids)).Updates(values).Error
	}
	return s
}
