package gormplugintest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"pgregory.net/rapid"
)

// leaf writes a leaf.
func (m *machine) leaf() statement {
	g := m.clone()
	ids := slices.Sorted(maps.Keys(m.leaves))
	name, parent := m.name(), m.parentOf()
	key := func(db *gorm.DB, id int) (key int64, err error) {
		n := m.leaves[id]
		err = db.Session(&gorm.Session{NewDB: true}).Model(&Case{}).Where("suite_id = ? AND name = ?", m.keys[n.parent], n.name).Pluck("id", &key).Error
		switch {
		case err != nil:
			err = readError{err}
		case key == 0:
			err = pathlock.ErrNotFound
		}
		return key, err
	}
	if len(ids) == 0 || m.rarely(3, "new") {
		id, source := m.id(), 0
		if len(ids) > 0 && m.rarely(3, "a copy") {
			source = pick(m, ids, "source")
		}
		g.leaves[id] = node{parent: parent, name: name, note: m.leaves[source].note}
		made := &Case{Name: name}
		if key, ok := m.keys[parent].(int64); ok {
			made.SuiteID = key
		}
		s := statement{
			what: fmt.Sprintf("a leaf %q below %v", name, m.paths([]int{parent})), run: func(db *gorm.DB) error {
				if source == 0 {
					return db.Create(made).Error
				}
				key, err := key(db, source)
				if err == nil {
					_, err = gormplugin.Copy(db, made, key, gormplugin.Below(m.keys[parent]), gormplugin.CopyAs(name))
				}
				return err
			}, told: func(f forest) { m.toldLeaf(f, id, made) },
		}
		switch {
		case source != 0:
			s.what = fmt.Sprintf("a copy of the leaf %v as %s", m.leaves[source], s.what)
			if !m.hasPlace(m.leaves[source]) {
				s.reasons = append(s.reasons, pathlock.ErrNotFound)
			}
			if name == "" {
				g.leaves[id] = node{parent: parent, name: m.leaves[source].name, note: m.leaves[source].note}
			}
		case m.table.sole != "" && m.leafPaths.Path != "" && m.leafForm.endsIn(name) && m.rarely(3, "by its path"):
			made.SuiteID, made.Column = 0, m.textBelow(m.leafForm, parent, name)
			m.leafByPath(g, id, 0, made.Column, &s)
		case parent != 0 && m.leafPaths.Path != "" && !strings.Contains(name, m.leafForm.separator) && m.rarely(4, "stated"):
			if made.Column, _ = m.leafColumns(g, g.leaves[id], 0); m.rarely(3, "outdated") {
				if made.Column += m.leafForm.separator + "x"; m.leafForm.ofParent {
					s.reasons = append(s.reasons, pathlock.ErrPathChanged)
				}
			}
		}
		return m.placedLeaf(g, id, s)
	}
	id := pick(m, ids, "leaf")
	n := g.leaves[id]
	switch rapid.IntRange(0, 4).Draw(m.T, "of the leaf") {
	case 0:
		delete(g.leaves, id)
		s := statement{what: "delete a leaf", after: g, run: func(db *gorm.DB) error {
			key, err := key(db, id)
			if err != nil {
				return err
			}
			return db.Delete(&Case{ID: key}).Error
		}}
		if m.hasPlace(n) {
			s.claims = map[int][]string{m.rows[n.parent].tree: {m.path(n.parent) + "/" + n.name}}
		}
		return s
	case 1:
		n.note = "edited"
		g.leaves[id] = n
		read, save := new(Case), rapid.Bool().Draw(m.T, "by Save")
		return statement{what: "edit a leaf", after: g, run: func(db *gorm.DB) error {
			key, err := key(db, id)
			if err != nil {
				return err
			}
			if !save {
				return db.Model(&Case{ID: key}).Update("body", "edited").Error
			}
			if err := db.Session(&gorm.Session{NewDB: true}).Take(read, key).Error; err != nil {
				return readError{err}
			}
			read.Body = "edited"
			return db.Save(read).Error
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
	s := statement{what: fmt.Sprintf("a leaf %v to %v", was, n), told: func(f forest) { m.toldLeaf(f, id, dest) }}
	function, column, value := rapid.Bool().Draw(m.T, "by a function"), "suite_id", m.value(parent)
	if byPath := m.leafPaths.Path != "" && m.leafForm.ofParent; moved && byPath && !function && rapid.Bool().Draw(m.T, "by its path") {
		column, value = m.leafPaths.Path, m.textBelow(m.leafForm, parent, name)
		n = m.leafByPath(g, id, m.rows[was.parent].tree, fmt.Sprint(value), &s)
	}
	s.run = func(db *gorm.DB) error {
		key, err := key(db, id)
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
			return db.Model(dest).Update(column, value).Error
		default:
			return db.Model(dest).Update("name", name).Error
		}
	}
	s = m.placedLeaf(g, id, s)
	if was == n {
		s.claims = nil
		s.told = nil
	} else {
		n.version++
		g.leaves[id] = n
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
		if n, ok := f.leaves[id]; ok && f.hasPlace(n) {
			tree := f.rows[n.parent].tree
			s.claims[tree] = append(s.claims[tree], f.path(n.parent)+"/"+n.name)
		}
	}
	return s
}

// toldLeaf checks the paths that a leaf's struct has.
func (m *machine) toldLeaf(f forest, id int, told *Case) {
	n := f.leaves[id]
	want := Case{Path: f.path(n.parent) + "/" + n.name}
	if m.table.path == "" {
		want.Path = told.Path // of ids
	}
	want.Column, want.IDs = m.leafColumns(f, n, told.ID)
	if told.Path != want.Path || told.Column != want.Column || told.IDs != want.IDs {
		m.Fatalf("the leaf's struct says %+v, want the paths of %+v", told, want)
	}
}
