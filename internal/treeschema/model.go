package treeschema

import (
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/treetable"
)

// Model is a table of trees, or of leaves, with what its model says besides.
type Model struct {
	treetable.Table
	// Above is the table of the trees of leaves.
	Above treetable.Table
	// Marks are the columns that mark a row as deleted, if rows are deleted softly.
	Marks []Mark
	// Sizes are the numbers of characters that the model allows in columns of texts, without those
	// that it does not limit.
	Sizes map[string]int
	// TextKeys are those of the tree's id, the parent and the primary key that are texts.
	TextKeys []string
	// Lookups are the columns of the unique indexes by which requests find rows.
	Lookups [][]string
	// Others are the model's other columns.
	Others []string
	// Planned are columns that the table will have before the statements of the findings are run.
	Planned []Column
}

// Mark is a column that marks a row as deleted.
type Mark struct {
	Column string
	// Live is the column's value in a live row, as SQL: NULL, or a literal such as 0. When, if it
	// is given, is the one in deleted rows instead, a literal other than NULL.
	Live, When string
	// OrNull is set if NULL, besides Live, is in live rows; of texts, both '' and '0' are.
	OrNull bool
}

// isText reports whether live rows have one of two texts.
func (m Mark) isText() bool { return m.When == "" && m.OrNull && strings.HasPrefix(m.Live, "'") }

// Condition is the condition that a column, given as SQL, means a live row.
func (m Mark) Condition(column string) string {
	switch {
	case m.When != "":
		return "(" + column + " IS NULL OR " + column + " <> " + m.When + ")"
	case m.Live == "NULL":
		return column + " IS NULL"
	case m.isText():
		return "(" + column + " IS NULL OR " + column + " = '' OR " + column + " = '0')"
	case m.OrNull:
		return "(" + column + " IS NULL OR " + column + " = " + m.Live + ")"
	default:
		return column + " = " + m.Live
	}
}

// name is the table's name.
func (m Model) name() string { return m.Table.Table }

// isLeaf reports whether it is a table of leaves.
func (m Model) isLeaf() bool { return m.Tree == "" && m.SingleTree == "" }

// paths are the columns with materialised paths, which leaves may lack. Subtrees are ranges of the
// first one.
func (m Model) paths() []string { return nonEmpty(m.Path, m.IDPath) }

// texts are the columns that must compare byte by byte.
func (m Model) texts() []string { return append(nonEmpty(m.Name), m.paths()...) }

// Columns are all the columns of the model.
func (m Model) Columns() []string {
	columns := append(nonEmpty(m.Key), m.shaping()...)
	for _, mark := range m.Marks {
		columns = append(columns, mark.Column)
	}
	return append(columns, m.Others...)
}

// shaping are the columns that a row's place follows from, or that say it.
func (m Model) shaping() []string { return append(nonEmpty(m.Tree, m.Parent), m.texts()...) }

// inTree are the columns of an index over the tree's id and others.
func (m Model) inTree(columns ...string) []string {
	return nonEmpty(append([]string{m.Tree}, columns...)...)
}

// siblings are the columns of a unique index over the names of siblings.
func (m Model) siblings() []string { return nonEmpty(m.Parent, m.Name, m.Tree) }

// nonEmpty returns the columns that a table has: those with a name.
func nonEmpty(columns ...string) []string {
	return slices.DeleteFunc(columns, func(name string) bool { return name == "" })
}

// live is the condition that a row is live, behind a keyword such as WHERE or AND; "" if rows are
// deleted for good.
func (m Model) live(keyword string, quote func(string) string) string {
	condition := ""
	for _, mark := range m.Marks {
		condition += keyword + mark.Condition(quote(mark.Column))
		keyword = " AND "
	}
	return condition
}
