package treeschema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

const (
	// mysqlIndexBytes is the longest key of an InnoDB index, and mysqlCharacter how many bytes it
	// reserves for a character of utf8mb4.
	// See https://dev.mysql.com/doc/refman/8.4/en/innodb-limits.html.
	mysqlIndexBytes = 3072
	mysqlCharacter  = 4
)

// indexed adds the statements that make a unique index, or words if none can.
func (c *checker) indexed(f Finding, statements func() ([]string, string)) Finding {
	f.Statements, f.Advice = statements()
	return f
}

// refuses says why there can be no unique index over some columns, "" if there can.
func (c *checker) refuses(columns []string) string {
	var bytes int64
	for _, name := range columns {
		bytes += c.columns[name].Bytes
		if c.isMySQL() && isLong(c.columns[name]) {
			return "give the column " + name + " a size first, such as VARCHAR(191), or VARCHAR(255) for a name: an index holds no more of it"
		}
	}
	if c.isMySQL() && bytes > mysqlIndexBytes {
		return "make the columns " + strings.Join(columns, ", ") + " shorter: together they need more than an index holds"
	}
	for name := range c.columns {
		if mentions(c.PartitionedBy, name) && !slices.Contains(columns, name) {
			return "make it one table without partitions: its unique indexes must contain what it is partitioned by (" + c.PartitionedBy + ")"
		}
	}
	return ""
}

// isLong reports whether a type has no size that fits into an index.
func isLong(c Column) bool {
	return strings.HasSuffix(c.Type, "text") || strings.HasSuffix(c.Type, "blob")
}

// siblingIndex makes a unique index for rows with a parent.
func (c *checker) siblingIndex() ([]string, string) {
	columns := c.table.siblings()
	// A parent is in one tree only, and the tree may not fit.
	if c.isMySQL() && c.refuses(columns) != "" && (c.table.Tree == "" || !mentions(c.PartitionedBy, c.table.Tree)) {
		columns = []string{c.table.Parent, c.table.Name.Column}
	}
	if words := c.refuses(columns); words != "" {
		return nil, words
	}
	if !c.isMySQL() {
		return []string{c.create("UNIQUE ", "sibling", c.parts(columns), c.table.live(" WHERE ", c.dialect.QuotePart))}, ""
	}
	mark, statements := c.mark()
	return append(statements, c.create("UNIQUE ", "sibling", append(c.parts(columns), mark...), "")), ""
}

// topIndex makes a unique index for rows without a parent. MySQL and MariaDB have no index over
// some rows, but one over a generated column that is NULL for the others.
func (c *checker) topIndex() ([]string, string) {
	tree, columns := c.table.Tree, c.table.inTree(c.table.Name.Column)
	if words := c.refuses(columns); words != "" {
		return nil, words
	}
	condition := c.noParent(c.columns[c.table.Parent]) + c.table.live(" AND ", c.dialect.QuotePart)
	if !c.isMySQL() {
		return []string{c.create("UNIQUE ", "top", c.parts(columns), " WHERE "+condition)}, ""
	}
	var statements []string
	column := c.generated(rows{top: true, live: len(c.table.Marks) > 0}, tree)
	if column == "" {
		column = c.free("top")
		typ, value := "TINYINT", "1"
		if tree != "" {
			typ, value = c.columns[tree].Type, c.dialect.QuotePart(tree)
		}
		if strings.HasPrefix(typ, "char(") {
			// The sql_mode decides how a CHAR is padded. So MariaDB has no index over the column as
			// it is.
			typ, value = "var"+typ, "RTRIM("+value+")"
		}
		if of := c.columns[tree]; of.Collation != "" {
			typ += " CHARACTER SET " + of.Charset + " COLLATE " + of.Collation
		}
		statements = []string{fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s AS (IF(%s, %s, NULL)) VIRTUAL", c.dialect.Quote(c.table.Table), c.dialect.QuotePart(column), typ, condition, value)}
	}
	key := c.parts([]string{column, c.table.Name.Column})
	if tree != "" && mentions(c.PartitionedBy, tree) {
		key = append(key, c.dialect.QuotePart(tree))
	}
	return append(statements, c.create("UNIQUE ", "top", key, "")), ""
}

// pathIndex makes an index over tree and path, or over as much of the path as an index holds.
func (c *checker) pathIndex(path Text) ([]string, string) {
	columns := c.table.inTree(path.Column)
	key := c.parts(columns)
	if c.isMySQL() {
		col, tree := c.columns[path.Column], c.columns[c.table.Tree]
		if c.table.Tree != "" && isLong(tree) {
			return nil, c.refuses(columns)
		}
		if most := (mysqlIndexBytes - tree.Bytes) / mysqlCharacter; isLong(col) || col.Length > most {
			key[len(key)-1] += fmt.Sprintf("(%d)", most)
		}
	}
	return []string{c.create("", path.Column, key, "")}, ""
}

// mark returns the generated column that is NULL for deleted rows, and the statement that makes it
// if it is missing. The key needs another statement: MySQL adds a virtual column, or a key, while
// others write, but not both at once.
func (c *checker) mark() (key, statements []string) {
	live := c.table.live("", c.dialect.QuotePart)
	if live == "" {
		return nil, nil
	}
	name := c.generated(rows{live: true}, "")
	if name == "" {
		name = c.free("live")
		definition := fmt.Sprintf("IF(%s, 1, NULL)", live)
		statements = []string{fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s TINYINT AS (%s) VIRTUAL", c.dialect.Quote(c.table.Table), c.dialect.QuotePart(name), definition)}
		c.columns[name] = Column{Name: name, Expression: definition, Bytes: 1}
	}
	return []string{c.dialect.QuotePart(name)}, statements
}

// generated returns the generated column that has a value for some rows, and is NULL for all
// others: a column's value, or a constant if that is "".
func (c *checker) generated(of rows, value string) string {
	for name, col := range c.columns {
		var r rows
		condition, is, ok := guarded(col.Expression)
		if ok && c.restrict(&r, condition) && r == of && !c.mentionsOther(is, value) && (value == "" || mentions(is, value)) {
			return name
		}
	}
	return ""
}

// parts quotes the columns of an index's key. Where the column's order may be another, the index
// has that of bytes.
func (c *checker) parts(columns []string) []string {
	key := make([]string, len(columns))
	for i, name := range columns {
		key[i] = c.dialect.QuotePart(name)
		isText := func(t Text) bool { return t.Column == name }
		switch {
		case c.dialect == dialect.SQLite && slices.ContainsFunc(c.table.texts(), isText):
			key[i] += " COLLATE BINARY"
		case c.dialect == dialect.PostgreSQL && slices.ContainsFunc(c.table.Paths, isText):
			key[i] += ` COLLATE "C"`
		}
	}
	return key
}

// create is the statement that makes an index. SQLite wants the schema with the index.
func (c *checker) create(unique, want string, key []string, condition string) string {
	name, on := c.dialect.QuotePart(c.free(want)), c.dialect.Quote(c.table.Table)
	if c.isMySQL() {
		return fmt.Sprintf("ALTER TABLE %s ADD %sKEY %s (%s)", on, unique, name, strings.Join(key, ", "))
	}
	if schema, table := splitName(c.table.Table); c.dialect == dialect.SQLite && schema != "" {
		name, on = c.dialect.QuotePart(schema)+"."+name, c.dialect.QuotePart(table)
	}
	return fmt.Sprintf("CREATE %sINDEX %s ON %s (%s)%s", unique, name, on, strings.Join(key, ", "), condition)
}

// free returns a name for a new index or column: table_want, with a number if that is taken.
func (c *checker) free(want string) string {
	// PostgreSQL's names hold 63 bytes, MySQL's 64 characters, and the number needs room, too.
	const longest = 58
	_, base := splitName(c.table.Table)
	if room := longest - len(want) - 1; len(base) > room {
		base = strings.ToValidUTF8(base[:room], "")
	}
	base += "_" + want
	name := base
	taken := func() bool {
		_, column := c.columns[name]
		return column || slices.ContainsFunc(c.indexes, func(i index) bool { return strings.EqualFold(i[0].Index, name) })
	}
	for n := 2; taken(); n++ {
		name = fmt.Sprintf("%s%d", base, n)
	}
	return name
}
