package adopt

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// parentless returns the shapes of a table that knows parents by the paths alone, with the columns
// that have to be added.
func (t *table) parentless(links []shape) (found []shape) {
	if len(t.unique) == 0 || t.cells[t.unique[0]] == nil || slices.ContainsFunc(links, func(s shape) bool { return parentHint.MatchString(s.Parent) }) {
		return nil
	}
	for _, column := range t.texts() {
		if column == t.unique[0] {
			continue
		}
		for _, tree := range append([]string{""}, t.trees(column)...) {
			s := shape{Table: treetable.Table{Table: t.name, Key: t.unique[0], Tree: tree, Path: column}, of: t}
			s.Deleted, s.DeletedWhen = t.mark()
			for _, separator := range strings.Split(separators, "") {
				for _, trail := range []string{separator, ""} {
					f := treetable.Form{Separator: separator, Trail: trail}
					found = append(found, s.withOwnPath(f)...)
					f.OfParent = true
					found = append(found, s.withPathOfParent(f)...)
				}
			}
		}
	}
	return best(found)
}

// trees are the columns that can have the trees' ids by their names.
func (t *table) trees(path string) (columns []string) {
	for _, name := range t.order {
		if name == path || name == t.unique[0] || !treeHint.MatchString(name) && !ownHint.MatchString(name) || !alike(t.kind(name), t.kind(name)) {
			continue
		}
		values := make(map[string]bool)
		for _, c := range t.cells[name] {
			values[c.String] = c.Valid
		}
		if len(values) > 1 && !slices.Contains(slices.Collect(maps.Values(values)), false) && !values[""] {
			columns = append(columns, name)
		}
	}
	return columns
}

// spot is a path in its tree.
type spot struct{ tree, path string }

// spot returns that of a path in the tree of a row.
func (s *shape) spot(i int, path string) spot {
	if s.Tree == "" {
		return spot{"", path}
	}
	return spot{s.of.cells[s.Tree][i].String, path}
}

// withOwnPath takes what precedes the last name of each path for the path of the row above.
func (s shape) withOwnPath(f treetable.Form) (found []shape) {
	t, rowOf, leads := s.of, make(map[spot]int), make(map[string]int)
	cells := t.cells[s.Path]
	for i, c := range cells {
		if s.isLive(i) {
			if _, twice := rowOf[s.spot(i, c.String)]; !twice {
				rowOf[s.spot(i, c.String)] = i
			}
		}
	}
	above := func(i int) (dir, name string, ok bool) {
		rest, ok := strings.CutSuffix(cells[i].String, f.Trail)
		at := strings.LastIndex(rest, f.Separator)
		if dir, name = rest[:at+1], rest[at+1:]; f.Trail == "" {
			dir = strings.TrimSuffix(dir, f.Separator)
		}
		return dir, name, ok && name != ""
	}
	live, below := 0, 0
	for i := range cells {
		if !s.isLive(i) {
			continue
		}
		live++
		dir, _, ok := above(i)
		if _, known := rowOf[s.spot(i, dir)]; ok && known && dir != "" {
			below++
		} else if ok && len(dir) < 4 {
			leads[dir]++
		}
	}
	for dir, n := range leads { // a missing parent is rarer than the top
		if n > leads[f.Lead] || leads[f.Lead] == 0 {
			f.Lead = dir
		}
	}
	top := f.Lead
	if f.Trail == "" && top != "" || f.Trail == "" && leads[""] > 0 && strings.HasPrefix(cells[0].String, f.Separator) {
		f.Lead += f.Separator
	}
	if _, err := treetable.ParseForm(f.String()); err != nil || below == 0 || leads[top] == 0 || !enough(below+leads[top], live) || len(rowOf)*10 < live*6 {
		return nil
	}
	parents, names := make([]cell, t.rows), make([]cell, t.rows)
	for i := range cells {
		dir, name, ok := above(i)
		up, known := rowOf[s.spot(i, dir)]
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

// labelled returns the shape with the column that has the last names of the paths, or with a new
// one; two rows say too little to choose.
func (s shape) labelled(names []cell, live int) (found []shape) {
	most, label := 0, ""
	for _, column := range append([]string{s.Key}, s.of.texts()...) {
		same := 0
		for i, c := range s.of.cells[column] {
			if s.isLive(i) && c == names[i] {
				same++
			}
		}
		if column != s.Path && same > most && (same*10 >= live*8 || column == s.Key && enough(same, live)) {
			most, label = same, column
		}
	}
	if label == s.Key {
		s.Path, s.PathForm, s.IDPath, s.IDPathForm = "", "", s.Path, s.PathForm
		return []shape{s}
	}
	if s.Name = label; label != "" {
		found = append(found, s)
	}
	if label == "" || live < 3 {
		s.Name = s.add(s.free("segment"), s.of.nameType(s.of.dialect), names)
		found = append(found, s)
	}
	return found
}

// parents adds the column of the parents, and counts the rows that agree.
func (s *shape) parents(cells []cell) {
	key := s.of.columns[s.Key]
	key.Nullable, key.Required, key.Key, key.Plain, key.Expression = true, false, 0, true, ""
	s.Parent = s.add(s.free("parent_id"), key, cells)
	v := s.judge()
	if s.agree, s.hints = v.agree, s.hint(); s.Tree != "" {
		s.hints++
	}
}

// withPathOfParent takes the path together with a name for the row's own.
func (s shape) withPathOfParent(f treetable.Form) (found []shape) {
	t := s.of
	cells := t.cells[s.Path]
	deeper := slices.ContainsFunc(cells, func(c cell) bool { return len(c.String) > 1 && strings.Contains(c.String, f.Separator) })
	for _, column := range append([]string{s.Key}, t.texts()...) {
		if column == s.Path || !deeper {
			continue
		}
		for _, f.Lead = range []string{"", f.Separator} {
			root, rowOf := f.Column("/x"), make(map[spot]int)
			for i, c := range t.cells[column] {
				if own := f.Own(cells[i].String, c.String); s.isLive(i) && c.String != "" {
					rowOf[s.spot(i, f.Print(own))] = i
				}
			}
			live, fit, below, parents := 0, 0, 0, make([]cell, t.rows)
			for i, c := range cells {
				up, known := rowOf[s.spot(i, c.String)]
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

// fills are the statements that fill the added columns from the path.
func (s *shape) fills(d *dialect.Dialect) (statements []Statement) {
	column := s.Path
	form, _ := treetable.ParseForm(s.PathForm)
	if column == "" {
		column = s.IDPath
		form, _ = treetable.ParseForm(s.IDPathForm)
	}
	q, table := d.QuotePart, d.Quote(s.Table.Table)
	length := "LENGTH"
	if d == dialect.MySQL {
		length = "CHAR_LENGTH"
	}
	// dir is the path up to the last name, with what separates them.
	text := q(column)
	if form.Trail != "" {
		text = fmt.Sprintf("SUBSTR(%s, 1, %s(%s) - 1)", text, length, text)
	}
	dir := fmt.Sprintf("RTRIM(%s, REPLACE(%s, '%s', ''))", text, text, form.Separator)
	if d == dialect.MySQL {
		dir = fmt.Sprintf("LEFT(%s, CHAR_LENGTH(%s) - CHAR_LENGTH(SUBSTRING_INDEX(%s, '%s', -1)))", text, text, text, form.Separator)
	}
	above := dir
	if form.Trail == "" {
		above = fmt.Sprintf("SUBSTR(%s, 1, %s(%s) - 1)", dir, length, dir)
	}
	same, tree := "", ""
	if s.Tree != "" {
		same, tree = " AND p."+q(s.Tree)+" = "+table+"."+q(s.Tree), ", "+q(s.Tree)
	}
	own, root := q(column), "'"+strings.ReplaceAll(form.Print(""), "'", "''")+"'"
	top := above + " = " + root + " AND " + own + " <> " + root
	if form.OfParent {
		above, own = q(column), s.ownPath(d, form)
		top = above + " = " + root
	}
	live := ""
	if s.Deleted != "" {
		live = " WHERE " + d.Live(q(s.Deleted), s.of.kind(s.Deleted), s.when())
	}
	missing := "'-1'"
	if s.of.kind(s.Key) == dialect.Number {
		missing = "-1"
	}
	if s.isAdded(s.Name) {
		statements = append(statements, Statement{SQL: fmt.Sprintf("UPDATE %s SET %s = SUBSTR(%s, %s(%s) + 1)", table, q(s.Name), text, length, dir), Why: "the name is the last one of the path"})
	}
	return append(statements, Statement{
		SQL: fmt.Sprintf("UPDATE %s SET %s = COALESCE((SELECT MIN(p.%s) FROM (SELECT %s%s, %s AS own FROM %s%s) AS p WHERE p.own = %s AND p.own <> %s AND p.%s <> %s.%s%s), CASE WHEN %s THEN NULL ELSE %s END)",
			table, q(s.Parent), q(s.Key), q(s.Key), tree, own, table, live, qualified(above, q(column), table), root, q(s.Key), table, q(s.Key), same, top, missing),
		Why: fmt.Sprintf("the parent is the row with the path above; %d rows have none, and get the parent %s, which fsck finds", s.judge().orphans, missing),
	})
}

// qualified names the table of a column in an expression.
func qualified(expression, column, table string) string {
	return strings.ReplaceAll(expression, column, table+"."+column)
}

// ownPath is the expression for a row's own path, where the column has its parent's.
func (s *shape) ownPath(d *dialect.Dialect, form treetable.Form) string {
	parts := []string{d.QuotePart(cmp.Or(s.Path, s.IDPath)), d.QuotePart(cmp.Or(s.Name, s.Key))}
	if form.Trail != "" {
		parts = append(parts, "'"+form.Trail+"'")
	} else {
		parts = slices.Insert(parts, 1, fmt.Sprintf("CASE WHEN %s = '' AND '%s' = '' THEN '' ELSE '%s' END", parts[0], form.Lead, form.Separator))
	}
	if d == dialect.MySQL {
		return "CONCAT(" + strings.Join(parts, ", ") + ")"
	}
	return strings.Join(parts, " || ")
}
