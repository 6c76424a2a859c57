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

// remarks are lines for people.
type remarks []string

// say adds a line if there is a reason to.
func (r *remarks) say(reason bool, format string, args ...any) {
	if reason {
		*r = append(*r, fmt.Sprintf(format, args...))
	}
}

// notes say how the shape was found.
func (s *shape) notes() (notes remarks) {
	what, path, sample := "no row has a parent yet", cmp.Or(s.Path, s.IDPath), s.sample()
	if s.of.rows == 0 {
		what = "the table is empty"
	}
	notes.say(s.guessed, "%s: only the names of its columns say so; check the tree, the forms of paths, and the depth at the top", what)
	notes.say(s.formless, "no path shows what separates names: the form is a guess")
	notes.say(s.owner != "", "each path begins with %s, and pathlock writes none that does: the repair takes it away, and code that needs it puts it in front", s.owner)
	notes.say(s.Tree+s.Deleted != "" && slices.Contains(s.of.Unique, path),
		"%s is unique by itself: rows of two trees, or a deleted row and a live one, cannot share a path then; drop that index before the repair, and remove it from the model", path)
	if s.pair != nil {
		check := ""
		if constraints[s.of.dialect] == "" {
			check = fmt.Sprintf("; when you create the table anew, give it CHECK ((%s) IS TRUE)", s.isPairSQL())
		}
		halves := s.count(func(i int) bool { return !s.of.cells[s.pair[0]][i].Valid || !s.of.cells[s.pair[1]][i].Valid })
		notes.say(true, "the tree is %s: the hook BeforeCreate fills %s, a column made of both, in new rows%s", strings.Join(s.pair, " and "), s.Tree, check)
		notes.say(halves > 0, "%s NULL in %s, and so no tree, and no program starts with such rows: give them a value first, and make both columns NOT NULL",
			shown.Count(halves, "row has", "rows have"), strings.Join(s.pair, " or "))
	}
	for _, table := range s.nameless {
		notes.say(true, "the rows of %s have such paths, too. pathlock maintains them if the rows have a name: a text that distinguishes the rows of one parent, such as a UUID", table)
	}
	notes.say(s.Deleted != "" && !s.isTagged() && s.of.kind(s.Deleted) == dialect.Number,
		"the field of %s needs the tag pathlock:\"deleted\", unless it is a soft_delete.DeletedAt", s.Deleted)
	notes = append(notes, sample.possibleMarks()...)
	if !s.guessed {
		notes = append(notes, sample.others()...)
	}
	if s.Tree != "" && s.pair == nil && s.of.tree == "" && s.of.key != "" {
		for _, second := range sample.of.trees(pairHint) {
			notes.say(!s.Has(second) && sample.isKept(second), "the trees of %s and %s together fit, too: if your code means these, give --tree-column %[1]s,%[2]s to this command", s.Tree, second)
		}
	}
	if s.SingleTree != "" {
		for _, column := range sample.of.trees(nil) {
			notes.say(sample.of.isConstant(column) && !s.Has(column), "%[1]s is the same in all rows: if it says in which tree a row is, give --tree-column %[1]s to this command", column)
		}
	}
	notes.say(sample.of.more, "a sample: the %s with the smallest keys say what the columns are, and %d are compared", shown.Count(sample.of.rows, "row", "rows"), s.of.rows)
	return notes
}

// distinct counts the live rows whose values in some columns no earlier row has together. The
// column "" is none, and the parents of all rows at the top are one.
func (s *shape) distinct(columns ...string) (differ, rows int) {
	seen := make(map[string]bool)
	for i := range s.live() {
		at := ""
		for _, column := range columns {
			if column != "" && (column != s.Parent || !s.isTop(i)) {
				at += s.of.cells[column][i].String
			}
			at += "\x00"
		}
		rows++
		seen[at] = true
	}
	return len(seen), rows
}

// keyHint are names of columns whose values may stand in URLs.
var keyHint = regexp.MustCompile(`(?i)(^|_)(alias|slug|u?uid|guid|handle|permalink)$`)

// others say which columns could be names, if no column is one yet, and which could stand in URLs.
func (s *shape) others() (notes remarks) {
	var apart remarks
	for _, column := range s.of.order {
		if kind := s.of.kind(column); kind != dialect.Text && kind != dialect.UUID || s.of.cells[column] == nil || s.Has(column) {
			continue
		}
		differ, rows := s.distinct(s.Tree, s.Parent, column)
		apart.say(s.Name == "" && nearlyAll(differ, rows) && (nameHint.MatchString(column) || strings.HasSuffix(strings.ToLower(column), "code")), "%s is different in %d of %d", column, differ, rows)
		if slices.Contains(s.of.Unique, column) {
			continue
		}
		differ, rows = s.distinct(column)
		notes.say(column == s.of.stated.Alias && differ < rows,
			"%s no value of their own in %s: give them one before you create its unique index", shown.Count(rows-differ, "row has", "rows have"), column)
		notes.say(s.of.stated.Alias == "" && keyHint.MatchString(column) && nearlyAll(differ, rows),
			"if URLs name rows by %[1]s: ResolverBy needs a unique index; %[2]d rows have no value of their own: give --alias %[1]s to this command", column, rows-differ)
	}
	notes.say(apart != nil, "no column is tagged name, so that siblings may share one: %s: to keep that so, give --name to this command", strings.Join(apart, ", "))
	return notes
}
