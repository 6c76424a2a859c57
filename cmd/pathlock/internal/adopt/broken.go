package adopt

import (
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/treetable"
)

// broken returns the shapes of a tree whose paths are mostly wrong: they are still spelt with keys
// or names of rows, or end in that of the row or of its parent.
func (t *table) broken(links []shape) []shape {
	var spelt []shape
	for _, link := range links {
		for _, column := range t.texts() {
			if !parentHint.MatchString(link.Parent) || !pathHint.MatchString(column) || column == link.Key || column == link.Parent {
				continue
			}
			for _, label := range append([]string{link.Key}, t.labels()...) {
				if label == link.Key || label != column && label != link.Parent && nameHint.MatchString(label) {
					spelt = append(spelt, link.spelt(column, label)...)
				}
			}
		}
	}
	return merged(spelt)
}

// spelt returns the shapes in which a column spells paths of labels, the best forms alone.
func (s shape) spelt(column, label string) (found []shape) {
	known := make(map[string]bool, s.of.rows)
	for _, c := range s.of.cells[label] {
		known[c.String] = c.Valid && c.String != ""
	}
	if s.Path, s.Name = column, label; label == s.Key {
		s.Path, s.Name, s.IDPath = "", "", column
	}
	s.Deleted, s.DeletedWhen = s.of.mark()
	s.hints = s.hint()
	for _, separator := range strings.Split(treetable.NameSeparators, "") {
		for _, trail := range []string{"", separator} {
			for _, ofParent := range []bool{false, true} {
				f := treetable.Form{Separator: separator, Trail: trail, OfParent: ofParent}
				f.Lead = s.lead(column, f, known)
				if _, err := treetable.ParseForm(f.String()); err != nil || !s.isSpelt(column, label, f, known) {
					continue
				}
				if s.setForm(f); s.IDPath != "" {
					s.IDPathForm, s.PathForm = s.PathForm, ""
				}
				found = append(found, s)
			}
		}
	}
	return best(found)
}

// lead is what most often precedes the first label in a column.
func (s *shape) lead(column string, f treetable.Form, known map[string]bool) (lead string) {
	leads := make(map[string]int)
	for _, c := range s.of.cells[column] {
		before := ""
		for step := range strings.SplitSeq(strings.TrimSuffix(c.String, f.Trail), f.Separator) {
			if known[step] {
				break
			}
			before += step + f.Separator
		}
		if leads[before]++; c.String != "" && leads[before] > leads[lead] {
			lead = before
		}
	}
	return lead
}

// isSpelt reports whether a column spells paths of labels, and counts in agree the rows whose path
// ends as it should.
func (s *shape) isSpelt(column, label string, f treetable.Form, known map[string]bool) bool {
	rowOf, all, below, steps, long := s.rowOf(), 0, 0, 0, 0
	s.agree = 0
	for i, c := range s.of.cells[column] {
		if !s.isLive(i) || c.String == "" {
			continue
		}
		all++
		path, of, top := f.Read(c.String), i, s.isTop(i)
		if !top {
			below++
		}
		if path != "" && path[0] != '/' {
			continue
		}
		if f.OfParent {
			of = rowOf[s.of.cells[s.Parent][i].String]
		}
		names := strings.Split(path, "/")[min(len(path), 1):]
		if f.OfParent && top && path == "" || names[len(names)-1] == s.of.cells[label][of].String {
			s.agree++
		}
		if slices.ContainsFunc(names, func(step string) bool { return step != "" && !known[step] }) {
			continue
		}
		if steps++; len(names) > 1 {
			long++
		}
	}
	if label == s.Key {
		return long > 0 && s.agree > 0 && (most(steps, all) || most(s.agree, all))
	}
	return enough(steps, all) && most(s.agree, all) && enough(long, below)
}
