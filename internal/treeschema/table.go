package treeschema

import (
	"slices"
	"strings"
)

// Table says which columns of a table form a tree.
type Table struct {
	// Table is the table's name: "suites" or "schema.suites".
	Table string
	// Key is the primary key.
	Key []string
	// Tree is the tree's id, "" for a table of leaves, and for one whose rows are in one tree.
	Tree string
	// IsLeaf is set for a table of leaves.
	IsLeaf bool
	// Parent is the parent's key.
	Parent string
	// Name is the row's name among its siblings, without a column where rows have no names.
	Name Text
	// Paths are the columns with materialised paths, which leaves may lack. Subtrees are ranges of
	// the first one.
	Paths []Text
	// Marks are the columns that mark a row as deleted, if rows are deleted softly.
	Marks []Mark
	// Keys are the tree's id, the parent and the primary key, as far as they are texts.
	Keys []Text
	// Others are the model's other columns.
	Others []string
}

// Text is a text column.
type Text struct {
	Column string
	// Size is the number of characters that the model allows, 0 for no limit.
	Size int
	// OfIDs is set for a path of ids, which differs for each row.
	OfIDs bool
}

// Mark is a column that marks a row as deleted.
type Mark struct {
	Column string
	// Live is the column's value in a live row, as SQL: NULL, or a literal such as 0. When, if it
	// is given, is the one in deleted rows instead, a literal other than NULL.
	Live, When string
	// OrNull is set where NULL, besides Live, is in live rows; of texts, both '' and '0' are.
	OrNull bool
}

// isText reports whether live rows have one of two texts.
func (m Mark) isText() bool { return m.When == "" && m.OrNull && strings.HasPrefix(m.Live, "'") }

// condition is the condition that a column means a live row.
func (m Mark) condition(column string) string {
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

// texts are the columns that must compare byte by byte.
func (t Table) texts() []Text {
	if t.Name.Column == "" {
		return t.Paths
	}
	return append([]Text{t.Name}, t.Paths...)
}

// Columns are all the columns of the model.
func (t Table) Columns() []string {
	return slices.Concat(t.Key, t.shaping(), t.markColumns(), t.Others)
}

// shaping are the columns that a row's place follows from, or that say it: the tree, the parent,
// the name and the paths.
func (t Table) shaping() []string {
	var columns []string
	if t.Tree != "" {
		columns = append(columns, t.Tree)
	}
	columns = append(columns, t.Parent)
	for _, text := range t.texts() {
		columns = append(columns, text.Column)
	}
	return columns
}

// markColumns are the columns that mark a row as deleted.
func (t Table) markColumns() []string {
	columns := make([]string, len(t.Marks))
	for i, mark := range t.Marks {
		columns[i] = mark.Column
	}
	return columns
}

// inTree are the columns of an index over the tree's id and another column.
func (t Table) inTree(column string) []string {
	if t.Tree == "" {
		return []string{column}
	}
	return []string{t.Tree, column}
}

// siblings are the columns of a unique index over the names of siblings.
func (t Table) siblings() []string {
	columns := []string{t.Parent, t.Name.Column}
	if t.Tree != "" {
		columns = append(columns, t.Tree)
	}
	return columns
}

// live is the condition that a row is live, behind a keyword such as WHERE or AND; "" if rows are
// deleted for good.
func (t Table) live(keyword string, quote func(string) string) string {
	condition := ""
	for _, mark := range t.Marks {
		condition += keyword + mark.condition(quote(mark.Column))
		keyword = " AND "
	}
	return condition
}
