package adopt

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// shapes returns the shapes that fit the table, all equally well, and why it has none.
func (t *table) shapes() (kept []shape, unsupported []Unsupported) {
	var found []shape
	unsupported = t.otherTrees()
	links := t.links()
	for _, broken := range []bool{false, true} {
		var named []shape
		for _, link := range links {
			for _, column := range t.texts() {
				if column != link.Key && column != link.Parent && len(found) == 0 {
					named = append(named, t.withPath(link, column, broken)...)
				}
			}
		}
		found = append(found, merged(named)...)
	}
	hinted := slices.ContainsFunc(found, func(s shape) bool { return parentHint.MatchString(s.Parent) })
	flat := !slices.ContainsFunc(found, func(s shape) bool { return !t.isVacant(s.Parent) })
	if (flat || t.rows < 3 && !hinted) && len(unsupported) == 0 {
		found = append(found, t.parentless(links)...)
		if flat {
			found = best(found)
		}
		if len(found) == 0 {
			found, unsupported = t.pathless(links)
		}
	}
	seen := make(map[string]bool)
	for _, s := range found {
		if s.settle(); s.Name == "" {
			s.Name = cmp.Or(t.stated.Name, s.siblingName())
		}
		same := fmt.Sprint(s.Table)
		switch n := s.roots(); {
		case seen[same]: // settling makes some alike
		case n > 1:
			unsupported = append(unsupported, Unsupported{t.name, fmt.Sprintf("%d rows have no parent and no name, as the root of a tree has, and no column says which tree a row is in: "+
				"give it to this command by --tree-column; if all are one tree, keep one of these rows", n)})
		default:
			kept = append(kept, s)
		}
		seen[same] = true
	}
	return kept, unsupported
}

// roots counts the root rows in a table without a column for the trees' ids: a repair would put all
// trees below one of them.
func (s *shape) roots() int {
	names := s.of.cells[s.Name]
	if s.SingleTree == "" || s.Path == "" || names == nil || s.of.cells[s.Parent] == nil {
		return 0
	}
	return s.count(func(i int) bool { return names[i].String == "" && s.isTop(i) })
}

// siblingName is the column that a unique index keeps distinct among siblings, "" if there is none.
func (s *shape) siblingName() string {
	for _, columns := range s.of.Together {
		names := slices.DeleteFunc(slices.Clone(columns), func(name string) bool {
			return name == s.Parent || name == s.Tree || name == s.Deleted || s.of.columns[name].Expression != ""
		})
		if slices.Contains(columns, s.Parent) && len(names) == 1 && slices.Contains(s.of.texts(), names[0]) {
			return names[0]
		}
	}
	return ""
}

// links are the pairs of a key and a parent whose values are mostly keys, or whose name says so if
// all rows are at the top.
func (t *table) links() (links []shape) {
	for _, parent := range t.order {
		if t.cells[parent] == nil && t.rows > 0 || pathHint.MatchString(parent) || depthHint.MatchString(parent) {
			continue
		}
		for _, key := range t.keys(parent) {
			s := shape{Table: treetable.Table{Table: t.name, Key: key, Parent: parent}, of: t}
			s.Deleted, s.DeletedWhen = t.mark()
			if parent != key && alike(t.kind(key), t.kind(parent)) && t.refers(parent, t, key) && s.isLink() {
				s.checkRowsBelow()
				links = append(links, s)
			}
		}
	}
	return links
}

// keys are the columns that a parent can name: the unique ones, and those in whose names its own
// ends, if each row has another value there.
func (t *table) keys(parent string) []string {
	keys := slices.Clone(t.Unique)
	for _, key := range t.order {
		named := parentHint.MatchString(parent) && strings.HasSuffix(parent, key) && parent != key
		if named && !slices.Contains(keys, key) && t.rows != 1 && len(t.rowsOf(key)) == t.rows {
			keys = append(keys, key)
		}
	}
	return keys
}

// isLink reports whether most parents are keys, and finds what marks the top.
func (s *shape) isLink() bool {
	t := s.of
	keys, tops := make(map[string]bool, t.rows), 0
	for i, c := range t.cells[s.Key] {
		keys[c.String] = true
		if s.isTop(i) {
			tops++
		}
	}
	if mark := s.topMark(keys); tops == 0 || mark == "0" {
		s.ParentTop = mark
	}
	below, known, self := 0, 0, 0
	for i, c := range t.cells[s.Parent] {
		switch {
		case s.isTop(i):
			continue
		case c == t.cells[s.Key][i]:
			self++
		case keys[c.String]:
			known++
		}
		below++
	}
	if s.self = tops == 0 && self > 0 && self < t.rows && parentHint.MatchString(s.Parent); s.self {
		below -= self
	}
	return below > 0 && enough(known, below) || below == 0 && parentHint.MatchString(s.Parent) && !t.namesAnother(s.Parent)
}

// ofThing matches a parent whose name says what it is, such as parent_menu_id; parent_id does not.
var ofThing = regexp.MustCompile(`^(?:parent|superior)_(\w+?)_?(?:u?u?id|key)$`)

// namesAnother reports whether a column is named for the rows of another table.
func (t *table) namesAnother(parent string) bool {
	word := ofThing.FindStringSubmatch(strings.ToLower(hump.ReplaceAllString(parent, "${1}_$2")))
	return word != nil && !strings.HasSuffix(typeName(t.name), goName(word[1])) &&
		slices.ContainsFunc(t.others, func(other string) bool { return typeName(other) == goName(word[1]) })
}

// plainMark matches a text that a tag can state.
var plainMark = regexp.MustCompile(`^[-\w#*]{1,16}$`)

// topMark returns what the parent column holds in rows at the top, where no row lacks a parent: -1,
// the text 0, which may stand beside NULL, or the only text in it that is no key; "" if nothing is.
func (s *shape) topMark(keys map[string]bool) (mark string) {
	unknown := make(map[string]bool)
	for _, c := range s.of.cells[s.Parent] {
		switch {
		case !c.Valid || keys[c.String]:
		case c.String == "-1", c.String == "0" && s.of.kind(s.Parent) == dialect.Text:
			return c.String
		default:
			unknown[c.String], mark = true, c.String
		}
	}
	if len(unknown) != 1 || s.of.kind(s.Parent) != dialect.Text || !plainMark.MatchString(mark) || !parentHint.MatchString(s.Parent) {
		return ""
	}
	return mark
}

// alike reports whether a column can hold the keys of another.
func alike(a, b dialect.ColumnKind) bool {
	return a == b && (a == dialect.Number || a == dialect.Text || a == dialect.UUID || a == dialect.Bytes)
}

// pathless returns the shapes with a parent and no path, by the names of the columns. Of an empty
// table, a column may have the name of a path.
func (t *table) pathless(links []shape) (found []shape, unsupported []Unsupported) {
	for _, s := range links {
		if !parentHint.MatchString(s.Parent) {
			continue
		}
		if v := s.judge(); v.below == 0 {
			s.guessed = true
			s.guess()
		}
		switch {
		case t.kind(s.Key) == dialect.Bytes:
			if s.IDPath, s.IDPathForm, s.Name = "", "", s.likelyName(); s.Name == "" {
				unsupported = append(unsupported, Unsupported{t.name, s.Key + " is bytes, which a path of ids cannot contain: a path of names needs a text column that distinguishes siblings: give it by --name"})
				continue
			}
			s.Path = s.add("path", nil, textType(t.dialect, pathLength), nil)
		case s.IDPath == "":
			s.IDPath = s.add("id_path", nil, textType(t.dialect, pathLength), nil)
		}
		s.agree, s.hints = s.judge().agree, s.hint()
		found = append(found, s)
	}
	return best(found), unsupported
}

// likelyName is the column that distinguishes nearly all siblings, and is named like one that does;
// "" if there is none.
func (s *shape) likelyName() string {
	for _, column := range s.of.labels() {
		if differ, rows := s.distinct(s.Parent, column); (nameHint.MatchString(column) || column == s.of.stated.Name) && (rows == 0 || nearlyAll(differ, rows)) {
			return column
		}
	}
	return ""
}

// guess names the path, and the depth, of a table in which no row has a parent, so that these have
// one value. A column that may have other paths, as menus have, comes last.
func (s *shape) guess() {
	for _, column := range s.of.order {
		value, one := s.of.value(column)
		switch kind := s.of.kind(column); {
		case column == s.Key, column == s.Parent, !one:
		case kind == dialect.Number && depthHint.MatchString(column):
			if s.Depth = column; value != "1" {
				s.DepthTop = value
			}
		case kind == dialect.Text && pathHint.MatchString(column):
			if s.IDPath == "" || strings.EqualFold(s.IDPath, "path") {
				s.IDPath = column
			}
		}
	}
	lead, _ := s.of.value(s.IDPath)
	paths := s.of.cells[s.IDPath] // one that is there, even if empty, has no step of its own row
	ofParent := strings.EqualFold(s.IDPath, "ancestors") || len(paths) > 0 && paths[0].Valid
	if s.of.rows == 0 && ofParent {
		lead = "0"
	}
	if ofParent {
		s.formless, s.IDPathForm = lead == "", "parent:"+strings.TrimPrefix(lead+",*,*", ",")
	}
}

// value returns the only value of a column, "" for none.
func (t *table) value(column string) (value string, one bool) {
	for _, c := range t.cells[column] {
		if value = c.String; c.String != t.cells[column][0].String {
			return "", false
		}
	}
	return value, true
}
