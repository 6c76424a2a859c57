package adopt

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// parentless returns the shapes of a table whose only link to parents is the path, with the columns
// that must be added.
func (t *table) parentless(links []shape) (found []shape) {
	if t.cells[t.key] == nil || slices.ContainsFunc(links, func(s shape) bool { return parentHint.MatchString(s.Parent) && !t.isVacant(s.Parent) }) {
		return nil
	}
	one := shape{Table: treetable.Table{Table: t.name, Key: t.key}, of: t}
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
		if s.Path == s.Tree || slices.Contains(s.pair, s.Path) {
			continue
		}
		for _, separator := range strings.Split(treetable.NameSeparators, "") {
			if !slices.ContainsFunc(s.of.cells[s.Path], func(c cell) bool { return len(c.String) > 1 && strings.Contains(c.String, separator) }) {
				continue
			}
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
		if !hinted || name == t.key || t.columns[name].Expression != "" || !t.isID(name) {
			continue
		}
		if cells := t.cells[name]; len(cells) > 0 && !slices.ContainsFunc(cells, func(c cell) bool { return c.String == "" }) {
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

// ties say which row is above each, according to the paths.
type ties struct {
	parents []cell
	// live are the rows that count: some are at the top, below others, or deeper. places are
	// the different paths.
	live, tops, below, deep, places int
}

// tie finds the row above each row: the only one whose own path is the path above that row. top is
// the path above rows at the top. A text that is no path is NULL.
func (s *shape) tie(own, above []cell, top string) (t ties) {
	rowOf := make(map[spot]int)
	for i, path := range own {
		if s.isLive(i) && path.Valid {
			at := s.spot(i, path.String)
			if _, twice := rowOf[at]; twice {
				i = -1
			}
			rowOf[at] = i
		}
	}
	t.parents, t.places = make([]cell, len(own)), len(rowOf)
	for i, path := range above {
		up, known := rowOf[s.spot(i, path.String)]
		isTop := path.Valid && path.String == top
		isBelow := path.Valid && !isTop && known && up >= 0 && up != i
		if isBelow {
			t.parents[i] = s.of.cells[s.Key][up]
		} else if !isTop {
			t.parents[i] = cell{String: "-1", Valid: true}
		}
		if !s.isLive(i) {
			continue
		}
		if t.live++; isTop {
			t.tops++
		} else if isBelow {
			if t.below++; above[up].String != top {
				t.deep++
			}
		}
	}
	return t
}

// withOwnPath takes what precedes the last name of each path for the path of the row above.
func (s shape) withOwnPath(f treetable.Form) (found []shape) {
	cells, rowOf, leads := s.of.cells[s.Path], s.of.rowsOf(s.Path), make(map[string]int)
	above, names := make([]cell, len(cells)), make([]cell, len(cells))
	for i, c := range cells {
		dir, name, ok := lastName(f, c.String)
		above[i], names[i] = cell{String: dir, Valid: ok}, cell{String: name, Valid: ok}
		if _, known := rowOf[dir]; ok && !known && len(dir) < 4 && s.isLive(i) {
			leads[dir]++
		}
	}
	for dir, n := range leads { // a missing parent is rarer than the top
		if n > leads[f.Lead] || n == leads[f.Lead] && dir < f.Lead {
			f.Lead = dir
		}
	}
	top := f.Lead
	t := s.tie(cells, above, top)
	if t.live > 2 && !pathHint.MatchString(s.Path) && (t.below == 1 || f.Separator != "/" && t.deep == 0) {
		return nil // by chance, as among addresses of pages, or names of files with a dot
	}
	if f.Trail == "" && top != "" || f.Trail == "" && leads[""] > 0 && strings.HasPrefix(cells[0].String, f.Separator) {
		f.Lead += f.Separator
	}
	if _, err := treetable.ParseForm(f.String()); err != nil || t.below == 0 || t.tops == 0 || !enough(t.below+t.tops, t.live) || !enough(t.below, t.live-t.tops) || t.places*10 < t.live*6 {
		return nil
	}
	s.PathForm = written(f)
	for _, named := range s.labelled(names, t.live) {
		named.parents(t.parents)
		found = append(found, named)
	}
	return found
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
		cells := s.of.cells[column]
		same := s.count(func(i int) bool { return cells[i] == names[i] })
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
	if s.of.stated.Name == "" && (label == "" || live < 3) {
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
	s.agree, s.hints = s.judge().agree, s.hint()
}

// topped returns the paths of rows' parents, with the path above the top in place of NULL if no row
// has that: then NULL is how the table marks its rows at the top.
func topped(cells []cell, f treetable.Form) []cell {
	top := cell{String: f.Column("/x"), Valid: true}
	if slices.Contains(cells, top) {
		return cells
	}
	cells = slices.Clone(cells)
	for i := range cells {
		if !cells[i].Valid {
			cells[i] = top
		}
	}
	return cells
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
	for _, column := range t.steps(s.Key) {
		for _, f.Lead = range slices.Compact(slices.Sorted(slices.Values([]string{"", f.Separator, top}))) {
			if _, err := treetable.ParseForm(f.String()); err != nil || column == s.Path {
				continue
			}
			own := make([]cell, t.rows)
			for i, c := range t.cells[column] {
				own[i] = cell{String: f.Print(f.Own(cells[i].String, c.String)), Valid: c.String != ""}
			}
			by := s.tie(own, topped(cells, f), f.Column("/x"))
			if by.below == 0 || !enough(by.below+by.tops, by.live) {
				continue
			}
			if column == s.Key && by.live > 2 && by.deep == 0 && !pathHint.MatchString(s.Path) {
				continue // by chance, as among addresses of requests that end in other tables' keys
			}
			one := s
			if one.PathForm, one.Name = written(f), column; column == s.Key {
				one.Path, one.PathForm, one.IDPath, one.IDPathForm, one.Name = "", "", one.Path, one.PathForm, ""
			}
			one.parents(by.parents)
			found = append(found, one)
		}
	}
	return best(found)
}
