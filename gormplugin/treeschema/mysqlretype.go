package treeschema

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// linked is a column that foreign keys tie to one of the table. MySQL wants the same type,
// character set and collation for all of them. So they change together, while the keys are dropped.
type linked struct {
	schema, table, column string
	typ, definition       string
}

// keyCollation is the collation by which different keys of a character set differ.
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

// retypeKey gives a key column, and all columns that foreign keys tie to it, a type that an index
// can hold, with a binary collation of its character set.
func (m mysql) retypeKey(t Table, p *physical, c column) []string {
	retyped := func(typ string) string {
		switch {
		case c.collation == "":
			typ = fmt.Sprintf("varbinary(%d)", usualKey) // bytes need not be text in any character set
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
	stricter.asKey = exactly
	p.columns[c.name] = stricter
	for _, o := range p.linked[c.name] {
		if there, ok := p.columns[o.column]; ok && strings.EqualFold(o.table, tableOf(t)) {
			there.collation, there.asKey = stricter.collation, exactly
			p.columns[o.column] = there
		}
	}
	if len(p.linked[c.name]) == 0 {
		return []string{strings.TrimRight(fmt.Sprintf("%sMODIFY %s %s %s", m.alter(t), m.quote1(c.name), retyped(c.typ), c.definition), " ")}
	}
	return m.relinked(p, c, func(o linked) string { return retyped(o.typ) })
}

// relinked changes a column, and all columns that foreign keys tie to it, while the keys are
// dropped. retyped returns the new type of a column, with its character set and collation.
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

// readLinked reads the definitions of the table's text columns that are in foreign keys, and of all
// columns that the keys tie to them.
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
						if l.pairs(k, group[i]) && !slices.Contains(group, o) {
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

// pairs reports whether a column is in the k-th pair of columns of a foreign key.
func (l link) pairs(k int, o linked) bool {
	return l.schema == o.schema && l.table == o.table && l.columns[k] == o.column || l.toSchema == o.schema && l.other == o.table && l.toColumns[k] == o.column
}
