package fsck

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock/internal/treerow"
)

// inspect asks the database for the columns' types and lengths.
func (c *catalogue) inspect(ctx context.Context) error {
	t := c.table
	c.kinds, c.padded, c.limits = make(map[string]treerow.Kind), make(map[string]bool), make(map[string]limit)
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
	rows, err := c.db.QueryContext(ctx, "SELECT "+strings.Join(quoted, ", ")+" FROM "+c.dialect.quote(t.Table)+" AS c WHERE 1 = 0")
	if err != nil {
		return c.culprit(ctx, err)
	}
	defer func() { _ = rows.Close() }()
	types, err := rows.ColumnTypes()
	if err != nil {
		return fmt.Errorf("%w %q: %w", ErrTable, t.Table, err)
	}
	for i, column := range types {
		c.kinds[present[i]] = treerow.KindOf(column.DatabaseTypeName())
		c.padded[present[i]] = column.DatabaseTypeName() == "BPCHAR" // PostgreSQL's CHAR(n)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil { // the pool may have one connection only
		return fmt.Errorf("%w %q: %w", ErrTable, t.Table, err)
	}
	if c.dialect == SQLite {
		return c.inspectIndexes(ctx) // its columns have no limits
	}
	if err := c.inspectSecurity(ctx); err != nil {
		return err
	}
	if err := c.inspectLimits(ctx); err != nil {
		return fmt.Errorf("%w %q: the columns' lengths: %w", ErrTable, t.Table, err)
	}
	return nil
}

// inspectSecurity refuses a table if PostgreSQL hides some of its rows from the role. A repair
// would take hidden parents for missing ones, and move sound rows.
func (c *catalogue) inspectSecurity(ctx context.Context) error {
	if c.dialect != PostgreSQL {
		return nil
	}
	var hides sql.NullBool
	if err := c.db.QueryRowContext(ctx, "SELECT row_security_active(to_regclass($1))", c.dialect.quote(c.table.Table)).Scan(&hides); err != nil {
		return fmt.Errorf("%w %q: its policies: %w", ErrTable, c.table.Table, err)
	}
	if hides.Bool {
		return fmt.Errorf("%w %q: row-level security may hide rows from this role: connect as the table's owner, or as a role with BYPASSRLS", ErrTable, c.table.Table)
	}
	return nil
}

// inspectIndexes looks for an index that begins with the parent. SQLite does not choose it unasked.
func (c *catalogue) inspectIndexes(ctx context.Context) error {
	name := c.table.Table[strings.LastIndexByte(c.table.Table, '.')+1:]
	query := `SELECT COUNT(*) > 0 FROM pragma_index_list(?) AS l JOIN pragma_index_info(l.name) AS i
		WHERE l.partial = 0 AND i.seqno = 0 AND LOWER(i.name) = LOWER(?)`
	if err := c.db.QueryRowContext(ctx, query, name, c.table.Parent).Scan(&c.parentFirst); err != nil {
		return fmt.Errorf("%w %q: its indexes: %w", ErrTable, c.table.Table, err)
	}
	return nil
}

// culprit finds out what err is about: a column that the table does not have, or the table itself.
func (c *catalogue) culprit(ctx context.Context, err error) error {
	table := " FROM " + c.dialect.quote(c.table.Table) + " AS c WHERE 1 = 0"
	if failed := c.probe(ctx, "SELECT 1"+table); failed != nil {
		return fmt.Errorf("%w %q: %w", ErrTable, c.table.Table, failed)
	}
	for _, column := range c.table.described() {
		if column.name == "" {
			continue
		}
		if failed := c.probe(ctx, "SELECT c."+c.dialect.quote(column.name)+table); failed != nil {
			if isNoColumn(failed) {
				failed = fmt.Errorf("%w: %w", ErrNoColumn, failed)
			}
			return fmt.Errorf("%w %q: the %s, %q: %w", ErrTable, c.table.Table, column.what, column.name, failed)
		}
	}
	return fmt.Errorf("%w %q: %w", ErrTable, c.table.Table, err)
}

// probe runs a query without rows.
func (c *catalogue) probe(ctx context.Context, query string) error {
	rows, err := c.db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	return rows.Err()
}

// inspectLimits reads how long names and paths may be. On MySQL, it also reads the columns' types.
func (c *catalogue) inspectLimits(ctx context.Context) error {
	schema, name := "", c.table.Table
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		schema, name = name[:i], name[i+1:]
	}
	query := `SELECT column_name, data_type, character_maximum_length, character_octet_length FROM information_schema.columns WHERE table_name = ? AND table_schema = `
	args := []any{name}
	switch {
	case c.dialect == PostgreSQL: // in any schema of the search path
		query += "(SELECT n.nspname FROM pg_class AS t JOIN pg_namespace AS n ON n.oid = t.relnamespace WHERE t.oid = to_regclass(?))"
		args = append(args, c.dialect.quote(c.table.Table))
	case schema != "":
		query += "?"
		args = append(args, schema)
	default:
		query += "DATABASE()"
	}
	rows, err := c.db.QueryContext(ctx, c.dialect.bind(query), args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var column, kind string
		var characters, octets sql.NullInt64
		if err := rows.Scan(&column, &kind, &characters, &octets); err != nil {
			return err
		}
		if c.dialect == MySQL { // the driver does not know MariaDB's UUID
			c.kinds[column] = treerow.KindOf(kind)
			c.pads = c.pads || strings.EqualFold(kind, "char")
		}
		c.limits[column] = limit{characters.Int64, octets.Int64}
	}
	return rows.Err()
}
