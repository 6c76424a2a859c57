package treeschema

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Long is a column in which some rows have more characters than the model allows.
type Long struct {
	Table, Column string
	// Size is the number of characters that the model allows, Longest the number in the longest
	// row.
	Size, Longest int
}

// String says where the texts are.
func (l Long) String() string {
	return fmt.Sprintf("%s.%s: up to %d characters, the model says %d", l.Table, l.Column, l.Longest, l.Size)
}

// TooLong returns the columns of names, paths and ids in which rows have more characters than the
// models allow. A table that does not exist yet, or lacks a column, has none.
func TooLong(ctx context.Context, conn Conn, dialectName string, tables []Table) ([]Long, error) {
	var all []Long
	err := eachTable(ctx, conn, dialectName, tables, func(c *checker) error {
		t := c.table
		for _, text := range append(t.texts(), t.Keys...) {
			col, there := c.physical.columns[text.Column]
			// Mostly the catalogue alone proves that nothing can be too long. SQLite ignores sizes.
			if !there || text.Size == 0 || col.length > 0 && col.length <= text.Size || c.name() == "sqlite" || col.collation == "" {
				continue
			}
			records, err := ask(ctx, conn, fmt.Sprintf("SELECT COALESCE(MAX(CHAR_LENGTH(%s)), 0) AS longest FROM %s", c.quote(text.Column), c.quote(t.Table)))
			if err != nil {
				return fmt.Errorf("treeschema: measuring %s.%s: %w", t.Table, text.Column, err)
			}
			if longest, _ := strconv.Atoi(records[0]["longest"]); longest > text.Size {
				all = append(all, Long{Table: t.Table, Column: text.Column, Size: text.Size, Longest: longest})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// setStrict makes a MySQL session refuse what a column has no room for.
const setStrict = "SET SESSION sql_mode = CONCAT_WS(',', 'STRICT_ALL_TABLES', NULLIF(@@SESSION.sql_mode, ''))"

// keepHistory lets a MariaDB statement change a system-versioned table, and keeps its old rows.
const keepHistory = "SET STATEMENT system_versioning_alter_history = 'KEEP' FOR "

// sparesRows makes sure that no statement truncates a value. It withdraws the statements that make
// a column too short for existing rows, and those that build on them. before are the columns as
// they are, physical has them as the statements leave them.
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

// withdraw replaces the statements that shorten a column, and those that build on them, by advice.
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
