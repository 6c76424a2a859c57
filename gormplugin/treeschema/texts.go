package treeschema

import (
	"fmt"
	"slices"
)

// longestIndexed is the longest path, in characters, that an InnoDB index holds whole beside a tree
// id of eight bytes.
const longestIndexed = 766

// checkCompressed looks for compressed keys, which no index can hold.
func (c *checker) checkCompressed() {
	for _, name := range []string{c.table.Tree, c.table.Parent} {
		if col := c.physical.columns[name]; col.compressed {
			c.found(c.retyped(Finding{Severity: Unsafe, Check: Collation, Missing: "the column " + name + " is compressed", Why: "no index can hold it"}, col, 0))
		}
	}
}

// checkTexts checks how names and paths are compared, and how long they may be.
func (c *checker) checkTexts() {
	for _, text := range c.table.texts() {
		if c.physical.columns[text.Column].generated != "" {
			continue // the plugin cannot write it, whatever its type
		}
		c.checkCollation(text)
		c.checkLength(text)
	}
	if tree, ok := c.physical.columns[c.table.Tree]; ok && tree.collation != "" && tree.asKey < ordered {
		c.found(c.retyped(Finding{
			Severity: Unsafe, Check: Collation, Missing: fmt.Sprintf("the column %s has the collation %s", tree.name, tree.collation),
			Why: "two trees whose ids it treats as equal are changed together, but locked apart",
		}, tree, 0))
	}
	for _, name := range append(slices.Clone(c.table.Key), c.table.Parent) {
		c.checkKey(c.physical.columns[name])
	}
}

// checkKey checks that different keys compare as different.
func (c *checker) checkKey(col column) {
	if col.collation == "" || col.asKey >= ordered {
		return
	}
	f := Finding{
		Severity: Warning, Check: Collation, Missing: fmt.Sprintf("the column %s has the collation %s", col.name, col.collation),
		Why: "the database finds a row by other spellings of its key, which the plugin refuses", Advice: c.keeps(c.table, c.physical, col, 0),
	}
	if f.Advice == "" {
		// Columns of other tables that queries compare with it should change together with it.
		f.Statements = c.asked(func() []string { return c.retype(c.table, c.physical, col, 0) })
	}
	c.found(f)
}

// retyped adds the statement that gives a column a size and a binary collation.
func (c *checker) retyped(f Finding, col column, size int) Finding {
	if advice := c.keeps(c.table, c.physical, col, size); advice != "" {
		f.Advice = advice
		return f
	}
	// A migration must not drop foreign keys unasked, even for a moment.
	f.automatic = len(c.physical.linked[col.name]) == 0
	if f.automatic || !c.automatic {
		f.Statements = c.retype(c.table, c.physical, col, size)
		c.mended = append(c.mended, col.name)
	}
	return f
}

// checkCollation checks that different texts compare as different, and paths in the order of bytes.
func (c *checker) checkCollation(text Text) {
	col := c.physical.columns[text.Column]
	severity, why, ok := c.compares(col, text == c.table.Name)
	if ok {
		return
	}
	missing := fmt.Sprintf("the column %s has the collation %s", col.name, col.collation)
	if col.compressed {
		missing = "the column " + col.name + " is compressed"
	} else if col.collation == "" {
		missing = fmt.Sprintf("the column %s has the type %s", col.name, col.typ)
	}
	c.found(c.retyped(Finding{Severity: severity, Check: Collation, Missing: missing, Why: why}, col, 0))
}

// checkLength checks that a column has room for what the model allows, and a path column for the
// name of a row.
func (c *checker) checkLength(text Text) {
	col, name := c.physical.columns[text.Column], c.physical.columns[c.table.Name.Column]
	if col.length == 0 {
		return
	}
	if col.length < text.Size {
		c.found(c.retyped(Finding{
			Severity: Warning, Check: Length, Missing: fmt.Sprintf("the column %s has room for %d characters, the model says %d", col.name, col.length, text.Size),
			Why: "the plugin accepts what the database refuses",
		}, col, text.Size))
		return
	}
	if text != c.table.Name && !text.OfIDs && name.length > 0 && col.length <= name.length {
		longest := longestIndexed
		if len(c.table.Marks) > 0 {
			longest-- // the index also holds the mark
		}
		c.found(c.retyped(Finding{
			Severity: Warning, Check: Length, Missing: fmt.Sprintf("the column %s has room for %d characters, a name for %d", col.name, col.length, name.length),
			Why: "not even the path of a row at the top fits", Advice: fmt.Sprintf("set the size of the model's field, too: gorm:\"size:%d\"", max(longest, name.length+1)),
		}, col, max(longest, name.length+1)))
	}
}
