package fsck

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// session reads the table, mostly within one transaction.
type session struct {
	*catalogue
	// tx is the transaction; nil if each statement takes its own connection.
	tx querier
	// locks is set if reading a row locks it.
	locks bool
	// plan has, in a dry run, the changes so far.
	plan *overlay
}

// querier is a transaction or a connection.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// selectRows begins the queries of [session.rows]: c is the row, p its parent.
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

// joinParent joins the parent p of the row c. It makes PostgreSQL look each parent up, since its
// planner may prefer to merge a few rows with the whole index.
func (c *catalogue) joinParent(table, key, parent string) string {
	if c.dialect == PostgreSQL {
		return fmt.Sprintf("LEFT JOIN LATERAL (SELECT * FROM %s AS p WHERE %s = %s OFFSET 0) AS p ON TRUE", table, key, parent)
	}
	return fmt.Sprintf("LEFT JOIN %s AS p ON %s = %s", table, key, parent)
}

// page returns the next rows in the order of their keys. It returns an error if a key is not
// unique: a repair must not go by another column.
func (s *session) page(ctx context.Context, tree Key, after *Key, size int) ([]*row, error) {
	cols := s.columnsAs("c")
	column := cols.tree
	if s.dialect == SQLite {
		column = "+" + column // keeps SQLite from using an index of the tree
	}
	inTree, args := s.inTree(column, tree)
	query := s.selectRows(true, s.dialect.byPrimaryKey()) + " WHERE " + cols.live + inTree
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

// chunk is the most keys that one statement asks for.
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

// byKey returns the live row with the key, or nil.
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
		r.name, r.nullName = s.unpadded(t.Name, name).String, !name.Valid
		r.path, r.idPath = s.unpadded(t.Path, r.path), s.unpadded(t.IDPath, r.idPath)
		// A row without a tree is another kind of problem.
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
			return s.readError(err)
		}
		defer giveBack()
		in = conn
	}
	rows, err := in.QueryContext(ctx, s.dialect.bind(query), args...)
	if err != nil {
		return s.readError(err)
	}
	defer func() {
		if closed := rows.Close(); err == nil {
			err = s.readError(closed)
		}
	}()
	scan := func(to ...any) error { return s.readError(rows.Scan(to...)) }
	for rows.Next() {
		if err := f(scan); err != nil {
			return err
		}
	}
	return s.readError(rows.Err())
}

// readError says that the table could not be read.
func (s *session) readError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("fsck: read %s: %w", s.table.Table, err)
}

// eachKey runs a query that selects a column of keys, and calls f for each.
func (s *session) eachKey(ctx context.Context, query string, args []any, column string, f func(Key)) error {
	return s.each(ctx, query, args, func(scan func(...any) error) error {
		var value any
		if err := scan(&value); err != nil {
			return err
		}
		key, err := s.readKey(column, value)
		if err == nil {
			f(key)
		}
		return err
	})
}

// inTree is the end of a condition that restricts rows to a tree; "" for the zero Key.
func (s *session) inTree(column string, tree Key) (condition string, args []any) {
	if tree.IsZero() {
		return "", nil
	}
	return " AND " + column + " = ?", []any{s.treeArg(tree)}
}
