package treeschema

import (
	"fmt"
	"regexp"
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
	// olderColumnBytes is how much of a column an index holds in the older row formats of InnoDB,
	// which tables from before MySQL 5.7 have until somebody changes it.
	olderColumnBytes = 767
)

// isOlder reports whether the table has one of these formats.
func (c *checker) isOlder() bool { return c.Format == "Compact" || c.Format == "Redundant" }

// adviceAgainst says what to change before there can be a unique index over some columns, "" if
// there can be one.
func (c *checker) adviceAgainst(columns []string) string {
	if slices.ContainsFunc(c.named, func(n named) bool { return n.what == "partition" }) {
		return "make it one table without partitions: each of its unique indexes has to contain what it is partitioned by"
	}
	var bytes int64
	for _, name := range columns {
		bytes += c.columns[name].Bytes
		if c.isMySQL() && isLong(c.columns[name]) {
			return "give the column " + name + " a size first, such as VARCHAR(191), or VARCHAR(255) for a name: an index holds no more of it"
		}
		if c.isOlder() && c.columns[name].Bytes > olderColumnBytes {
			return "run ALTER TABLE " + c.dialect.Quote(c.table.name()) + " ROW_FORMAT = DYNAMIC first: an index of a table in the format " + c.Format + " holds too little of the column " + name
		}
	}
	if c.isMySQL() && bytes > mysqlIndexBytes {
		return "make the columns " + strings.Join(columns, ", ") + " shorter: together they need more than an index holds"
	}
	return ""
}

// isLong reports whether a type has no size that fits into an index.
func isLong(c Column) bool {
	return strings.HasSuffix(c.Type, "text") || strings.HasSuffix(c.Type, "blob")
}

// The unique indexes for names are called table_sibling and table_top: see [checker.free].
const siblingIndex, topIndex = "sibling", "top"

var madeForNames = regexp.MustCompile(`_(` + siblingIndex + `|` + topIndex + `)\d*$`)

// IsMadeForNames reports whether an index has the name of one that AutoMigrate makes for names.
func IsMadeForNames(index string) bool { return madeForNames.MatchString(index) }

// createSiblingIndex makes a unique index for rows with a parent, or says what to change first.
func (c *checker) createSiblingIndex() (statements []string, advice string) {
	columns := c.table.siblings()
	if c.adviceAgainst(columns) != "" {
		columns = columns[:2] // a parent is in one tree only, and the tree may not fit
	}
	if advice := c.adviceAgainst(columns); advice != "" {
		return nil, advice
	}
	key, live := c.parts(columns), c.table.live(" WHERE ", c.dialect.QuotePart)
	if !c.dialect.PartialIndexes && live != "" {
		column, made := c.generated("live", "TINYINT", c.liveValue())
		key, live, statements = append(key, column), "", made
	}
	return append(statements, c.create("UNIQUE ", siblingIndex, key, live)), ""
}

// createTopIndex makes a unique index for rows without a parent, or says what to change first.
func (c *checker) createTopIndex() (statements []string, advice string) {
	tree, columns := c.table.Tree, c.table.inTree(c.table.Name)
	if advice := c.adviceAgainst(columns); advice != "" {
		return nil, advice
	}
	if c.dialect.PartialIndexes {
		return []string{c.create("UNIQUE ", topIndex, c.parts(columns), " WHERE "+c.isTop())}, ""
	}
	typ := "TINYINT"
	if of := c.columns[tree]; tree != "" {
		typ = of.Type
		if isChar(of) {
			typ = "var" + typ
		}
		if of.Collation != "" {
			typ += " CHARACTER SET " + of.Charset + " COLLATE " + of.Collation
		}
	}
	column, statements := c.generated("top", typ, c.topValue())
	return append(statements, c.create("UNIQUE ", topIndex, append([]string{column}, c.parts(columns[len(columns)-1:])...), "")), ""
}

// isChar reports whether a column pads what it holds.
func isChar(c Column) bool { return strings.HasPrefix(c.Type, "char(") }

// liveValue is the expression of a generated column of MySQL that is NULL for deleted rows: MySQL
// has no index over only some rows.
func (c *checker) liveValue() string {
	return "IF(" + c.table.live("", c.dialect.QuotePart) + ", 1, NULL)"
}

// topValue is the expression of a generated column of MySQL that is the tree's id for live rows
// without a parent, and NULL for others.
func (c *checker) topValue() string {
	value := "1"
	if tree := c.table.Tree; tree != "" {
		value = c.dialect.QuotePart(tree)
		if isChar(c.columns[tree]) {
			// The sql_mode decides how a CHAR is padded. So MariaDB has no index over the column as
			// it is.
			value = "RTRIM(" + value + ")"
		}
	}
	return "IF(" + c.isTop() + ", " + value + ", NULL)"
}

// generated returns the generated column with an expression, quoted, and the statement that makes
// it if it is missing. The key needs another statement: MySQL adds a virtual column, or a key,
// while others write, but not both at once.
func (c *checker) generated(want, typ, expression string) (column string, statements []string) {
	for name, col := range c.columns {
		if c.same(col.Expression, expression) {
			return c.dialect.QuotePart(name), nil
		}
	}
	column = c.dialect.QuotePart(c.free(want))
	return column, []string{fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s %s AS (%s) VIRTUAL", c.dialect.Quote(c.table.name()), column, typ, expression)}
}

// postgresIndexBytes is a little less than the longest entry of a PostgreSQL B-tree. See
// https://www.postgresql.org/docs/current/btree.html.
const postgresIndexBytes = 2600

// takesName reports whether the index of a path has the name, too: many rows share the path of a
// parent, and the name tells them apart, if an index has room for both.
func (c *checker) takesName(path string) bool {
	if path != c.table.Path || !strings.HasPrefix(c.table.PathForm, "parent:") {
		return false
	}
	p, name := c.columns[path], c.columns[c.table.Name]
	if c.dialect == dialect.PostgreSQL {
		return p.Length > 0 && name.Length > 0 && mysqlCharacter*(p.Length+name.Length) <= postgresIndexBytes
	}
	return c.adviceAgainst(c.table.inTree(path, c.table.Name)) == ""
}

// createPathIndex makes an index over tree and path, or over as much of the path as an index holds.
func (c *checker) createPathIndex(path string) (statements []string, advice string) {
	columns := c.table.inTree(path)
	if c.takesName(path) {
		return []string{c.create("", path, c.parts(append(columns, c.table.Name)), "")}, ""
	}
	key := c.parts(columns)
	if c.isMySQL() {
		col, tree := c.columns[path], c.columns[c.table.Tree]
		if c.table.Tree != "" && isLong(tree) {
			return nil, c.adviceAgainst(columns)
		}
		most := (mysqlIndexBytes - tree.Bytes) / mysqlCharacter
		if c.isOlder() {
			most = min(most, leastPrefix)
		}
		if isLong(col) || col.Length > most {
			key[len(key)-1] += fmt.Sprintf("(%d)", most)
		}
	}
	return []string{c.create("", path, key, "")}, ""
}

// parts quotes the columns of an index's key. If the column's order may be another, the index has
// that of bytes.
func (c *checker) parts(columns []string) []string {
	key := make([]string, len(columns))
	for i, name := range columns {
		key[i] = c.dialect.QuotePart(name)
		switch {
		case c.dialect == dialect.SQLite && slices.Contains(c.table.texts(), name):
			key[i] += " COLLATE BINARY"
		case c.dialect == dialect.PostgreSQL && slices.Contains(c.table.paths(), name):
			key[i] += ` COLLATE "C"`
		}
	}
	return key
}

// create is the statement that makes an index. SQLite wants the schema with the index.
func (c *checker) create(unique, want string, key []string, condition string) string {
	name, on := c.dialect.QuotePart(c.free(want)), c.dialect.Quote(c.table.name())
	if c.isMySQL() {
		return fmt.Sprintf("ALTER TABLE %s ADD %sKEY %s (%s)", on, unique, name, strings.Join(key, ", "))
	}
	if schema, table := splitName(c.table.name()); c.dialect == dialect.SQLite && schema != "" {
		name, on = c.dialect.QuotePart(schema)+"."+name, c.dialect.QuotePart(table)
	}
	return fmt.Sprintf("CREATE %sINDEX %s ON %s (%s)%s", unique, name, on, strings.Join(key, ", "), condition)
}

// free returns a name for a new index or column: table_want, with a number if that is taken.
func (c *checker) free(want string) string {
	// PostgreSQL's names hold 63 bytes, MySQL's 64 characters, and the number needs room, too.
	const longest = 58
	_, base := splitName(c.table.name())
	if len(base)+1+len(want) > longest {
		want = strings.ToValidUTF8(want[:min(len(want), longest/2)], "")
		base = strings.ToValidUTF8(base[:min(len(base), longest-len(want)-1)], "")
	}
	base += "_" + want
	name := base
	taken := func() bool {
		_, column := c.columns[name]
		return column || !c.isMySQL() && c.given[strings.ToLower(name)] || slices.ContainsFunc(c.indexes, func(i index) bool { return strings.EqualFold(i[0].Index, name) }) ||
			slices.ContainsFunc(c.named, func(n named) bool { return n.what == "taken" && strings.EqualFold(n.Name, name) })
	}
	for n := 2; taken(); n++ {
		name = fmt.Sprintf("%s%d", base, n)
	}
	c.given[strings.ToLower(name)] = true
	return name
}
