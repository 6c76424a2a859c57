package treeschema

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// setStrict makes a session of MySQL refuse what a column has no room for.
const setStrict = "SET SESSION sql_mode = CONCAT_WS(',', 'STRICT_ALL_TABLES', NULLIF(@@SESSION.sql_mode, ''))"

// keepHistory lets a statement of MariaDB change a table with its old rows, which stay.
const keepHistory = "SET STATEMENT system_versioning_alter_history = 'KEEP' FOR "

// sparesRows sees to it that no statement cuts anything off: it withdraws those that make a column
// too short for rows that are there, and those that build on them. before are the columns as they
// are, physical has them as the statements leave them behind.
func (c *checker) sparesRows(ctx context.Context, before map[string]column) error {
	for _, name := range slices.Sorted(maps.Keys(before)) {
		was, is := before[name], c.physical.columns[name]
		if is.length == 0 || !isLong(was) && was.length <= is.length {
			continue
		}
		records, err := ask(ctx, c.conn, fmt.Sprintf("SELECT COUNT(*) AS too_long FROM %s WHERE CHAR_LENGTH(%s) > %d", c.quote(c.table.Table), c.quote(name), is.length))
		if err != nil {
			return fmt.Errorf("treeschema: measuring %s.%s: %w", c.table.Table, name, err)
		}
		if records[0]["too_long"] != "0" {
			c.withdraw(name, fmt.Sprintf("shorten %s to %d characters in %s rows first: an index holds no more", name, is.length, records[0]["too_long"]))
		}
	}
	for i, f := range c.findings {
		if c.physical.lax && slices.ContainsFunc(f.Statements, func(s string) bool { return strings.Contains(s, " MODIFY ") }) {
			c.findings[i].Statements = append([]string{setStrict}, f.Statements...)
		}
		for k, s := range c.findings[i].Statements {
			if c.physical.versioned && strings.HasPrefix(s, "ALTER TABLE "+c.quote(c.table.Table)+" ") {
				c.findings[i].Statements[k] = keepHistory + s
			}
		}
	}
	return nil
}

// withdraw puts advice in the place of the statements that shorten a column, and of those that
// follow.
func (c *checker) withdraw(name, advice string) {
	shortens, name := "MODIFY "+c.quote(name)+" var", c.quote(name)
	withdrawn := false
	for i, f := range c.findings {
		withdrawn = withdrawn || slices.ContainsFunc(f.Statements, func(s string) bool { return strings.Contains(s, shortens) })
		if withdrawn && slices.ContainsFunc(f.Statements, func(s string) bool { return strings.Contains(s, name) }) {
			c.findings[i].Statements, c.findings[i].Advice = nil, advice
		}
	}
}
