package fsck

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// forest is the table in memory, as it was at one instant.
type forest struct {
	*catalogue
	// rows are the live rows, in the order of their keys. deleted are the others, if they were
	// asked for.
	rows, deleted []*row
	byKey         map[Key]*row
	// leafRows are the live leaves of live rows.
	leafRows []*row
	// roots has the root row of each tree. Of several root rows, the one with the smallest key
	// counts.
	roots map[Key]*row
	// cycles has the rows of each cycle by the one with the smallest key.
	cycles map[*row][]*row
	// alike has, by row, the sibling with the smallest key whose name the database treats as equal.
	alike map[*row]*row
}

// read reads the table, or one of its trees, as it is at one instant.
func (c *catalogue) read(ctx context.Context, tree Key, withDeleted bool) (*forest, error) {
	f := &forest{catalogue: c, byKey: make(map[Key]*row), roots: make(map[Key]*row), alike: make(map[*row]*row)}
	err := c.dialect.Read(ctx, c.db, func(tx *sql.Tx) error { return f.readAll(ctx, tx, tree, withDeleted) })
	if err != nil {
		return nil, err
	}
	f.locate()
	return f, nil
}

// readAll reads the table, and how its rows hang together.
func (f *forest) readAll(ctx context.Context, tx *sql.Tx, tree Key, withDeleted bool) error {
	above, err := f.readRows(ctx, tx, tree, withDeleted)
	if err != nil {
		return err
	}
	for i, r := range f.rows {
		if r.up = f.byKey[above[i]]; r.up == nil && r.fault == faultNone && !r.isTop() {
			return f.noTree(r.parent)
		}
		if r.isRoot() && f.roots[r.tree] == nil {
			f.roots[r.tree] = r
		}
	}
	if err := f.readAlike(ctx, tx, tree); err != nil {
		return err
	}
	for _, leaf := range f.leaves {
		if err := f.readLeaves(ctx, tx, leaf, tree); err != nil {
			return err
		}
	}
	return nil
}

func (f *forest) noTree(key Key) error {
	return fmt.Errorf("%w %q: row %v has no %q: give each row the tree of the rows above it", ErrTable, f.table.Table, key, f.table.Tree)
}

// among returns the end of a query, which restricts the rows c to those of a tree, and to live ones
// unless withDeleted is set.
func (c *catalogue) among(tree Key, withDeleted bool) (condition string, args []any) {
	cols := c.columnsAs("c")
	condition = "WHERE 1 = 1"
	if !withDeleted {
		condition = "WHERE " + cols.live
	}
	switch {
	case tree.IsZero(), tree.String() == c.table.SingleTree:
	case c.table.Tree == "":
		condition += " AND 1 = 0"
	default:
		condition, args = condition+" AND "+cols.tree+" = ?", []any{c.treeArg(tree)}
	}
	return condition, args
}

// readRows reads the rows, and returns the keys of the rows above them, by their order. The
// database decides which row a parent names, since it may treat two spellings of a key as equal.
func (f *forest) readRows(ctx context.Context, tx *sql.Tx, tree Key, withDeleted bool) (above []Key, err error) {
	where, args := f.among(tree, withDeleted)
	table, c, p := f.dialect.Quote(f.table.Table), f.columnsAs("c"), f.columnsAs("p")
	query := fmt.Sprintf(`SELECT %s, CASE WHEN %s THEN 1 ELSE 0 END, %s,
		CASE WHEN %s IS NULL THEN %d WHEN NOT (%s) THEN %d WHEN %s THEN %d ELSE %d END
		FROM %s AS c LEFT JOIN %s AS p ON %s = %s %s ORDER BY %s`,
		c.all, c.live, p.key,
		p.key, faultMissing, p.live, faultDeleted, p.tree+" <> "+c.tree, faultForeign, faultNone,
		table, table, p.key, c.parent, where, c.key)
	last := Key{}
	err = f.each(ctx, tx, query, args, func(rows *sql.Rows) error {
		r := &row{order: int32(len(f.rows))} //nolint:gosec // memory ends before
		live := 0
		var up any
		if err := f.scan(rows, r, &live, &up, &r.fault); err != nil {
			return err
		}
		if r.key == last {
			return fmt.Errorf("%w %q: the key column, %q, has %v in several rows", ErrTable, f.table.Table, f.table.Key, r.key)
		}
		last = r.key
		if live == 0 {
			f.deleted = append(f.deleted, r)
			return nil
		}
		if r.tree.String() == "" {
			return f.noTree(r.key)
		}
		if err := f.checkKey(r.key); err != nil {
			return fmt.Errorf("%w %q: row %v cannot be in a path of ids: %w", ErrTable, f.table.Table, r.key, err)
		}
		key, err := f.readKey(f.table.Key, up)
		if err != nil {
			return err
		}
		if r.isTop() {
			r.fault = faultNone
		}
		f.rows, above, f.byKey[r.key] = append(f.rows, r), append(above, key), r
		return nil
	})
	return above, err
}

// readAlike finds siblings whose names differ, but are equal to the database. Only the database
// knows its collations.
func (f *forest) readAlike(ctx context.Context, tx *sql.Tx, tree Key) error {
	c := f.columnsAs("c")
	where, args := f.among(tree, false)
	query := fmt.Sprintf(`SELECT x.k, x.first FROM (
			SELECT %[1]s AS k, FIRST_VALUE(%[1]s) OVER w AS first, ROW_NUMBER() OVER w AS n FROM %[2]s AS c %[3]s AND %[4]s IS NOT NULL
			WINDOW w AS (PARTITION BY %[5]s, CASE WHEN %[6]s THEN NULL ELSE %[7]s END, %[4]s ORDER BY %[1]s)
		) AS x WHERE x.n > 1`, c.key, f.dialect.Quote(f.table.Table), where, c.name, c.tree, c.isTop, c.parent)
	return f.each(ctx, tx, query, args, func(rows *sql.Rows) error {
		var values [2]any
		if err := rows.Scan(&values[0], &values[1]); err != nil {
			return err
		}
		key, failed := f.readKey(f.table.Key, values[0])
		first, alsoFailed := f.readKey(f.table.Key, values[1])
		if err := errors.Join(failed, alsoFailed); err != nil {
			return err
		}
		if r, first := f.byKey[key], f.byKey[first]; r != nil && first != nil && r.name != first.name && !r.isRoot() && !first.isRoot() {
			f.alike[r] = first
		}
		return nil
	})
}

// each runs a query and calls f for each row of its answer.
func (c *catalogue) each(ctx context.Context, tx *sql.Tx, query string, args []any, f func(*sql.Rows) error) (err error) {
	defer func() {
		if err != nil && !errors.Is(err, ErrTable) {
			err = fmt.Errorf("fsck: read %s: %w", c.table.Table, err)
		}
	}()
	rows, err := tx.QueryContext(ctx, c.dialect.Bind(query), args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
