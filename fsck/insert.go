package fsck

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock/internal/treerow"
)

// errImpossible: no lost+found can be created, though the database would allow it.
var errImpossible = errors.New("impossible")

// keyIsNumber reports whether keys are numbers, which the database generates.
func (c *catalogue) keyIsNumber() bool { return c.kinds[c.table.Key] == treerow.Number }

// insertUnknown inserts a row under a key that no row names as its parent. The database may
// generate the key of a missing row again, and the orphans below that one would become children of
// the new row.
func (e *editor) insertUnknown(ctx context.Context, r *row, set []assignment) error {
	table, key, parent := e.dialect.quote(e.table.Table), e.dialect.quote(e.table.Key), e.dialect.quote(e.table.Parent)
	for {
		if err := e.insert(ctx, r, set); err != nil {
			return err
		}
		named := false
		query := e.dialect.bind(fmt.Sprintf("SELECT 1 FROM %s WHERE %s = ? LIMIT 1", table, parent))
		if err := e.each(ctx, query, []any{r.key.arg()}, func(func(...any) error) error {
			named = true
			return nil
		}); err != nil || !named {
			return err
		}
		if !e.keyIsNumber() {
			return fmt.Errorf("%w: rows name %v as their parent", errImpossible, r.key)
		}
		if _, err := e.tx.ExecContext(ctx, e.dialect.bind(fmt.Sprintf("DELETE FROM %s WHERE %s = ?", table, key)), r.key.arg()); err != nil {
			return err
		}
		if e.dialect == SQLite { // without AUTOINCREMENT it would generate the same key again
			query := fmt.Sprintf("SELECT 1 + MAX(COALESCE(MAX(%s), 0), COALESCE(MAX(%s), 0)) FROM %s", key, parent, table)
			var next int64
			if err := e.each(ctx, query, nil, func(scan func(...any) error) error { return scan(&next) }); err != nil {
				return err
			}
			r.key = IntKey(next)
			set = append(set[:len(set):len(set)], assignment{column: e.table.Key, new: r.key})
		}
	}
}

// insert inserts a row and sets its key.
func (e *editor) insert(ctx context.Context, r *row, set []assignment) error {
	var columns []string
	var args []any
	for _, a := range set {
		columns = append(columns, e.dialect.quote(a.column))
		args = append(args, argument(a.new))
	}
	query := e.dialect.bind(fmt.Sprintf("INSERT INTO %s (%s) VALUES (?%s)", e.dialect.quote(e.table.Table), strings.Join(columns, ", "), strings.Repeat(", ?", len(set)-1)))
	if e.dialect == PostgreSQL {
		return e.each(ctx, query+" RETURNING "+e.dialect.quote(e.table.Key), args, func(scan func(...any) error) (err error) {
			var value any
			if err = scan(&value); err == nil {
				r.key, err = e.readKey(e.table.Key, value)
			}
			return err
		})
	}
	result, err := e.tx.ExecContext(ctx, query, args...)
	if err != nil || !e.keyIsNumber() {
		return err
	}
	id, err := result.LastInsertId()
	r.key = IntKey(id)
	if id < 0 && e.dialect == MySQL { // an unsigned number beyond int64
		r.key = Key{uint64(id)}
	}
	if err != nil {
		return fmt.Errorf("its key: %w", err)
	}
	return nil
}
