package treeschema

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// linked is a column that foreign keys tie to one of the table: MySQL takes no other type,
// character set or collation for one of them than for the others, so that they can only be changed
// together, without the keys.
type linked struct {
	schema, table, column string
	typ, definition       string
}

// keyCollation is the collation that different keys of a character set differ by.
func (p *physical) keyCollation(charset string) string {
	switch {
	case p.mariaDB:
		return charset + "_nopad_bin"
	case charset == "utf8mb4":
		return "utf8mb4_0900_bin"
	default:
		return charset + "_bin"
	}
}

// retypeKey gives a key column a type that an index can hold and a binary collation of its
// character set, and all columns with it that foreign keys tie it to.
func (m mysql) retypeKey(t Table, p *physical, c column) []string {
	retyped := func(typ string) string {
		switch {
		case c.collation == "":
			typ = fmt.Sprintf("varbinary(%d)", usualKey) // bytes need not be a text in any character set
		case strings.HasSuffix(typ, "text"):
			typ = fmt.Sprintf("varchar(%d)", usualKey)
		}
		if c.collation != "" {
			typ += " CHARACTER SET " + c.charset + " COLLATE " + p.keyCollation(c.charset)
		}
		return typ
	}
	stricter := c
	stricter.compressed = false
	if c.collation != "" {
		stricter.collation = p.keyCollation(c.charset)
	}
	p.columns[c.name] = stricter
	if len(p.linked[c.name]) == 0 {
		return []string{strings.TrimRight(fmt.Sprintf("%sMODIFY %s %s %s", m.alter(t), m.quote1(c.name), retyped(c.typ), c.definition), " ")}
	}
	return m.relinked(p, c, func(o linked) string { return retyped(o.typ) })
}

// relinked changes a column and all that foreign keys tie it to, without the keys meanwhile.
// retyped returns the type of a column, with its character set and collation.
func (m mysql) relinked(p *physical, c column, retyped func(linked) string) []string {
	others := p.linked[c.name]
	var drop, change, add []string
	for _, l := range p.links {
		if !slices.ContainsFunc(others, func(o linked) bool { return l.touches(o.schema, o.table, o.column) }) {
			continue
		}
		table := "ALTER TABLE " + m.quote1(l.schema) + "." + m.quote1(l.table)
		drop = append(drop, table+" DROP FOREIGN KEY "+m.quote1(l.name))
		add = append(add, table+" ADD CONSTRAINT "+m.quote1(l.name)+" "+l.definition(m)+l.actions())
	}
	for _, o := range others {
		statement := fmt.Sprintf("ALTER TABLE %s.%s MODIFY %s %s %s", m.quote1(o.schema), m.quote1(o.table), m.quote1(o.column), retyped(o), o.definition)
		change = append(change, strings.TrimRight(statement, " "))
	}
	return slices.Concat(drop, change, add)
}

// tableOf is a table's name without its schema.
func tableOf(t Table) string {
	_, name := splitName(t.Table)
	return name
}

// readLinked reads the definitions of the columns that foreign keys tie to text columns of the
// table, those included.
func (m mysql) readLinked(ctx context.Context, conn Conn, p *physical, table string) error {
	p.linked = make(map[string][]linked)
	definitions := make(map[string][][]string)
	for _, c := range p.columns {
		if c.collation == "" {
			continue
		}
		group := []linked{{schema: p.schema, table: table, column: c.name}}
		for i := 0; i < len(group); i++ {
			for _, l := range p.links {
				for k := range l.columns {
					for _, end := range [][3]string{{l.schema, l.table, l.columns[k]}, {l.toSchema, l.other, l.toColumns[k]}} {
						o := linked{schema: end[0], table: end[1], column: end[2]}
						joined := l.touches(group[i].schema, group[i].table, group[i].column) && l.pairs(k, group[i])
						if joined && !slices.Contains(group, o) {
							group = append(group, o)
						}
					}
				}
			}
		}
		if len(group) == 1 {
			continue
		}
		for i, o := range group {
			name := m.quote1(o.schema) + "." + m.quote1(o.table)
			if definitions[name] == nil {
				records, err := ask(ctx, conn, "SHOW CREATE TABLE "+name)
				if err != nil {
					return fmt.Errorf("treeschema: %w", err)
				}
				definitions[name] = mysqlEntries(records[0]["create table"])
			}
			for _, entry := range definitions[name] {
				if len(entry) > 1 && strings.EqualFold(mysqlName(entry[0]), o.column) {
					group[i].typ, group[i].definition = entry[1], mysqlRest(entry[2:])
				}
			}
		}
		p.linked[c.name] = group
	}
	return nil
}

// pairs reports whether the k-th pair of columns of a foreign key has a column in it.
func (l link) pairs(k int, o linked) bool {
	return l.schema == o.schema && l.table == o.table && l.columns[k] == o.column || l.toSchema == o.schema && l.other == o.table && l.toColumns[k] == o.column
}
