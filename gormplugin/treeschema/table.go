package treeschema

// Table says which columns of a table form a tree.
type Table struct {
	// Table is the table's name: "suites" or "schema.suites".
	Table string
	// Key is the primary key.
	Key []string
	// Tree is the tree's id, "" for a table of leaves.
	Tree string
	// Parent is the parent's key.
	Parent string
	// Name is the row's name among its siblings.
	Name Text
	// Paths are the columns with materialised paths; none for a table of leaves. Subtrees are
	// ranges of the first one.
	Paths []Text
	// Marks are the columns that mark a row as deleted, if rows are deleted softly.
	Marks []Mark
	// Keys are the tree's id, the parent and the primary key, where they are texts.
	Keys []Text
	// Others are further columns that the model has.
	Others []string
}

// Text is a text column and the number of characters that the model gives it, 0 for no limit.
type Text struct {
	Column string
	Size   int
	// OfIDs is set for a path of ids, which is another one for each row.
	OfIDs bool
}

// Mark is a column that marks a row as deleted.
type Mark struct {
	Column string
	// Live is the column's value in a live row, as SQL: NULL, or a literal such as 0.
	Live string
	// Flag is set where all deleted rows have the same value.
	Flag bool
}

// texts are the columns that have to be compared byte by byte.
func (t Table) texts() []Text { return append([]Text{t.Name}, t.Paths...) }

// Columns are all the columns that the model has.
func (t Table) Columns() []string {
	columns := append([]string(nil), t.Key...)
	if t.Tree != "" {
		columns = append(columns, t.Tree)
	}
	columns = append(columns, t.Parent)
	for _, text := range t.texts() {
		columns = append(columns, text.Column)
	}
	for _, mark := range t.Marks {
		columns = append(columns, mark.Column)
	}
	return append(columns, t.Others...)
}

// siblings are the columns that a sibling's key is made of.
func (t Table) siblings() []string {
	columns := []string{t.Parent, t.Name.Column}
	if t.Tree != "" {
		columns = append(columns, t.Tree)
	}
	return columns
}

// live is the condition, with quoted columns, that a row is live; "" where rows are deleted for
// good.
func (t Table) live(quote func(string) string) string {
	condition := ""
	for _, mark := range t.Marks {
		if condition != "" {
			condition += " AND "
		}
		if mark.Live == "NULL" {
			condition += quote(mark.Column) + " IS NULL"
		} else {
			condition += quote(mark.Column) + " = " + mark.Live
		}
	}
	return condition
}

// columnsOfTexts are the names of the text columns.
func (t Table) columnsOfTexts() []string {
	var columns []string
	for _, text := range t.texts() {
		columns = append(columns, text.Column)
	}
	return columns
}
