package fsck

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// limit is how long the texts of a column may be; 0 is no limit.
type limit struct{ characters, bytes int64 }

// inspect asks the database for the columns' types.
func (c *Checker) inspect(ctx context.Context) error {
	t := c.table
	if err := c.db.PingContext(ctx); err != nil {
		return fmt.Errorf("fsck: connect to the database: %w", err)
	}
	var present, quoted []string
	for _, column := range t.described() {
		if column.name != "" {
			present = append(present, column.name)
			quoted = append(quoted, "c."+c.dialect.quote(column.name))
		}
	}
	rows, err := c.db.QueryContext(ctx, "SELECT "+strings.Join(quoted, ", ")+" FROM "+c.dialect.quote(t.Name)+" AS c WHERE 1 = 0")
	if err != nil {
		return c.culprit(ctx, err)
	}
	defer func() { _ = rows.Close() }()
	types, err := rows.ColumnTypes()
	if err != nil {
		return fmt.Errorf("%w %q: %w", ErrTable, t.Name, err)
	}
	for i, column := range types {
		name := present[i]
		kind := strings.ToUpper(column.DatabaseTypeName())
		switch name {
		case t.Parent:
			switch {
			case strings.Contains(kind, "INT"):
				c.zeroParent = "0"
			case strings.Contains(kind, "CHAR"), strings.Contains(kind, "TEXT"):
				c.zeroParent = "''"
			}
		case t.Tree:
			c.treeIsNumber = strings.Contains(kind, "INT")
		case t.Key:
			c.keyIsUUID = kind == "UUID"
			c.keyIsNumber = strings.Contains(kind, "INT")
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%w %q: %w", ErrTable, t.Name, err)
	}
	if c.dialect == SQLite {
		return nil // its columns have no limits
	}
	return c.inspectLimits(ctx)
}

// culprit says which part of the description err is about: a column that the table does not have, or the table itself.
func (c *Checker) culprit(ctx context.Context, err error) error {
	table := " FROM " + c.dialect.quote(c.table.Name) + " AS c WHERE 1 = 0"
	if failed := c.probe(ctx, "SELECT 1"+table); failed != nil {
		return fmt.Errorf("%w %q: %w", ErrTable, c.table.Name, failed)
	}
	for _, column := range c.table.described() {
		if column.name == "" {
			continue
		}
		if failed := c.probe(ctx, "SELECT c."+c.dialect.quote(column.name)+table); failed != nil {
			return fmt.Errorf("%w %q: the %s, %q: %w", ErrTable, c.table.Name, column.what, column.name, failed)
		}
	}
	return fmt.Errorf("%w %q: %w", ErrTable, c.table.Name, err)
}

// probe runs a query that has no rows.
func (c *Checker) probe(ctx context.Context, query string) error {
	rows, err := c.db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	return rows.Err()
}

// inspectLimits asks how long names and paths may be.
func (c *Checker) inspectLimits(ctx context.Context) error {
	schema, name := "", c.table.Name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		schema, name = name[:i], name[i+1:]
	}
	current := "DATABASE()"
	if c.dialect == PostgreSQL {
		current = "current_schema()"
	}
	query := `SELECT column_name, character_maximum_length, character_octet_length FROM information_schema.columns
		WHERE table_name = ? AND table_schema = ` + current
	args := []any{name}
	if schema != "" {
		query = strings.Replace(query, current, "?", 1)
		args = append(args, schema)
	}
	rows, err := c.db.QueryContext(ctx, c.dialect.bind(query), args...)
	if err != nil {
		return fmt.Errorf("%w %q: the columns' lengths: %w", ErrTable, c.table.Name, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var column string
		var characters, octets sql.NullInt64
		if err := rows.Scan(&column, &characters, &octets); err != nil {
			return fmt.Errorf("%w %q: the columns' lengths: %w", ErrTable, c.table.Name, err)
		}
		c.limits[column] = limit{characters.Int64, octets.Int64}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%w %q: the columns' lengths: %w", ErrTable, c.table.Name, err)
	}
	return nil
}
