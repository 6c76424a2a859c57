package treeschema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// usualName is the size for a name column whose own size no index can hold, usualKey that for a key
// column.
const (
	usualName = 255
	usualKey  = 191
)

// mysqlShortBytes is how many bytes of a column an index holds in the older row formats.
const mysqlShortBytes = 767

// alter begins a statement that changes a table.
func (m mysql) alter(t Table) string { return "ALTER TABLE " + m.quote(t.Table) + " " }

// compares implements [dialect].
func (mysql) compares(c column, isName bool) (Severity, string, bool) {
	switch {
	case c.compressed:
		return Unsafe, "no index can hold it", false
	case c.equal == exactly:
		return Warning, "", true
	case c.collation == "":
		return Unsafe, "it counts bytes, but the plugin counts characters", false
	case c.equal == padded:
		return Warning, "it treats texts as equal that differ in trailing spaces", false
	case isName:
		return Warning, "it treats names as equal that differ", false
	default:
		return Unsafe, "in its order a path can come before its parent's, and a rename then misses it", false
	}
}

// primaryKey implements [dialect].
func (m mysql) primaryKey(t Table, p *physical) []string {
	drop := ""
	if slices.ContainsFunc(p.indexes, func(i index) bool { return i.primary }) {
		drop = "DROP PRIMARY KEY, "
	}
	if c, there := p.columns["my_row_id"]; there && strings.Contains(c.definition, "INVISIBLE") {
		// The server made the column up, as a primary key, and drops the two only together.
		drop = "DROP COLUMN " + m.quote1(c.name) + ", "
	}
	return append(m.unpartitioned(t, p, t.Key), m.alter(t)+drop+"ADD PRIMARY KEY ("+quoted(m, t.Key)+")")
}

// unpartitioned removes the partitions of a table if a unique key lacks a column that it is
// partitioned by.
func (m mysql) unpartitioned(t Table, p *physical, key []string) []string {
	for name := range p.columns {
		if p.partitionedBy != "" && mentions(p.partitionedBy, name) && !slices.Contains(key, name) {
			p.partitionedBy = ""
			return []string{m.alter(t) + "REMOVE PARTITIONING"}
		}
	}
	return nil
}

// roomy gives a table with an older row format the one whose indexes hold whole names.
func (m mysql) roomy(t Table, p *physical, columns ...string) []string {
	tooLong := func(name string) bool {
		c := p.columns[name]
		return c.collation != "" && min(c.bytes, mysqlIndexBytes) > mysqlShortBytes
	}
	if !p.short || !slices.ContainsFunc(columns, tooLong) {
		return nil
	}
	p.short = false
	return []string{m.alter(t) + "ROW_FORMAT = DYNAMIC"}
}

// isLong reports whether a type has no size that fits into an index.
func isLong(c column) bool {
	return strings.HasSuffix(c.typ, "text") || strings.HasSuffix(c.typ, "blob")
}

// keeps implements [dialect].
func (m mysql) keeps(t Table, p *physical, c column, size int) string {
	if !c.defined {
		return "give the column " + m.quote1(c.name) + " a binary collation; its definition cannot be read"
	}
	var inTheWay []string
	for _, i := range p.indexes {
		if slices.Contains(i.columns(), c.name) && (i.fulltext && len(i.parts) > 1 || p.outgrows(i, t, c, size)) {
			inTheWay = append(inTheWay, m.quote1(i.name))
		}
	}
	if inTheWay == nil {
		return ""
	}
	after := *p
	after.columns, after.indexes = maps.Clone(p.columns), nil
	change := strings.Join(m.retype(t, &after, c, size), "; ")
	return "drop the index " + strings.Join(inTheWay, ", ") + ", which cannot hold the changed column; run " + change + "; and create a shorter index, or one of this column alone"
}

// outgrows reports whether an index would become too long if a column became one of utf8mb4.
func (p *physical) outgrows(i index, t Table, c column, size int) bool {
	if i.fulltext || t.isKey(c.name) {
		return false
	}
	bytes := 0
	for _, part := range i.parts {
		col, length := p.columns[part.column], part.prefix
		switch {
		case part.column == c.name && length == 0:
			bytes += max(c.length, size) * mysqlCharacter
		case part.column == c.name:
			bytes += length * mysqlCharacter
		case length > 0 && col.length > 0:
			bytes += min(col.bytes, length*max(col.bytes/col.length, 1))
		default:
			bytes += col.bytes
		}
	}
	return bytes > mysqlIndexBytes
}

// retype implements [dialect].
func (m mysql) retype(t Table, p *physical, c column, size int) []string {
	if !c.defined {
		return nil
	}
	if t.isKey(c.name) {
		return m.retypeKey(t, p, c)
	}
	typ := c.typ
	switch {
	case size > 1<<16/mysqlCharacter-1:
		typ = "mediumtext"
	case size > 0:
		typ = fmt.Sprintf("varchar(%d)", size)
	case c.collation == "", strings.HasPrefix(c.typ, "char("):
		typ = fmt.Sprintf("varchar(%d)", max(c.length, usualName))
	}
	collated := c
	collated.typ, collated.collation, collated.charset, collated.equal, collated.compressed = typ, p.binary, "utf8mb4", exactly, false
	if _, err := fmt.Sscanf(typ, "varchar(%d)", &collated.length); err == nil {
		collated.bytes = collated.length * mysqlCharacter
	}
	p.columns[c.name] = collated
	for _, i := range p.indexes {
		for k := range i.parts {
			i.parts[k].ordered = i.parts[k].ordered || i.parts[k].column == c.name
		}
	}
	var statements []string
	if p.short {
		// An index on the column may have no room for more bytes.
		statements, p.short = []string{m.alter(t) + "ROW_FORMAT = DYNAMIC"}, false
	}
	if len(p.linked[c.name]) > 0 {
		return append(statements, m.relinked(p, c, func(o linked) string {
			if strings.EqualFold(o.table, tableOf(t)) && o.column == c.name {
				o.typ = typ
			}
			return o.typ + " CHARACTER SET utf8mb4 COLLATE " + p.binary
		})...)
	}
	return append(statements, strings.TrimRight(fmt.Sprintf("%sMODIFY %s %s CHARACTER SET utf8mb4 COLLATE %s %s", m.alter(t), m.quote1(c.name), typ, p.binary, c.definition), " "))
}

// indexable retypes a key column that no index can hold.
func (m mysql) indexable(t Table, p *physical, name string) []string {
	c := p.columns[name]
	if !isLong(c) && !c.compressed {
		return nil
	}
	statements := m.retypeKey(t, p, c)
	if !isLong(c) {
		return statements
	}
	stricter := p.columns[name]
	stricter.typ, stricter.length, stricter.bytes = fmt.Sprintf("varchar(%d)", usualKey), usualKey, usualKey*mysqlCharacter
	if stricter.collation == "" {
		stricter.typ, stricter.bytes = fmt.Sprintf("varbinary(%d)", usualKey), usualKey
	}
	p.columns[name] = stricter
	return statements
}

// siblings implements [dialect].
func (m mysql) siblings(t Table, p *physical) []string {
	statements := m.indexable(t, p, t.Parent)
	if t.Tree != "" {
		statements = append(statements, m.indexable(t, p, t.Tree)...)
	}
	name := p.columns[t.Name.Column]
	key := []string{t.Parent, t.Name.Column}
	room := mysqlIndexBytes - p.columns[t.Parent].bytes - 1
	if t.Tree != "" && (p.columns[t.Tree].bytes+usualName*mysqlCharacter <= room || mentions(p.partitionedBy, t.Tree)) {
		key = append(key, t.Tree)
		room -= p.columns[t.Tree].bytes
	}
	statements = append(statements, m.roomy(t, p, key...)...)
	if isLong(name) || name.bytes > room {
		statements = append(statements, m.retype(t, p, name, min(usualName, room/mysqlCharacter))...)
	}
	unique := p.freeName(t.Table, "sibling")
	mark, made := m.mark(t, p)
	statements = append(statements, made...)
	if mark != "" {
		key = append(key, mark)
	}
	statements = append(statements, m.unpartitioned(t, p, key)...)
	return append(statements, fmt.Sprintf("%sADD UNIQUE KEY %s (%s)", m.alter(t), m.quote1(unique), quoted(m, key)))
}

// mark returns the generated column that is NULL for deleted rows, and the statement that makes it
// if it is missing. The key needs another statement: MySQL adds a virtual column, or a key, while
// others write, but not both at once.
func (m mysql) mark(t Table, p *physical) (string, []string) {
	live := t.live("", m.quote)
	if live == "" || p.mark != "" {
		return p.mark, nil
	}
	p.mark = p.freeName(t.Table, "live")
	p.names[strings.ToLower(p.mark)] = true
	return p.mark, []string{fmt.Sprintf("%sADD COLUMN %s TINYINT AS (IF(%s, 1, NULL)) VIRTUAL", m.alter(t), m.quote1(p.mark), live)}
}

// topRows implements [dialect].
func (m mysql) topRows(t Table, p *physical) []string {
	statements := m.indexable(t, p, t.Tree)
	statements = append(statements, m.roomy(t, p, t.Tree, t.Name.Column)...)
	typ, value := m.topType(p.columns[t.Tree])
	condition := noParent(m, t, p) + t.live(" AND ", m.quote)
	name, top := p.freeName(t.Table, "top"), p.top
	if top == "" {
		top = name
		p.names[strings.ToLower(top)] = true
		statements = append(statements, fmt.Sprintf("%sADD COLUMN %s %s AS (IF(%s, %s, NULL)) VIRTUAL", m.alter(t), m.quote1(top), typ, condition, value))
	}
	key := []string{top, t.Name.Column}
	if mentions(p.partitionedBy, t.Tree) {
		key = append(key, t.Tree)
	}
	statements = append(statements, m.unpartitioned(t, p, key)...)
	return append(statements, fmt.Sprintf("%sADD UNIQUE KEY %s (%s)", m.alter(t), m.quote1(name), quoted(m, key)))
}

// topType returns the type and the expression of a generated column that copies the tree's id.
func (m mysql) topType(tree column) (typ, value string) {
	typ, value = tree.typ, m.quote1(tree.name)
	if strings.HasPrefix(typ, "char(") {
		// The sql_mode decides how a CHAR is padded. So MariaDB has no index over the column as it
		// is.
		typ, value = "var"+typ, "RTRIM("+value+")"
	}
	if tree.collation != "" {
		typ += " CHARACTER SET " + tree.charset + " COLLATE " + tree.collation
	}
	return typ, value
}

// uniquePaths implements [dialect]. An InnoDB index holds 3,072 bytes, and has to hold the whole
// path to be unique.
func (m mysql) uniquePaths(t Table, p *physical, path Text, name string) []string {
	c, tree := p.columns[path.Column], p.columns[t.Tree]
	bytes := max(c.length, path.Size)*mysqlCharacter + tree.bytes
	if len(t.Marks) > 0 {
		bytes++
	}
	if isLong(c) || isLong(tree) || bytes > mysqlIndexBytes || p.partitionedBy != "" && len(m.unpartitioned(t, &physical{columns: p.columns, partitionedBy: p.partitionedBy}, []string{t.Tree, path.Column})) > 0 {
		return nil
	}
	statements := m.roomy(t, p, t.Tree, path.Column)
	key := []string{t.Tree, path.Column}
	mark, made := m.mark(t, p)
	if mark != "" {
		key = append(key, mark)
	}
	statements = append(statements, made...)
	return append(statements, fmt.Sprintf("%sADD UNIQUE KEY %s (%s)", m.alter(t), m.quote1(name), quoted(m, key)))
}

// pathIndex implements [dialect].
func (m mysql) pathIndex(t Table, p *physical, path Text) []string {
	statements := m.indexable(t, p, t.Tree)
	if c := p.columns[path.Column]; c.typ == "tinytext" {
		// An index would hold only a quarter of it.
		statements = append(statements, m.retype(t, p, c, usualName)...)
	}
	c := p.columns[path.Column]
	most := (mysqlIndexBytes - p.columns[t.Tree].bytes) / mysqlCharacter
	if p.short {
		most = mysqlShortBytes / mysqlCharacter
	}
	prefix := ""
	if isLong(c) || c.length > most {
		prefix = fmt.Sprintf("(%d)", most)
	}
	return append(statements, fmt.Sprintf("%sADD KEY %s (%s, %s%s)",
		m.alter(t), m.quote1(p.freeName(t.Table, path.Column)), m.quote1(t.Tree), m.quote1(path.Column), prefix))
}

// dropIndex implements [dialect].
func (m mysql) dropIndex(t Table, i index) []string {
	return []string{m.alter(t) + "DROP INDEX " + m.quote1(i.name)}
}

// renameIndex implements [dialect].
func (m mysql) renameIndex(t Table, from, to string) []string {
	return []string{m.alter(t) + "RENAME INDEX " + m.quote1(from) + " TO " + m.quote1(to)}
}

// plainKey implements [dialect].
func (m mysql) plainKey(t Table, k foreignKey) []string {
	return []string{
		m.alter(t) + "DROP FOREIGN KEY " + m.quote1(k.name),
		m.alter(t) + "ADD CONSTRAINT " + m.quote1(k.name) + " " + k.plain,
	}
}

// quoted quotes a list of columns.
func quoted(d dialect, columns []string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = d.quote(c)
	}
	return strings.Join(list, ", ")
}
