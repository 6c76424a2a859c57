package fsck

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// session reads the table within one transaction.
type session struct {
	*catalogue
	// tx is what it reads in; nil where each statement may have a connection of its own.
	tx querier
	// locks is set where rows are locked as they are read.
	locks bool
	// plan, in a dry run, has what would have been changed.
	plan *overlay
}

// querier is a transaction or a connection.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// selectRows begins every query for rows: c is the row, p its parent.
func (c *catalogue) selectRows(withPaths bool, hint string) string {
	row, parent := c.columnsAs("c"), c.columnsAs("p")
	path, idPath := "NULL", "NULL"
	if withPaths {
		path, idPath = row.path, row.idPath
	}
	table := c.dialect.quote(c.table.Table)
	return fmt.Sprintf(`SELECT %s, %s, %s, %s, %s, %s, %s,
		CASE WHEN %s IS NULL THEN 1 WHEN NOT (%s) THEN 2 WHEN %s THEN 3 ELSE 0 END
		FROM %s AS c%s %s`,
		row.key, row.tree, row.parent, row.name, path, idPath, parent.key,
		parent.key, parent.live, c.dialect.differs(parent.tree, row.tree),
		table, hint, c.joinParent(table, parent.key, row.parent))
}

// joinParent joins the parent p of the row c, by its key. PostgreSQL, whose planner may think that
// a few rows are best merged with the whole index, is made to look each parent up.
func (c *catalogue) joinParent(table, key, parent string) string {
	if c.dialect == PostgreSQL {
		return fmt.Sprintf("LEFT JOIN LATERAL (SELECT * FROM %s AS p WHERE %s = %s OFFSET 0) AS p ON TRUE", table, key, parent)
	}
	return fmt.Sprintf("LEFT JOIN %s AS p ON %s = %s", table, key, parent)
}

// page returns the next rows in order of their keys. That these are keys is looked at, so that
// nothing is repaired by another column.
func (s *session) page(ctx context.Context, tree Key, after *Key, size int) ([]*row, error) {
	cols := s.columnsAs("c")
	query := s.selectRows(true, s.dialect.byPrimaryKey()) + " WHERE " + cols.live
	var args []any
	if !tree.IsZero() {
		query += " AND " + cols.tree + " = ?"
		if s.dialect == SQLite {
			query = strings.TrimSuffix(query, cols.tree+" = ?") + "+" + cols.tree + " = ?" // not by an index
		}
		args = append(args, s.treeArg(tree))
	}
	if after != nil {
		query += " AND " + cols.key + " > ?"
		args = append(args, after.arg())
	}
	rows, err := s.rows(ctx, fmt.Sprintf("%s ORDER BY %s LIMIT %d", query, cols.key, size), args...)
	for i := 1; i < len(rows); i++ {
		if rows[i].key == rows[i-1].key {
			return nil, fmt.Errorf("%w %q: the key column, %q, has %v in several rows", ErrTable, s.table.Table, s.table.Key, rows[i].key)
		}
	}
	return rows, err
}

// chunk is how many keys one statement asks for.
const chunk = 500

// byKeys returns the live rows with the given keys, in no particular order.
func (s *session) byKeys(ctx context.Context, keys []Key, withPaths bool) ([]*row, error) {
	cols := s.columnsAs("c")
	var found []*row
	for part := range slices.Chunk(keys, chunk) {
		args := make([]any, 0, len(part))
		for _, k := range part {
			if planned := s.plan.row(k); planned != nil {
				found = append(found, planned)
				continue
			}
			args = append(args, k.arg())
		}
		if len(args) == 0 {
			continue
		}
		query := fmt.Sprintf("%s WHERE %s AND %s IN (?%s)", s.selectRows(withPaths, ""), cols.live, cols.key, strings.Repeat(", ?", len(args)-1))
		if s.locks {
			query += s.dialect.lock("c")
		}
		rows, err := s.rows(ctx, query, args...)
		if err != nil {
			return nil, err
		}
		found = append(found, rows...)
	}
	return found, nil
}

// byKey returns one live row, or nil.
func (s *session) byKey(ctx context.Context, key Key) (*row, error) {
	found, err := s.byKeys(ctx, []Key{key}, true)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// rows runs a query that selectRows begins.
func (s *session) rows(ctx context.Context, query string, args ...any) (found []*row, err error) {
	err = s.each(ctx, query, args, func(scan func(...any) error) error {
		r := new(row)
		var key, tree, parent, above any
		var name sql.NullString
		if err := scan(&key, &tree, &parent, &name, &r.path, &r.idPath, &above, &r.fault); err != nil {
			return err
		}
		t := s.table
		for _, k := range []struct {
			to     *Key
			column string
			from   any
		}{{&r.key, t.Key, key}, {&r.tree, t.Tree, tree}, {&r.parent, t.Parent, parent}, {&r.above, t.Key, above}} {
			if *k.to, err = s.readKey(k.column, k.from); err != nil {
				return err
			}
		}
		r.name, r.nameless = s.unpadded(t.Name, name).String, !name.Valid
		r.path, r.idPath = s.unpadded(t.Path, r.path), s.unpadded(t.IDPath, r.idPath)
		// A row in no tree is another kind of problem.
		if r.isTop() || r.fault == faultForeign && (!r.hasTree() || s.plan.isIn(r.above, r.tree)) {
			r.fault = faultNone
		}
		if r.fault != faultNone || r.isTop() {
			r.above = Key{}
		}
		found = append(found, s.plan.patch(r))
		return nil
	})
	return found, err
}

// each runs a query and calls f for each row of its answer.
func (s *session) each(ctx context.Context, query string, args []any, f func(scan func(...any) error) error) (err error) {
	in := s.tx
	if in == nil {
		conn, giveBack, err := s.connect(ctx)
		if err != nil {
			return fmt.Errorf("fsck: read %s: %w", s.table.Table, err)
		}
		defer giveBack()
		in = conn
	}
	rows, err := in.QueryContext(ctx, s.dialect.bind(query), args...)
	if err != nil {
		return fmt.Errorf("fsck: read %s: %w", s.table.Table, err)
	}
	defer func() {
		if closed := rows.Close(); err == nil && closed != nil {
			err = fmt.Errorf("fsck: read %s: %w", s.table.Table, closed)
		}
	}()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("fsck: read %s: %w", s.table.Table, err)
	}
	return nil
}
