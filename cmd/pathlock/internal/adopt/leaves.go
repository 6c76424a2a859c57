package adopt

import (
	"strings"

	"github.com/pathlock-go/pathlock/internal/treetable"
)

// leavesOf returns the tables whose rows point to the rows of a shape, and have their paths.
func leavesOf(s shape, tables []*table) (leaves []treetable.Table) {
	if len(s.added) > 0 || s.of.rows == 0 {
		return nil
	}
	rowOf, p := make(map[string]int, s.of.rows), s.places()
	for i, c := range s.of.cells[s.Key] {
		rowOf[c.String] = i
	}
	for _, t := range tables {
		if t.name == s.Table.Table || len(t.unique) == 0 {
			continue
		}
		if leaf, ok := t.leaf(s, rowOf, p); ok {
			leaves = append(leaves, leaf)
		}
	}
	return leaves
}

// leaf describes the table as one of leaves of a shape.
func (t *table) leaf(s shape, rowOf map[string]int, p places) (leaf treetable.Table, ok bool) {
	most := 0
	for _, parent := range t.order {
		if parent == t.unique[0] || t.cells[parent] == nil || !alike(t.kind(parent), s.of.kind(s.Key)) {
			continue
		}
		for _, column := range t.texts() {
			for _, of := range []struct {
				tree, form string
				path       []string
				apply      func(*treetable.Table, string)
			}{
				{s.Path, s.PathForm, p.names, func(l *treetable.Table, form string) { l.Path, l.PathForm = column, form }},
				{s.IDPath, s.IDPathForm, p.keys, func(l *treetable.Table, form string) { l.IDPath, l.IDPathForm = column, form }},
			} {
				name := t.leafName(column)
				if of.tree == "" || column == parent || name == "" && of.tree == s.Path {
					continue
				}
				f, _ := treetable.ParseForm(of.form)
				f.OfParent = true
				fit, all := 0, 0
				for i, c := range t.cells[parent] {
					at, known := rowOf[c.String]
					if !known {
						continue
					}
					if all++; of.path[at] != "" && t.cells[column][i].String == f.Print(of.path[at]) {
						fit++
					}
				}
				if fit > most && enough(fit, all) {
					most, ok = fit, true
					leaf = treetable.Table{Table: t.name, Key: t.unique[0], Parent: parent, Name: name}
					of.apply(&leaf, f.String())
				}
			}
		}
	}
	if ok {
		whole := shape{Table: leaf, of: t}
		leaf.Deleted, leaf.DeletedWhen = t.mark(&whole)
	}
	return leaf, ok
}

// leafName is the column of the names of leaves, by its own name.
func (t *table) leafName(not string) string {
	found := ""
	for _, column := range t.texts() {
		switch {
		case column == not || column == t.unique[0]:
		case strings.EqualFold(column, "name"):
			return column
		case found == "" && nameHint.MatchString(column):
			found = column
		}
	}
	return found
}
