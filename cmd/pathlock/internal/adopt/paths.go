package adopt

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// withPath returns the shapes in which a column has the path of names, or of keys. It tries the
// forms in which the column spells paths. A form fits if enough rows have the path that follows
// from their parents: see [shape.judge]. That of a broken tree may be wrong in any row, if its
// spelling is right, and the names of the columns say it.
func (t *table) withPath(link shape, column string, broken bool) (found []shape) {
	if broken && (!parentHint.MatchString(link.Parent) || !pathHint.MatchString(column)) {
		return nil
	}
	for _, label := range t.steps(link.Key) {
		if label == column || label == link.Parent || label == link.Key && len(found) > 0 || broken && label != link.Key && !nameHint.MatchString(label) || t.rows == 0 {
			continue
		}
		link := link
		link.of, link.owner = t.withoutOwner(column, label)
		for _, form := range link.of.forms(link, column, label, broken) {
			s := link
			if s.Path, s.PathForm, s.Name = column, form, label; label == link.Key {
				s.Path, s.PathForm, s.Name, s.IDPath, s.IDPathForm = "", "", "", column, form
			}
			if v := s.judge(); broken || v.fits(parentHint.MatchString(s.Parent), pathHint.MatchString(column)) {
				s.agree, s.hints, s.formless = v.agree, s.hint(), !v.parted && !broken
				found = append(found, s)
			}
		}
	}
	return best(found)
}

// merged returns the best shapes. One of names and one of keys over the same parents are one.
func merged(shapes []shape) []shape {
	names := best(slices.DeleteFunc(slices.Clone(shapes), func(s shape) bool { return s.Path == "" }))
	ids := best(slices.DeleteFunc(shapes, func(s shape) bool { return s.Path != "" }))
	switch {
	case len(ids) == 0, len(names) > 0 && !enough(ids[0].agree, names[0].agree):
		return names
	case len(names) == 0, !enough(names[0].agree, ids[0].agree), !nameHint.MatchString(names[0].Name):
		return ids
	case ids[0].Key != names[0].Key || ids[0].Parent != names[0].Parent:
		return best(append(ids, names...))
	}
	names[0].IDPath, names[0].IDPathForm = ids[0].IDPath, ids[0].IDPathForm
	return names[:1]
}

// How many rows have to agree with a description. A tree that handlers maintain is damaged, so half
// is enough where names of columns agree, too.
//
// enough reports whether at least half of the rows agree.
func enough(some, all int) bool { return some > 0 && 2*some >= all }

// most reports whether at least four of five rows agree.
func most(some, all int) bool { return some > 0 && 5*some >= 4*all }

// nearlyAll reports whether at least nineteen of twenty rows agree.
func nearlyAll(some, all int) bool { return some > 0 && 20*some >= 19*all }

// fits reports whether more rows have a shape than by chance: most of all rows and of those below
// others, and even more if the names of the columns do not suggest the shape.
func (v verdict) fits(parentHinted, pathHinted bool) bool {
	switch {
	case v.below == 0, !v.parted:
		return v.parted && pathHinted && most(v.agree, v.rows) || v.below > 0 && parentHinted && pathHinted && most(v.deep, v.below)
	case parentHinted, pathHinted && (v.deep > 1 || v.rows < 3):
		return enough(v.agree, v.rows) && enough(v.deep, v.below)
	}
	return v.deep > 1 && most(v.agree, v.rows) && most(v.deep, v.below)
}

// looked is how many rows are looked at to find the form of a path.
const looked = 2000

// forms returns the forms in which a column has paths of labels, the likeliest first: "" is the
// default.
func (t *table) forms(link shape, column, label string, broken bool) (forms []string) {
	known, votes := t.rowsOf(label), make(map[treetable.Form]int)
	for _, separator := range t.separators(column) {
		for _, f := range []treetable.Form{{}, {OfParent: true}, {Trail: separator}, {Trail: separator, OfParent: true}} {
			f.Separator = separator
			f.Lead = t.lead(column, f, known)
			if _, err := treetable.ParseForm(f.String()); err != nil || len(f.Lead) >= 16 {
				continue
			}
			if right, spelt, all := link.spelling(column, label, f); right > 0 && (4*right >= all && !broken || spelt && broken) {
				votes[f] = right
			}
		}
	}
	ranked := slices.SortedFunc(maps.Keys(votes), func(a, b treetable.Form) int {
		return cmp.Or(cmp.Compare(votes[b], votes[a]), strings.Index(treetable.NameSeparators, a.Separator)-strings.Index(treetable.NameSeparators, b.Separator), strings.Compare(a.String(), b.String()))
	})
	for _, f := range ranked[:min(len(ranked), 3)] {
		if broken && votes[f] < votes[ranked[0]] {
			break
		}
		forms = append(forms, written(f))
	}
	return forms
}

// written is a form as tags and flags have it.
func written(f treetable.Form) string {
	if f == treetable.DefaultForm {
		return ""
	}
	return f.String()
}

// separators returns those that a column has, or the default one.
func (t *table) separators(column string) (found []string) {
	for _, separator := range strings.Split(treetable.NameSeparators, "") {
		if slices.ContainsFunc(t.cells[column][:min(t.rows, looked)], func(c cell) bool { return strings.Contains(c.String, separator) }) {
			found = append(found, separator)
		}
	}
	if found == nil {
		return []string{treetable.DefaultForm.Separator}
	}
	return found
}

// rowsOf returns a row for each value of a column.
func (t *table) rowsOf(column string) map[string]int {
	if t.rowOf[column] == nil {
		t.rowOf[column] = make(map[string]int, t.rows)
		for i, c := range t.cells[column] {
			if c.String != "" {
				t.rowOf[column][c.String] = i
			}
		}
	}
	return t.rowOf[column]
}

// lead returns what most often precedes the first label in a column.
func (t *table) lead(column string, f treetable.Form, known map[string]int) (lead string) {
	leads := make(map[string]int)
	for _, c := range t.cells[column][:min(t.rows, looked)] {
		if c.String == "" {
			continue // so it is at the top in forms with and without a separator there
		}
		before := ""
		for step := range strings.SplitSeq(strings.TrimSuffix(c.String, f.Trail), f.Separator) {
			if _, is := known[step]; is {
				break
			}
			before += step + f.Separator
		}
		if leads[before]++; leads[before] > leads[lead] {
			lead = before
		}
	}
	return lead
}

// withoutOwner returns the table as it would be without the owner of a row, or its tree's id,
// before the first label of each path, and the column that has it: no form has a part that differs
// from tree to tree. It returns the table itself, and "", if there is none. One number in all rows
// is no owner.
func (t *table) withoutOwner(column, label string) (*table, string) {
	known := t.rowsOf(label)
	for _, owner := range t.order {
		if t.cells[owner] == nil || owner == column || owner != t.tree && !ownHint.MatchString(owner) && !treeHint.MatchString(owner) {
			continue
		}
		cells, owners, count := t.cutOwner(column, owner, known)
		if _, one := t.value(owner); nearlyAll(count, t.rows) && (owners > 1 || one && t.kind(owner) != dialect.Number) {
			plain := *t
			plain.cells, plain.rowOf = maps.Clone(t.cells), make(map[string]map[string]int)
			plain.cells[column] = cells
			return &plain, owner
		}
	}
	return t, ""
}

// cutOwner takes the owner away from the front of paths, and counts the owners and the paths. An
// owner that is a label, too, stays.
func (t *table) cutOwner(column, owner string, known map[string]int) (cells []cell, owners, count int) {
	seen := make(map[string]bool)
	for i, c := range t.cells[column] {
		is := t.cells[owner][i].String
		lead, rest, _ := strings.Cut(c.String, is)
		separator := rest[:min(len(rest), 1)]
		_, labels := known[is]
		if whole := c.String == lead+is; is != "" && !labels && (whole || strings.IndexAny(rest, treetable.NameSeparators) == 0) && strings.Trim(lead, treetable.NameSeparators) == "" && len(lead) < 2 {
			if c.String = lead + strings.TrimPrefix(rest, separator); whole {
				c.String = "" // the root row
			}
			seen[is] = true
			count++
		}
		cells = append(cells, c)
	}
	return cells, len(seen), count
}

// spelling counts the rows whose path, if the column is in a form, ends in their own label or in
// that of their parent, and says whether the paths are spelt so: they consist of labels, or end so.
func (s *shape) spelling(column, label string, f treetable.Form) (right int, spelt bool, all int) {
	known, rowOf, below, steps, long, several := s.of.rowsOf(label), s.of.rowsOf(s.Key), 0, 0, 0, 0
	for i, c := range s.of.cells[column][:min(s.of.rows, looked)] {
		path, of, top := f.Read(c.String), i, s.isTop(i)
		if !s.isLive(i) || !c.Valid {
			continue
		}
		if all++; !top {
			below++
		}
		if path != "" && path[0] != '/' {
			continue
		}
		if f.OfParent {
			up, ok := rowOf[s.of.cells[s.Parent][i].String]
			if of = up; !ok && !top {
				continue
			}
		}
		names := strings.Split(path, "/")[min(len(path), 1):]
		several += min(len(names)-1, 1)
		if f.OfParent && top && path == "" || path != "" && names[len(names)-1] == s.of.cells[label][of].String {
			right++
		}
		if !slices.ContainsFunc(names, func(step string) bool { _, is := known[step]; return !is && step != "" }) {
			steps++
			long += min(len(names)-1, 1)
		}
	}
	if label == s.Key {
		return right, long > 0 && (most(steps, all) || most(right, all)), all
	}
	// Where a rename leaves the rows below as they are, many paths have names that no row has now.
	stale := nearlyAll(right, all) && 4*steps >= all
	return right, (enough(steps, all) && most(right, all) || stale) && enough(several, below), all
}
