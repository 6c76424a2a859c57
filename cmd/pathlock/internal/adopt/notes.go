package adopt

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// notes say how the shape was found.
func (s *shape) notes() (notes []string) {
	if s.guessed {
		what := "no row has a parent yet"
		if s.of.rows == 0 {
			what = "the table is empty"
		}
		notes = append(notes, what+": only the names of its columns say so; check the tree, the forms of paths, and the depth at the top")
	}
	if s.formless {
		notes = append(notes, "no path shows what separates names: the form is a guess")
	}
	if s.owner != "" {
		notes = append(notes, fmt.Sprintf("each path begins with %s, and pathlock writes none that does: the repair takes it away, and code that needs it puts it in front", s.owner))
	}
	if path := cmp.Or(s.Path, s.IDPath); s.Tree+s.Deleted != "" && slices.Contains(s.of.unique, path) {
		notes = append(notes, fmt.Sprintf("%s is unique by itself: rows of two trees, or a deleted row and a live one, cannot share a path then; drop that index before the repair, and remove it from the model", path))
	}
	if s.pair != nil {
		note := fmt.Sprintf("the tree is %s: the hook BeforeCreate fills %s, a column made of both, in new rows", strings.Join(s.pair, " and "), s.Tree)
		if constraints[s.of.dialect] == "" {
			note += fmt.Sprintf("; when you create the table anew, give it CHECK ((%s) IS TRUE)", s.isPairSQL())
		}
		notes = append(notes, note)
		halves := 0
		for i := range s.of.rows {
			if s.isLive(i) && (!s.of.cells[s.pair[0]][i].Valid || !s.of.cells[s.pair[1]][i].Valid) {
				halves++
			}
		}
		if halves > 0 {
			notes = append(notes, fmt.Sprintf("%s NULL in %s, and so no tree, and no program starts with such rows: give them a value first, and make both columns NOT NULL", shown.Count(halves, "row has", "rows have"), strings.Join(s.pair, " or ")))
		}
	}
	for _, table := range s.nameless {
		notes = append(notes, fmt.Sprintf("the rows of %s have such paths, too. pathlock maintains them if the rows have a name: a text that distinguishes the rows of one parent, such as a UUID", table))
	}
	if s.Deleted != "" && !s.isTagged() && s.of.kind(s.Deleted) == dialect.Number {
		notes = append(notes, fmt.Sprintf("the field of %s needs the tag pathlock:\"deleted\", unless it is a soft_delete.DeletedAt", s.Deleted))
	}
	sample := s.sample()
	notes = append(notes, sample.possibleMarks()...)
	if !s.guessed {
		notes = append(notes, sample.others()...)
	}
	if s.Tree != "" && s.pair == nil && s.of.tree == "" && len(s.of.unique) > 0 {
		for _, second := range sample.of.trees(pairHint) {
			if !s.Has(second) && sample.isKept(second) {
				notes = append(notes, fmt.Sprintf("the trees of %s and %s together fit, too: if your code means these, give --tree-column %s,%s to this command", s.Tree, second, s.Tree, second))
			}
		}
	}
	if s.SingleTree != "" {
		for _, column := range sample.of.trees(nil) {
			if sample.of.isConstant(column) && !s.Has(column) {
				notes = append(notes, fmt.Sprintf("%[1]s is the same in all rows: if it says in which tree a row is, give --tree-column %[1]s to this command", column))
			}
		}
	}
	if sample.of.more {
		notes = append(notes, fmt.Sprintf("a sample: the %s with the smallest keys say what the columns are, and %d are compared", shown.Count(sample.of.rows, "row", "rows"), s.of.rows))
	}
	return notes
}

// distinct counts the live rows whose values in some columns no earlier row has together. The
// column "" is none, and the parents of all rows at the top are one.
func (s *shape) distinct(columns ...string) (differ, rows int) {
	seen := make(map[string]bool)
	for i := range s.of.rows {
		if !s.isLive(i) {
			continue
		}
		at := ""
		for _, column := range columns {
			if column != "" && (column != s.Parent || !s.isTop(i)) {
				at += s.of.cells[column][i].String
			}
			at += "\x00"
		}
		if rows++; !seen[at] {
			differ++
		}
		seen[at] = true
	}
	return differ, rows
}

// keyHint are names of columns whose values may stand in URLs.
var keyHint = regexp.MustCompile(`(?i)(^|_)(alias|slug|u?uid|guid|handle|permalink)$`)

// others say which columns could be names, if no column is one yet, and which could stand in URLs.
func (s *shape) others() (notes []string) {
	var apart []string
	for _, column := range s.of.order {
		if kind := s.of.kind(column); kind != dialect.Text && kind != dialect.UUID || s.of.cells[column] == nil || s.Has(column) {
			continue
		}
		if differ, rows := s.distinct(s.Tree, s.Parent, column); nearlyAll(differ, rows) && (nameHint.MatchString(column) || strings.HasSuffix(strings.ToLower(column), "code")) && s.Name == "" {
			apart = append(apart, fmt.Sprintf("%s is different in %d of %d", column, differ, rows))
		}
		switch differ, rows := s.distinct(column); {
		case slices.Contains(s.of.unique, column):
		case column == s.of.stated.Alias && differ < rows:
			notes = append(notes, fmt.Sprintf("%s no value of their own in %s: give them one before you create its unique index", shown.Count(rows-differ, "row has", "rows have"), column))
		case s.of.stated.Alias == "" && keyHint.MatchString(column) && nearlyAll(differ, rows):
			notes = append(notes, fmt.Sprintf("if URLs name rows by %[1]s: ResolverBy needs a unique index; %[2]d rows have no value of their own: give --alias %[1]s to this command", column, rows-differ))
		}
	}
	if apart != nil {
		notes = append(notes, "no column is tagged name, so that siblings may share one: "+strings.Join(apart, ", ")+": to keep that so, give --name to this command")
	}
	return notes
}
