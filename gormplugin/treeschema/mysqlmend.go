package treeschema

import (
	"fmt"
	"slices"
	"strings"
)

// usualName is the size of a name whose column has none that an index can hold.
const usualName = 255

// alter begins a statement that changes a table.
func (m mysql) alter(t Table) string { return "ALTER TABLE " + m.quote(t.Name) + " " }

// compares implements [dialect].
func (mysql) compares(c column, label bool) (Severity, string, bool) {
	switch {
	case c.equal == exactly:
		return Warning, "", true
	case c.collation == "":
		return Unsafe, "it counts bytes, where the plugin counts characters", false
	case c.equal == padded:
		return Warning, "it holds texts equal that differ in trailing spaces", false
	case label:
		return Warning, "it holds names equal that differ", false
	default:
		return Unsafe, "in its order a path can come before its parent's, and is then left behind when that is renamed", false
	}
}

// primaryKey implements [dialect].
func (m mysql) primaryKey(t Table, p *physical) []string {
	drop := ""
	if slices.ContainsFunc(p.indexes, func(i index) bool { return i.primary }) {
		drop = "DROP PRIMARY KEY, "
	}
	return []string{m.alter(t) + drop + "ADD PRIMARY KEY (" + quoted(m, t.Key) + ")"}
}

// retype implements [dialect].
func (m mysql) retype(t Table, p *physical, c column, size int) []string {
	typ := c.typ
	switch {
	case size > 1<<16/mysqlCharacter-1:
		typ = "mediumtext"
	case size > 0:
		typ = fmt.Sprintf("varchar(%d)", size)
	case c.collation == "", strings.HasPrefix(c.typ, "char("):
		typ = fmt.Sprintf("varchar(%d)", max(c.length, usualName))
	}
	return []string{fmt.Sprintf("%sMODIFY %s %s CHARACTER SET utf8mb4 COLLATE %s%s", m.alter(t), m.quote(c.name), typ, p.binary, c.definition)}
}

// siblings implements [dialect].
func (m mysql) siblings(t Table, p *physical) []string {
	name := p.columns[t.Label.Column]
	key := []string{t.Parent, t.Label.Column}
	room := mysqlIndexBytes - p.columns[t.Parent].bytes - 1
	if t.Tree != "" && p.columns[t.Tree].bytes+usualName*mysqlCharacter <= room {
		key = append(key, t.Tree)
		room -= p.columns[t.Tree].bytes
	}
	var statements []string
	if strings.HasSuffix(name.typ, "text") || name.bytes > room {
		statements = m.retype(t, p, name, min(usualName, room/mysqlCharacter))
	}
	unique := p.freeName(t.Name, "sibling")
	live := t.live(m.quote)
	if live == "" {
		return append(statements, fmt.Sprintf("%sADD UNIQUE KEY %s (%s)", m.alter(t), m.quote(unique), quoted(m, key)))
	}
	mark := p.freeName(t.Name, "live")
	return append(statements, fmt.Sprintf("%sADD COLUMN %s TINYINT AS (IF(%s, 1, NULL)) VIRTUAL, ADD UNIQUE KEY %s (%s)",
		m.alter(t), m.quote(mark), live, m.quote(unique), quoted(m, append(key, mark))))
}

// topRows implements [dialect].
func (m mysql) topRows(t Table, p *physical) []string {
	tree := p.columns[t.Tree]
	typ := tree.typ
	if tree.collation != "" {
		typ += " CHARACTER SET utf8mb4 COLLATE " + p.binary
	}
	condition := m.quote(t.Parent) + " IS NULL"
	if live := t.live(m.quote); live != "" {
		condition += " AND " + live
	}
	top := p.freeName(t.Name, "top")
	return []string{fmt.Sprintf("%sADD COLUMN %s %s AS (IF(%s, %s, NULL)) VIRTUAL, ADD UNIQUE KEY %s (%s)",
		m.alter(t), m.quote(top), typ, condition, m.quote(t.Tree), m.quote(top), quoted(m, []string{top, t.Label.Column}))}
}

// pathIndex implements [dialect].
func (m mysql) pathIndex(t Table, p *physical, path Text) []string {
	c := p.columns[path.Column]
	most := (mysqlIndexBytes - p.columns[t.Tree].bytes) / mysqlCharacter
	prefix := ""
	if strings.HasSuffix(c.typ, "text") || c.length > most {
		prefix = fmt.Sprintf("(%d)", most)
	}
	return []string{fmt.Sprintf("%sADD KEY %s (%s, %s%s)",
		m.alter(t), m.quote(p.freeName(t.Name, path.Column)), m.quote(t.Tree), m.quote(path.Column), prefix)}
}

// dropIndex implements [dialect].
func (m mysql) dropIndex(t Table, i index) []string {
	return []string{m.alter(t) + "DROP INDEX " + m.quote(i.name)}
}

// plainKey implements [dialect].
func (m mysql) plainKey(t Table, k foreignKey) []string {
	return []string{
		m.alter(t) + "DROP FOREIGN KEY " + m.quote(k.name),
		m.alter(t) + "ADD CONSTRAINT " + m.quote(k.name) + " " + k.plain,
	}
}

// dropTrigger implements [dialect].
func (m mysql) dropTrigger(tr trigger) []string { return []string{"DROP TRIGGER " + m.quote(tr.name)} }

// quoted quotes a list of columns.
func quoted(d dialect, columns []string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = d.quote(c)
	}
	return strings.Join(list, ", ")
}
