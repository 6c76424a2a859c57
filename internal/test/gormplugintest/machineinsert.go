package gormplugintest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"pgregory.net/rapid"
)

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
			if x := m.table; x.sole == "" && !m.cameAgain(n.parent) && m.rarely(3, "states its tree") {
				stated := n.tree
				if m.rarely(3, "another one") {
					stated = 1 - stated
					s.reasons = append(s.reasons, gormplugin.ErrMisplaced)
				}
				row[x.treeColumn] = m.trees[stated]
			}
		} else {
			n.tree = rapid.IntRange(0, len(m.trees)-1).Draw(m.T, "tree")
			m.table.putIn(row, m.trees[n.tree])
			if !m.nameless && len(m.live()) == 0 && rapid.Bool().Draw(m.T, "root row") {
				n.name = ""
				row[m.table.label] = ""
			}
		}
		row[m.table.parent] = m.value(n.parent)
		if !given && m.table.key != nil {
			m.keys[id] = m.newKey(g, id)
			row["id"] = m.keys[id]
		}
		if m.table.note != "" {
			n.note = pick(m, []string{"", "n", "m"}, "note")
			row[m.table.note] = n.note
		}
		g.rows[id] = n
		if (i == 0 || n.parent != fresh[0]) && (n.parent == 0 || row[m.table.treeColumn] == nil) {
			m.insertByPath(g, id, row, &s)
		}
		fresh, values = append(fresh, id), append(values, row)
	}
	m.stated(g, fresh[0], values[0], &s)
	s = m.placed(g, fresh, s)
	s.what = fmt.Sprintf("insert %v", values)
	m.inserting(&s, fresh, values)
	return s
}

// stated has a new row state its path beside its parent at times, rightly or wrongly.
func (m *machine) stated(g forest, id int, row map[string]any, s *statement) {
	if m.table.path == "" || m.knows || g.rows[id].parent == 0 || row[m.table.path] != nil || !m.rarely(5, "states its path") {
		return
	}
	row[m.table.path] = g.form.of(g.path(id))
	if rapid.Bool().Draw(m.T, "wrongly") {
		row[m.table.path] = g.form.of("/else/where/" + g.form.last("x"))
		s.contradicts = g.form.ofParent
	}
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
	}
	if len(rows) == 1 {
		forms["a struct"] = func(db *gorm.DB) error { return db.Create(rows[0]).Error }
		if values[0][x.label] != nil { // else its UPDATE assigns none
			forms["Save"] = func(db *gorm.DB) error { return db.Save(rows[0]).Error }
		}
		forms["the table by its name"] = func(db *gorm.DB) error { return db.Table(x.schema.Table).Create(rows[0]).Error }
	}
	if _, own := values[0]["id"]; own || x.ids == "" {
		forms["maps"] = func(db *gorm.DB) error {
			for _, v := range values {
				if x.version != "" {
					v[x.version] = 0 // a map leaves the column empty, and NULL counts nothing
				}
			}
			return db.Model(x.new()).Create(&values).Error
		}
	}
	if len(s.reasons) == 0 {
		if !s.contradicts {
			forms["batches"] = func(db *gorm.DB) error { return db.CreateInBatches(x.slice(rows), 2).Error }
		}
		if _, own := values[0]["id"]; own {
			forms["an upsert"] = func(db *gorm.DB) error {
				return db.Clauses(clause.OnConflict{UpdateAll: true}).Create(x.slice(rows)).Error
			}
		}
	}
	form := pick(m, slices.Sorted(maps.Keys(forms)), "form")
	// A row that has a key may have been read: its path may be older than its parent.
	if _, own := values[0]["id"]; s.contradicts && (!own || form != "Save" && form != "an upsert") {
		s.reasons = append(s.reasons, pathlock.ErrPathChanged)
	}
	s.what += ": " + form
	s.run, s.parts = forms[form], form == "batches"
	if form == "maps" {
		return
	}
	s.told = func(f forest) {
		for i, id := range fresh {
			m.toldPath(f, id, rows[i])
			if s.byPath && values[i][m.table.parent] == nil {
				m.toldParent(f, id, rows[i])
			}
		}
	}
}
