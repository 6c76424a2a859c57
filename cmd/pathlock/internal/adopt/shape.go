package adopt

import (
	"cmp"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// shape is one way to read a table as trees.
type shape struct {
	treetable.Table
	of *table
	// added are the columns that the table lacks, whose values in of are computed.
	added []treeschema.Column
	// filled are those that it has, and whose values are computed, too.
	filled []string
	// pair are the columns that an added one for the trees' ids is made of.
	pair []string
	// short are the columns without a length that get one, for an index.
	short []treeschema.Column
	// agree and hints rank shapes: by the rows that fit, then by the names of the columns.
	agree, hints int
	// guessed is set if only names say it, as no row has a parent.
	guessed bool
	// formless is set if no path shows what separates names.
	formless bool
	// owner is a column whose value stands before each path, which those in of lack.
	owner string
	// below has the tables of the leaves, and nameless are others that would be some.
	below    map[string]*table
	nameless []string
	// noMark says why a column that is named like a deletion mark is none, or may be none.
	noMark string
	// self is set if a row at the top is its own parent.
	self bool
	// seen is the shape as the sample of a large table had it, with all columns.
	seen *shape
}

// sample returns the shape with a table of which all columns were read.
func (s *shape) sample() *shape { return cmp.Or(s.seen, s) }

// Names of columns that hint at what they hold.
var (
	parentHint = regexp.MustCompile(`(?i)parent|reply_?to(_?id)?$|^p_?id$|^pid|father|superior|^up_?id|_pid$`)
	pathHint   = regexp.MustCompile(`(?i)paths?(_?ids?)?$|ancestors|lineage|parent_?ids`)
	nameHint   = regexp.MustCompile(`(?i)name$|^title|label|segment|slug`)
)

// hint is how much the names of columns speak for a shape.
func (s *shape) hint() (n int) {
	for _, is := range []bool{
		parentHint.MatchString(s.Parent), pathHint.MatchString(s.Path), pathHint.MatchString(s.IDPath), nameHint.MatchString(s.Name),
		strings.EqualFold(s.Name, "name"), s.Key == s.of.key,
	} {
		if is {
			n++
		}
	}
	return n
}

// isTop reports whether a row is at the top.
func (s *shape) isTop(i int) bool {
	parent := s.of.cells[s.Parent][i]
	return !parent.Valid || treetable.IsNoParent(parent.String) ||
		s.ParentTop != "" && parent.String == s.ParentTop || s.self && parent == s.of.cells[s.Key][i] ||
		strings.Trim(parent.String, "0") == "" && slices.Contains([]dialect.ColumnKind{dialect.Number, dialect.Bytes}, s.of.kind(s.Parent))
}

// isLive reports whether a row is not marked as deleted.
func (s *shape) isLive(i int) bool {
	if s.Deleted == "" {
		return true
	}
	mark := s.of.cells[s.Deleted][i]
	if s.DeletedWhen != "" {
		return mark.String != s.DeletedWhen
	}
	return !mark.Valid || slices.Contains([]string{"", "0", "false"}, mark.String)
}

// live yields the live rows.
func (s *shape) live() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range s.of.rows {
			if s.isLive(i) && !yield(i) {
				return
			}
		}
	}
}

// count counts the live rows of which something is true.
func (s *shape) count(is func(i int) bool) (n int) {
	for i := range s.live() {
		if is(i) {
			n++
		}
	}
	return n
}

// verdict says which rows have a shape.
type verdict struct {
	places
	rows, agree int
	// below are the rows that are not at the top, of which deep agree.
	below, deep int
	// parted is set if a path that agrees shows what separates its names.
	parted   bool
	disagree []Disagree
}

// mostExamples is how many rows that do not agree are shown.
const mostExamples = 3

// pathColumn is a column of paths, in a form, with the paths that its rows should have.
type pathColumn struct {
	name string
	form treetable.Form
	want []string
}

// pathColumns are those that the shape has, that of names first.
func (s *shape) pathColumns(p places) (columns []pathColumn) {
	names, _ := treetable.ParseForm(s.PathForm)
	keys, _ := treetable.ParseForm(s.IDPathForm)
	return slices.DeleteFunc([]pathColumn{{s.Path, names, p.names}, {s.IDPath, keys, p.keys}}, func(c pathColumn) bool { return c.name == "" })
}

// judge compares each live row with what its parent says.
func (s *shape) judge() verdict {
	p := s.places()
	v := verdict{places: p, disagree: []Disagree{}}
	columns, paths := s.pathColumns(p), make(map[spot]int)
	for i, path := range p.names {
		if s.isLive(i) && p.wrong[i] == "" && (s.isAdded(s.Parent) || s.Tree+s.SingleTree != "") {
			paths[s.spot(i, path)]++
		}
	}
	for i := range s.live() {
		if p.unseen[i] {
			continue
		}
		v.rows++
		why, parted := p.wrong[i], false
		if n := paths[s.spot(i, p.names[i])]; why == "" && s.Path != "" && n > 1 {
			why = fmt.Sprintf("%d rows have the path %q", n, columns[0].form.Print(p.names[i]))
		}
		if !s.isTop(i) {
			v.below++
		}
		for _, c := range columns {
			is, want := s.of.cells[c.name][i], c.form.Column(c.want[i])
			parted = parted || strings.Contains(is.String, c.form.Separator)
			if why == "" && !s.isAdded(c.name) && (!is.Valid || is.String != want) {
				why = fmt.Sprintf("%s is %s, should be %q", c.name, shownCell(is), want)
			}
		}
		switch {
		case why == "":
			v.agree++
			if p.depth[i] > 1 {
				v.deep++
			}
			v.parted = v.parted || parted
		case len(v.disagree) < mostExamples:
			v.disagree = append(v.disagree, Disagree{s.of.cells[s.Key][i].String, why})
		}
	}
	return v
}

// shownCell is a value for people.
func shownCell(c cell) string {
	if !c.Valid {
		return "NULL"
	}
	return fmt.Sprintf("%q", c.String)
}

// places says where the rows belong, by their parents.
type places struct {
	// names and keys are the paths, as package pathlock has them; wrong says why a row has none.
	names, keys, wrong []string
	depth              []int
	// unseen rows are below ones that were not read.
	unseen []bool
	// twins are siblings with one name, and unfit rows whose name no path can have.
	twins, unfit, orphans int
}

// places follows the parents from each row to the top.
func (s *shape) places() places {
	n := s.of.rows
	p := places{make([]string, n), make([]string, n), make([]string, n), make([]int, n), make([]bool, n), 0, 0, 0}
	if s.Name != "" {
		differ, rows := s.distinct(s.Tree, s.Parent, s.Name)
		p.twins = rows - differ
	}
	rowOf := s.liveRows()
	form, _ := treetable.ParseForm(s.PathForm)
	state := make([]int8, n) // 1: being placed, 2: placed
	var place func(i int)
	put := func(i int) (wrong string) {
		parent, name, isTop := s.of.cells[s.Parent][i], cell{}, s.isTop(i)
		if s.Name != "" {
			name = s.of.cells[s.Name][i]
		}
		if !isTop {
			up, ok := rowOf[parent.String]
			if ok {
				place(up)
			}
			switch {
			case !ok && s.of.more:
				p.unseen[i] = true
				return ""
			case !ok && s.isAdded(s.Parent):
				p.orphans++
				return "no row has the path above it, or several have"
			case !ok:
				p.orphans++
				return "its parent " + parent.String + " is missing or deleted"
			case state[up] == 1:
				return "it is its own ancestor"
			case p.wrong[up] != "", p.unseen[up]:
				p.unseen[i] = p.unseen[up]
				return "a row above has no place: " + parent.String
			case p.depth[up] == pathlock.MaxDepth:
				return fmt.Sprintf("it is deeper than %d names", pathlock.MaxDepth)
			}
			p.names[i], p.keys[i], p.depth[i] = p.names[up], p.keys[up], p.depth[up]
		}
		p.depth[i]++
		p.keys[i] += "/" + s.of.cells[s.Key][i].String
		if s.Path == "" || isTop && name.Valid && name.String == "" {
			return "" // the root row
		}
		if _, err := pathlock.Root().Child(name.String); err != nil || form.Check(name.String) != nil {
			p.unfit++
			return "no path can have the name " + shownCell(name)
		}
		p.names[i] += "/" + name.String
		return ""
	}
	place = func(i int) {
		if state[i] == 0 {
			state[i] = 1
			p.wrong[i] = put(i)
			state[i] = 2
		}
	}
	for i := range s.live() {
		place(i)
	}
	return p
}

// liveRows has the live rows by their keys.
func (s *shape) liveRows() map[string]int {
	rows := make(map[string]int, s.of.rows)
	for i := range s.live() {
		rows[s.of.cells[s.Key][i].String] = i
	}
	return rows
}
