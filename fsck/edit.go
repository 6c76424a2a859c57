package fsck

import (
	"context"
	"fmt"
	"strings"
)

// editor changes rows within one transaction; in a dry run it changes the overlay instead.
type editor struct {
	*session
	// placing says where what has no place goes.
	placing
	known *known
	tree  Key
	// transaction is the number that changes are noted under.
	transaction int
	changes     []Change
	// careful is set where a unique index refused the transaction before; aside has the paths that
	// it has put aside.
	careful bool
	aside   map[value]string
	// skips are the rows that stay as they are.
	skips []Skip
}

// placing says where a repair puts what has no place.
type placing struct {
	// lostFoundName is the name of the row that gets it, unless toTop says that the top of the tree
	// does.
	lostFoundName string
	toTop         bool
}

// value is a column of a row.
type value struct {
	key    Key
	column string
}

// assignment is a column's new value.
type assignment struct {
	column   string
	old, new any
}

// note records a change.
func (e *editor) note(r *row, why Kind, insert bool, set ...assignment) {
	for _, a := range set {
		e.changes = append(e.changes, Change{
			Transaction: e.transaction, Table: e.table.Table, Tree: r.tree, ID: r.key,
			Insert: insert, Column: a.column, Old: logged(a.old), New: logged(a.new), Why: why,
		})
	}
}

// update changes columns of a row.
func (e *editor) update(ctx context.Context, r *row, why Kind, set ...assignment) error {
	e.note(r, why, false, set...)
	if e.plan != nil {
		return nil
	}
	var columns []string
	var args []any
	for _, a := range set {
		columns = append(columns, e.dialect.quote(a.column)+" = ?")
		args = append(args, argument(a.new))
	}
	if e.table.Version != "" {
		version := e.dialect.quote(e.table.Version)
		columns = append(columns, version+" = "+version+" + 1")
	}
	query := fmt.Sprintf("UPDATE %s SET %s WHERE %s = ?", e.dialect.quote(e.table.Table), strings.Join(columns, ", "), e.dialect.quote(e.table.Key))
	if _, err := e.tx.ExecContext(ctx, e.dialect.bind(query), append(args, r.key.arg())...); err != nil {
		return fmt.Errorf("fsck: change row %v of %s: %w", r.key, e.table.Table, err)
	}
	return nil
}

// argument returns a change's value as an argument of a statement.
func argument(v any) any {
	if k, ok := v.(Key); ok {
		return k.arg()
	}
	return v
}

func (e *editor) command(ctx context.Context, statement string) error {
	if _, err := e.tx.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("fsck: repair %s: %w", e.table.Table, err)
	}
	return nil
}
