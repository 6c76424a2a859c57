package adopt

import (
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/treetable"
)

// pointer is a column of another table whose values are keys of a tree's rows.
type pointer struct {
	from   *table
	column string
	// at has the row of the tree for each row of the table, -1 for none.
	at    []int
	known int
	// told is set if the column is named for the tree's rows.
	told bool
}

// pointers returns the columns of the other tables that point to rows of a shape.
func (s *shape) pointers(tables []*table) (found []pointer) {
	rowOf := s.liveRows()
	for _, t := range tables {
		for _, column := range t.order {
			if t.name == s.Table.Table || t.key == "" || column == t.key || t.cells[column] == nil || !alike(t.kind(column), s.of.kind(s.Key)) || !t.refers(column, s.of, s.Key) {
				continue
			}
			stem := strings.TrimSuffix(strings.ToLower(goName(column)), "id")
			p := pointer{t, column, make([]int, t.rows), 0, stem != "" && strings.HasSuffix(strings.ToLower(typeName(s.Table.Table)), stem)}
			for i, c := range t.cells[column] {
				at, ok := rowOf[c.String]
				if p.at[i] = at; !ok {
					p.at[i] = -1
					continue
				}
				p.known++
			}
			if p.known > 0 {
				found = append(found, p)
			}
		}
	}
	return found
}

// carries reports whether most rows have the path of the row that they point to in a column. If the
// name of the pointer does not tell, small numbers and a text may agree by chance: there have to be
// several such paths, and one below others.
func (p pointer) carries(column string, paths []string, f treetable.Form) bool {
	fit, deep, seen := 0, false, make(map[string]bool)
	for i, at := range p.at {
		if at >= 0 && paths[at] != "" && p.from.cells[column][i].String == f.Print(paths[at]) {
			fit++
			deep, seen[paths[at]] = deep || strings.Count(paths[at], "/") > 1, true
		}
	}
	return column != p.column && fit > 1 && most(fit, p.known) && (p.told || deep && len(seen) > 1)
}

// findLeaves adds the tables whose rows have the paths of rows of the shape. It returns the columns
// with these, as table and column.
func (s *shape) findLeaves(tables []*table) (carried [][2]string) {
	if s.of.rows == 0 || s.isAdded(s.Parent) {
		return nil
	}
	columns := s.pathColumns(s.places())
	for _, p := range s.pointers(tables) {
		for _, column := range p.from.texts() {
			i := slices.IndexFunc(columns, func(c pathColumn) bool { return p.carries(column, c.want, c.form) })
			switch {
			case i >= 0:
				s.addLeaf(p, column, columns[i].name == s.Path, columns[i].form)
				carried = append(carried, [2]string{p.from.name, column})
			case s.Path == "":
				carried = append(carried, s.takeNames(p, column)...)
			}
		}
	}
	return carried
}

// takeNames finds a column of another table that has paths of names of the rows, for a shape that
// has none. A shape without any path then gets one of names, if each row's name can be in it.
func (s *shape) takeNames(p pointer, column string) [][2]string {
	for _, label := range s.of.labels() {
		named := *s
		named.Name, named.Path = label, label
		paths := named.places().names
		for _, separator := range strings.Split(treetable.NameSeparators, "") {
			for _, lead := range []string{separator, ""} {
				f := treetable.Form{Lead: lead, Separator: separator}
				deep := slices.ContainsFunc(paths, func(path string) bool { return strings.Count(path, "/") > 1 })
				if !deep || !p.carries(column, paths, f) {
					continue
				}
				named.PathForm = written(f)
				if s.isAdded(s.IDPath) && nameHint.MatchString(label) && len(s.Leaves) == 0 && named.places().unfit == 0 {
					s.added, s.filled, s.IDPath, s.IDPathForm, s.Name = nil, nil, "", "", label
					s.Path, s.PathForm = s.add("path", nil, textType(s.of.dialect, pathLength), nil), written(f)
					s.addLeaf(p, column, true, f)
				}
				return [][2]string{{p.from.name, column}}
			}
		}
	}
	return nil
}

// addLeaf adds a table of leaves, with paths of names or of ids.
func (s *shape) addLeaf(p pointer, column string, names bool, f treetable.Form) {
	t := p.from
	leaf := treetable.Table{Table: t.name, Key: t.key, Parent: p.column, Name: p.leafName(column)}
	f.OfParent = true
	if leaf.Path, leaf.PathForm = column, f.String(); !names {
		leaf.Path, leaf.PathForm, leaf.IDPath, leaf.IDPathForm = "", "", column, f.String()
	}
	switch {
	case slices.Contains(s.nameless, t.name), slices.ContainsFunc(s.Leaves, func(l treetable.Table) bool { return l.Table == t.name }):
		return
	case leaf.Name == "":
		s.nameless = append(s.nameless, t.name)
		return
	}
	leaf.Deleted, leaf.DeletedWhen = t.mark()
	if s.Leaves = append(s.Leaves, leaf); s.below == nil {
		s.below = make(map[string]*table)
	}
	s.below[t.name] = t
}

// leaves are the shapes of the tables below.
func (s *shape) leaves() (shapes []shape) {
	for _, l := range s.Leaves {
		shapes = append(shapes, shape{Table: l, of: s.below[l.Table]})
	}
	return shapes
}

// leafName is the column of the names of leaves: by its own name, or as it tells those of one
// parent apart.
func (p pointer) leafName(path string) (name string) {
	leaf := shape{Table: treetable.Table{Parent: p.column}, of: p.from}
	columns := slices.DeleteFunc(p.from.texts(), func(column string) bool { return column == path || column == p.column || column == p.from.key })
	rank := 0
	for _, column := range columns {
		switch differ, rows := leaf.distinct(p.column, column); {
		case strings.EqualFold(column, "name"):
			return column
		case rank < 2 && nameHint.MatchString(column):
			name, rank = column, 2
		case rank < 1 && differ == rows:
			name, rank = column, 1
		}
	}
	return name
}
