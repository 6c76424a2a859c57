package treeschema

import (
	"fmt"
	"slices"
	"strings"
)

// alter begins a statement that changes a table.
func (g postgres) alter(t Table) string { return "ALTER TABLE " + g.quote(t.Table) + " " }

// compares implements [dialect].
func (postgres) compares(c column, isName bool) (Severity, string, bool) {
	switch {
	case c.equal == exactly, isName && c.equal == ordered:
		return Warning, "", true
	case c.equal == loosely:
		return Warning, "it treats texts as equal that differ", false
	default:
		return Warning, `the rows below a path are no range in its order, for queries that do not say COLLATE "C" themselves`, false
	}
}

// primaryKey implements [dialect].
func (g postgres) primaryKey(t Table, p *physical) []string {
	if !p.allowsUnique(t.Key) {
		return nil
	}
	if slices.ContainsFunc(p.indexes, func(i index) bool { return i.primary }) {
		return []string{fmt.Sprintf("CREATE UNIQUE INDEX %s (%s)", indexOn(g, t, p.freeName(t.Table, "key")), quoted(g, t.Key))}
	}
	return []string{g.alter(t) + "ADD PRIMARY KEY (" + quoted(g, t.Key) + ")"}
}

// allowsUnique reports whether a table can have a unique index over some columns. The index must
// contain the columns that the table is partitioned by.
func (p *physical) allowsUnique(columns []string) bool {
	for name := range p.columns {
		if p.partitionedBy != "" && mentions(p.partitionedBy, name) && !slices.Contains(columns, name) {
			return false
		}
	}
	return true
}

// keeps implements [dialect].
func (g postgres) keeps(t Table, p *physical, c column, size int) string {
	switch {
	case c.users != "":
		users := c.users
		c.users = ""
		change := g.keeps(t, p, c, size)
		if change == "" {
			change = "run " + g.retype(t, nil, c, size)[0]
		}
		return "PostgreSQL changes no column that something else uses: in one transaction, drop the " + users + ", " + change + ", and create again what was dropped"
	case p.partitionedBy != "" && mentions(p.partitionedBy, c.name):
		return "recreate the table: PostgreSQL changes no column that a table is partitioned by"
	case c.domain && (size > 0 || c.equal == loosely):
		return "create a domain of text or of a longer varchar, and use it for the column: a plain type would lose the constraints of the domain " + c.typ
	default:
		return ""
	}
}

// retype implements [dialect].
func (g postgres) retype(t Table, _ *physical, c column, size int) []string {
	typ, collation := "text", `"C"`
	switch {
	case c.domain:
		typ = c.typ // and its constraints
	case size > 0:
		typ = fmt.Sprintf("varchar(%d)", size)
	case c.length > 0:
		typ = fmt.Sprintf("varchar(%d)", c.length)
	}
	return []string{fmt.Sprintf("%sALTER COLUMN %s TYPE %s COLLATE %s", g.alter(t), g.quote(c.name), typ, collation)}
}

// siblings implements [dialect].
func (g postgres) siblings(t Table, p *physical) []string {
	return partialUnique(g, t, p, "sibling", t.siblings(), t.live("", g.quote))
}

// topRows implements [dialect].
func (g postgres) topRows(t Table, p *physical) []string { return partialTop(g, t, p) }

// partialTop makes a partial unique index over the rows without a parent.
func partialTop(d dialect, t Table, p *physical) []string {
	condition := noParent(d, t, p) + t.live(" AND ", d.quote)
	return partialUnique(d, t, p, "top", []string{t.Tree, t.Name.Column}, condition)
}

// uniqueLive makes a unique index over tree and path of live rows. Instead of a condition it has a
// part that is NULL for deleted rows. So it finds deleted rows, too, and serves queries whose
// condition for live rows has a placeholder.
func uniqueLive(d dialect, t Table, p *physical, path Text, name, order string) []string {
	if !p.allowsUnique([]string{t.Tree, path.Column}) {
		return nil
	}
	key := quoted(d, []string{t.Tree, path.Column}) + order
	if live := t.live("", d.quote); live != "" {
		key += ", (CASE WHEN " + live + " THEN 1 END)"
	}
	return []string{fmt.Sprintf("CREATE UNIQUE INDEX %s (%s)", indexOn(d, t, name), key)}
}

// uniquePaths implements [dialect].
func (g postgres) uniquePaths(t Table, p *physical, path Text, name string) []string {
	return uniqueLive(g, t, p, path, name, ` COLLATE "C"`)
}

// partialUnique makes a unique index over the rows that meet a condition, "" for all rows.
func partialUnique(d dialect, t Table, p *physical, name string, columns []string, condition string) []string {
	if !p.allowsUnique(columns) {
		return nil
	}
	key := make([]string, len(columns))
	for i, c := range columns {
		key[i] = d.quote(c)
		if c == t.Name.Column && d.name() == "sqlite" && p.columns[c].equal != exactly {
			key[i] = d.bytes(key[i]) // SQLite cannot change the column
		}
	}
	statement := fmt.Sprintf("CREATE UNIQUE INDEX %s (%s)", indexOn(d, t, p.freeName(t.Table, name)), strings.Join(key, ", "))
	if condition != "" {
		statement += " WHERE " + condition
	}
	return []string{statement}
}

// indexOn names the index and the table of a CREATE INDEX. SQLite wants the schema with the index.
func indexOn(d dialect, t Table, name string) string {
	schema, table := splitName(t.Table)
	if d.name() == "sqlite" && schema != "" {
		return d.quote(schema+"."+name) + " ON " + d.quote(table)
	}
	return d.quote(name) + " ON " + d.quote(t.Table)
}

// pathIndex implements [dialect].
func (g postgres) pathIndex(t Table, p *physical, path Text) []string {
	return []string{fmt.Sprintf(`CREATE INDEX %s (%s, %s COLLATE "C")`,
		indexOn(g, t, p.freeName(t.Table, path.Column)), g.quote(t.Tree), g.quote(path.Column))}
}

// dropIndex implements [dialect].
func (g postgres) dropIndex(t Table, i index) []string {
	if i.constraint {
		return []string{g.alter(t) + "DROP CONSTRAINT " + g.quote(i.name)}
	}
	return []string{"DROP INDEX " + g.beside(t, i.name)}
}

// renameIndex implements [dialect].
func (g postgres) renameIndex(t Table, from, to string) []string {
	return []string{"ALTER INDEX " + g.beside(t, from) + " RENAME TO " + g.quote(to)}
}

// beside quotes the name of an index, which is in the schema of its table.
func (g postgres) beside(t Table, index string) string {
	if schema, _ := splitName(t.Table); schema != "" {
		index = schema + "." + index
	}
	return g.quote(index)
}

// plainKey implements [dialect].
func (g postgres) plainKey(t Table, k foreignKey) []string {
	return []string{fmt.Sprintf("%sDROP CONSTRAINT %s, ADD CONSTRAINT %s %s", g.alter(t), g.quote(k.name), g.quote(k.name), k.plain)}
}
