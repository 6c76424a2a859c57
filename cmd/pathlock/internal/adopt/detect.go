package adopt

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// shapes returns the shapes that fit the table, all equally well, and why it has none.
func (t *table) shapes() (found []shape, unsupported []Unsupported) {
	unsupported = t.otherTrees()
	links := t.links()
	var named []shape
	for _, link := range links {
		for _, column := range t.texts() {
			if column != link.Key && column != link.Parent && t.columns[column].Type != "ltree" {
				named = append(named, t.withPath(link, column)...)
			}
		}
	}
	if found = merged(named); len(found) == 0 && len(unsupported) == 0 {
		if found = t.parentless(links); len(found) == 0 {
			found = t.pathless(links)
		}
	}
	for i := range found {
		found[i].settle()
	}
	return found, unsupported
}

// leastShare is the part of the rows that has to fit: a tree that handlers maintain is damaged.
const leastShare = 0.5

// enough reports whether so many of the rows are enough.
func enough(some, all int) bool { return some > 0 && float64(some) >= leastShare*float64(all) }

// links are the pairs of a key and a parent whose values are mostly keys, or whose name says so
// where all rows are at the top.
func (t *table) links() (links []shape) {
	for _, key := range t.unique {
		keys := make(map[string]bool, t.rows)
		for _, c := range t.cells[key] {
			keys[c.String] = true
		}
		for _, parent := range t.order {
			if parent == key || t.cells[parent] == nil && t.rows > 0 || !alike(t.kind(key), t.kind(parent)) {
				continue
			}
			s := shape{Table: treetable.Table{Table: t.name, Key: key, Parent: parent}, of: t}
			below, known, self := 0, 0, 0
			for i, c := range t.cells[parent] {
				if s.isTop(c) {
					continue
				}
				below++
				if keys[c.String] {
					known++
				}
				if c.String == t.cells[key][i].String {
					self++
				}
			}
			if below > 0 && enough(known-self, below) || below == 0 && parentHint.MatchString(parent) {
				links = append(links, s)
			}
		}
	}
	return links
}

// alike reports whether a column can have the keys of another.
func alike(a, b dialect.ColumnKind) bool {
	return a == b && (a == dialect.Number || a == dialect.Text || a == dialect.UUID || a == dialect.Bytes)
}

// withPath returns the shapes in which a column has the path of names, or of keys.
func (t *table) withPath(link shape, column string) (found []shape) {
	labels := append([]string{link.Key}, t.texts()...)
	for _, label := range labels {
		if label == column || label == link.Parent || label == link.Key && len(found) > 0 || t.rows == 0 {
			continue
		}
		s, forms := link, t.forms(link, column, label)
		for _, form := range forms {
			if s.Path, s.PathForm, s.Name = column, form, label; label == link.Key {
				s.Path, s.PathForm, s.Name, s.IDPath, s.IDPathForm = "", "", "", column, form
			}
			s.Deleted, s.DeletedWhen = t.mark(&s)
			v := s.judge()
			if s.agree, s.hints = v.agree, s.hint(); enough(v.agree, v.rows) && (v.deep > 0 || pathHint.MatchString(column)) {
				found = append(found, s)
			}
		}
	}
	return best(found)
}

// looked is how many rows are looked at to find the form of a path.
const looked = 2000

// forms returns the forms in which most rows have the path of labels in a column, the likeliest
// first: "" is the default.
func (t *table) forms(link shape, column, label string) []string {
	link.SingleTree, link.Path, link.Name = "any", column, label
	if label == link.Key {
		link.Path, link.IDPath, link.Name = "", column, ""
	}
	few := *t
	few.rows = min(t.rows, looked)
	link.of = &few
	p := link.places()
	votes := make(map[treetable.Form]int)
	for i := range few.rows {
		stored, path := t.cells[column][i], p.names[i]
		if label == link.Key {
			path = p.keys[i]
		}
		if !stored.Valid || p.wrong[i] != "" || path == "" {
			continue
		}
		vote(votes, stored.String, path)
	}
	ranked := slices.SortedFunc(maps.Keys(votes), func(a, b treetable.Form) int {
		return cmp.Or(cmp.Compare(votes[b], votes[a]), strings.Index(separators, a.Separator)-strings.Index(separators, b.Separator), strings.Compare(a.String(), b.String()))
	})
	var forms []string
	for _, f := range ranked[:min(len(ranked), 3)] {
		if f == treetable.DefaultForm {
			forms = append(forms, "")
			continue
		}
		forms = append(forms, f.String())
	}
	return forms
}

// separators are those of forms, the most usual first.
const separators = "/.,:;|>~-"

// vote counts the forms in which a text is a path, or that of the row above.
func vote(votes map[treetable.Form]int, stored, path string) {
	for _, f := range []treetable.Form{{}, {OfParent: true}} {
		held := strings.TrimPrefix(f.Holds(path), "/")
		if f.Holds(path) == "" {
			continue
		}
		for _, separator := range strings.Split(separators, "") {
			joined := strings.ReplaceAll(held, "/", separator)
			for _, f.Trail = range []string{"", separator} {
				lead, ok := strings.CutSuffix(stored, joined+f.Trail)
				if f.Lead, f.Separator = lead, separator; ok && len(lead) < 16 {
					if _, err := treetable.ParseForm(f.String()); err == nil {
						votes[f]++
					}
				}
			}
		}
	}
}

// merged returns the best shapes. One of names and one of keys over the same parents are one.
func merged(shapes []shape) []shape {
	var ids, names []shape
	for _, s := range shapes {
		if s.IDPath != "" {
			ids = append(ids, s)
		} else {
			names = append(names, s)
		}
	}
	ids, names = best(ids), best(names)
	if len(ids) == 0 || len(names) == 0 {
		return append(ids, names...)
	}
	if ids[0].Key == names[0].Key && ids[0].Parent == names[0].Parent {
		both := names[0]
		both.IDPath, both.IDPathForm = ids[0].IDPath, ids[0].IDPathForm
		return []shape{both}
	}
	return best(append(ids, names...))
}

// pathless returns the shapes with a parent and no path, by the names of the columns. Of an empty
// table, a column may have the name of a path.
func (t *table) pathless(links []shape) (found []shape) {
	for _, s := range links {
		if !parentHint.MatchString(s.Parent) {
			continue
		}
		if t.rows == 0 {
			s.guessed = true
			s.guess()
		}
		if s.Path == "" && s.IDPath == "" {
			s.IDPath = s.add(s.free("id_path"), s.of.pathType(t.dialect), nil)
		}
		s.Deleted, s.DeletedWhen = t.mark(&s)
		v := s.judge()
		s.agree, s.hints = v.agree, s.hint()
		if t.rows == 0 || enough(v.agree, v.rows) {
			found = append(found, s)
		}
	}
	return best(found)
}

// guess names the path of an empty table.
func (s *shape) guess() {
	for _, column := range s.of.order {
		kind := s.of.kind(column)
		switch {
		case kind != dialect.Text || column == s.Key || column == s.Parent || !pathHint.MatchString(column):
		case strings.Contains(strings.ToLower(column), "ancestors"):
			s.IDPath, s.IDPathForm = column, "parent:0,*,*"
			return
		default:
			s.IDPath = column
			return
		}
	}
}
