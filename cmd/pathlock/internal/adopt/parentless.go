package adopt

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// parentless returns the shapes of a table that knows parents by the paths alone, with the columns
// that have to be added.
func (t *table) parentless(links []shape) (found []shape) {
	if len(t.unique) == 0 || t.cells[t.unique[0]] == nil || slices.ContainsFunc(links, func(s shape) bool { return parentHint.MatchString(s.Parent) && !t.isVacant(s.Parent) }) {
		return nil
	}
	one := shape{Table: treetable.Table{Table: t.name, Key: t.unique[0]}, of: t}
	one.Deleted, one.DeletedWhen = t.mark()
	if t.second != "" {
		return best(one.inPair(t.tree, t.second).byPaths())
	}
	if t.tree == "" {
		found = one.byPaths()
	}
	trees := t.trees(nil)
	for _, one.Tree = range trees {
		if !t.isConstant(one.Tree) || t.tree != "" {
			found = append(found, one.byPaths()...)
		}
	}
	if found = best(found); t.tree == "" && (len(found) == 0 || found[0].agree < found[0].judge().rows) {
		for _, first := range trees {
			for _, second := range t.trees(pairHint) {
				if !t.isConstant(second) && (first < second || first > second && (t.isConstant(first) || !slices.Contains(trees, second))) {
					found = append(found, one.inPair(first, second).byPaths()...)
				}
			}
		}
	}
	return best(found)
}

// byPaths returns the shapes whose path is one of the columns.
func (s shape) byPaths() (found []shape) {
	for _, s.Path = range s.of.texts() {
		if s.Path == s.Key || s.Path == s.Tree || s.isAdded(s.Path) || slices.Contains(s.pair, s.Path) {
			continue
		}
		for _, separator := range strings.Split(treetable.NameSeparators, "") {
			for _, trail := range []string{separator, ""} {
				f := treetable.Form{Separator: separator, Trail: trail}
				found = append(found, s.withOwnPath(f)...)
				f.OfParent = true
				found = append(found, s.withPathOfParent(f)...)
			}
		}
	}
	return found
}

// trees are the columns that can have the trees' ids by their names, or by others.
func (t *table) trees(others *regexp.Regexp) (columns []string) {
	if t.tree != "" {
		return []string{t.tree}
	}
	for _, name := range t.order {
		hinted := treeHint.MatchString(name) || ownHint.MatchString(name) || others != nil && others.MatchString(name)
		if !hinted || t.isKey(name) || t.columns[name].Expression != "" || !t.isID(name) {
			continue
		}
		values := make(map[string]bool)
		for _, c := range t.cells[name] {
			values[c.String] = c.Valid
		}
		if len(values) > 0 && !slices.Contains(slices.Collect(maps.Values(values)), false) && !values[""] {
			columns = append(columns, name)
		}
	}
	return columns
}

// isID reports whether Go writes the values of a column as SQL does: texts, UUIDs, whole numbers.
func (t *table) isID(column string) bool {
	kind := t.kind(column)
	return alike(kind, kind) && kind != dialect.Bytes && (kind != dialect.Number || !slices.ContainsFunc(t.cells[column], func(c cell) bool { return strings.Contains(c.String, ".") }))
}

// isConstant reports whether a column has one value.
func (t *table) isConstant(column string) bool { _, one := t.value(column); return one }

// spot is a path in its tree.
type spot struct{ tree, path string }

// spot returns that of a path in the tree of a row.
func (s *shape) spot(i int, path string) spot {
	if s.Tree == "" {
		return spot{"", path}
	}
	return spot{s.of.cells[s.Tree][i].String, path}
}

// spots has the rows by their paths, -1 for a path of several.
type spots map[spot]int

func (r spots) put(at spot, i int) {
	if _, twice := r[at]; twice {
		i = -1
	}
	r[at] = i
}

// at returns the only row that has a path.
func (r spots) at(of spot) (i int, known bool) {
	i, known = r[of]
	return i, known && i >= 0
}

// withOwnPath takes what precedes the last name of each path for the path of the row above.
func (s shape) withOwnPath(f treetable.Form) (found []shape) {
	t, rowOf, leads := s.of, make(spots), make(map[string]int)
	cells := t.cells[s.Path]
	for i, c := range cells {
		if s.isLive(i) {
			rowOf.put(s.spot(i, c.String), i)
		}
	}
	above := func(i int) (dir, name string, ok bool) { return lastName(f, cells[i].String) }
	live, below, deep := 0, 0, 0
	for i := range cells {
		if !s.isLive(i) {
			continue
		}
		live++
		dir, _, ok := above(i)
		if up, known := rowOf.at(s.spot(i, dir)); ok && known && dir != "" {
			below++
			if dir, _, _ := above(up); dir != "" {
				deep++
			}
		} else if ok && len(dir) < 4 {
			leads[dir]++
		}
	}
	for dir, n := range leads { // a missing parent is rarer than the top
		if n > leads[f.Lead] || leads[f.Lead] == 0 {
			f.Lead = dir
		}
	}
	if live > 2 && !pathHint.MatchString(s.Path) && (below == 1 || f.Separator != "/" && deep == 0) {
		return nil // by chance, as among addresses of pages, or names of files with a dot
	}
	top := f.Lead
	if f.Trail == "" && top != "" || f.Trail == "" && leads[""] > 0 && strings.HasPrefix(cells[0].String, f.Separator) {
		f.Lead += f.Separator
	}
	if _, err := treetable.ParseForm(f.String()); err != nil || below == 0 || leads[top] == 0 || !enough(below+leads[top], live) || !enough(below, live-leads[top]) || len(rowOf)*10 < live*6 {
		return nil
	}
	parents, names := make([]cell, t.rows), make([]cell, t.rows)
	for i := range cells {
		dir, name, ok := above(i)
		up, known := rowOf.at(s.spot(i, dir))
		names[i] = cell{String: name, Valid: ok}
		switch {
		case known && up != i && dir != top:
			parents[i] = t.cells[s.Key][up]
		case dir != top || !ok: // a row without a path is not the one above the top
			parents[i] = cell{String: "-1", Valid: true}
		}
	}
	s.setForm(f)
	for _, named := range s.labelled(names, live) {
		named.parents(parents)
		found = append(found, named)
	}
	return found
}

// setForm states the form of the path.
func (s *shape) setForm(f treetable.Form) {
	if s.PathForm = f.String(); f == treetable.DefaultForm {
		s.PathForm = ""
	}
}

// lastName splits a path before its last name.
func lastName(f treetable.Form, path string) (dir, name string, ok bool) {
	rest, ok := strings.CutSuffix(path, f.Trail)
	at := strings.LastIndex(rest, f.Separator)
	if dir, name = rest[:at+1], rest[at+1:]; f.Trail == "" {
		dir = strings.TrimSuffix(dir, f.Separator)
	}
	return dir, name, ok && name != ""
}

// labelled returns the shape with the column that has the last names of the paths, or with a new
// one; two rows say too little to choose.
func (s shape) labelled(names []cell, live int) (found []shape) {
	highest, label := 0, ""
	for _, column := range s.of.steps(s.Key) {
		same := 0
		for i, c := range s.of.cells[column] {
			if s.isLive(i) && c == names[i] {
				same++
			}
		}
		if column != s.Path && same > highest && (most(same, live) || column == s.Key && enough(same, live)) {
			highest, label = same, column
		}
	}
	if label == s.Key {
		s.Path, s.PathForm, s.IDPath, s.IDPathForm = "", "", s.Path, s.PathForm
		return []shape{s}
	}
	if s.Name = label; label != "" {
		found = append(found, s)
	}
	if s.of.label == "" && (label == "" || live < 3) {
		s.Name = s.add("segment", nil, textType(s.of.dialect, nameLength), names)
		found = append(found, s)
	}
	return found
}

// parents adds the column of the parents, and counts the rows that agree.
func (s *shape) parents(cells []cell) {
	key := s.of.columns[s.Key]
	key.Nullable, key.Required, key.Key, key.Plain, key.Expression, key.Rest = true, false, 0, true, "", ""
	s.Parent = s.add("parent_id", parentHint, key, cells)
	v := s.judge()
	if s.agree, s.hints = v.agree, s.hint(); s.Tree != "" && s.pair == nil {
		s.hints++
	}
}

// withPathOfParent takes the path together with a name for the row's own.
func (s shape) withPathOfParent(f treetable.Form) (found []shape) {
	t := s.of
	cells := t.cells[s.Path]
	top := cells[0].String
	for _, c := range cells {
		if c.Valid && len(c.String) < len(top) {
			top = c.String
		}
	}
	if f.Trail == "" {
		top += f.Separator
	}
	deeper := slices.ContainsFunc(cells, func(c cell) bool { return len(c.String) > 1 && strings.Contains(c.String, f.Separator) })
	for _, column := range t.steps(s.Key) {
		if column == s.Path || !deeper {
			continue
		}
		for _, f.Lead = range slices.Compact(slices.Sorted(slices.Values([]string{"", f.Separator, top}))) {
			if _, err := treetable.ParseForm(f.String()); err != nil {
				continue
			}
			root, rowOf := f.Column("/x"), make(spots)
			for i, c := range t.cells[column] {
				if own := f.Own(cells[i].String, c.String); s.isLive(i) && c.String != "" {
					rowOf.put(s.spot(i, f.Print(own)), i)
				}
			}
			live, fit, below, parents := 0, 0, 0, make([]cell, t.rows)
			for i, c := range cells {
				up, known := rowOf.at(s.spot(i, c.String))
				switch {
				case c.String == root && c.Valid:
				case known && up != i:
					parents[i] = t.cells[s.Key][up]
				default:
					parents[i] = cell{String: "-1", Valid: true}
				}
				if s.isLive(i) {
					live++
					if known && c.String != root {
						below++
					}
					if known || c.String == root && c.Valid {
						fit++
					}
				}
			}
			if below == 0 || !enough(fit, live) {
				continue
			}
			one := s
			one.setForm(f)
			if one.Name = column; column == s.Key {
				one.Path, one.PathForm, one.IDPath, one.IDPathForm, one.Name = "", "", one.Path, one.PathForm, ""
			}
			one.parents(parents)
			found = append(found, one)
		}
	}
	return best(found)
}
