package treeschema

import (
	"context"
	"slices"
	"strings"
)

// link is a foreign key of MySQL.
type link struct {
	name                           string
	schema, table, toSchema, other string
	columns, toColumns             []string
	onDelete, onUpdate             string
}

// readKeys reads the foreign keys from the catalogue.
func (m mysql) readKeys(ctx context.Context, conn Conn, p *physical, table string) error {
	records, err := askFile(ctx, conn, "mysql_keys.sql", p.schema, p.schema)
	if err != nil {
		return err
	}
	for _, r := range records {
		n := len(p.links)
		if n == 0 || p.links[n-1].name != r["name"] || p.links[n-1].schema != r["table_schema"] || p.links[n-1].table != r["tbl"] {
			p.links = append(p.links, link{
				name: r["name"], schema: r["table_schema"], table: r["tbl"], toSchema: r["to_schema"], other: r["to_table"],
				onDelete: r["on_delete"], onUpdate: r["on_update"],
			})
			n++
		}
		l := &p.links[n-1]
		l.columns, l.toColumns = append(l.columns, r["column_name"]), append(l.toColumns, r["to_column"])
	}
	p.referring = make(map[string]bool)
	for _, l := range p.links {
		if l.schema != p.schema || !strings.EqualFold(l.table, table) {
			continue
		}
		for _, c := range l.columns {
			p.referring[c] = true
		}
		if actions := l.actions(); actsByItself(actions) {
			p.foreignKeys = append(p.foreignKeys, foreignKey{
				name: l.name, columns: l.columns, actions: strings.TrimSpace(actions), empties: empties(actions), plain: l.definition(m),
			})
		}
	}
	return nil
}

// actions are the key's actions, apart from the default ones.
func (l link) actions() string {
	actions := ""
	for _, a := range [][2]string{{" ON DELETE ", l.onDelete}, {" ON UPDATE ", l.onUpdate}} {
		if !slices.Contains([]string{"RESTRICT", "NO ACTION"}, a[1]) {
			actions += a[0] + a[1]
		}
	}
	return actions
}

// definition is the constraint without its name and its actions.
func (l link) definition(m mysql) string {
	to := m.quote1(l.other)
	if l.toSchema != l.schema {
		to = m.quote1(l.toSchema) + "." + to
	}
	return "FOREIGN KEY (" + quoted(m, l.columns) + ") REFERENCES " + to + " (" + quoted(m, l.toColumns) + ")"
}

// touches reports whether the key contains a column, or refers to it.
func (l link) touches(schema, table, column string) bool {
	return l.schema == schema && strings.EqualFold(l.table, table) && slices.Contains(l.columns, column) ||
		l.toSchema == schema && strings.EqualFold(l.other, table) && slices.Contains(l.toColumns, column)
}
