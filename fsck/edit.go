package fsck

import (
	"context"
	"fmt"
	"strings"
)

// editor changes rows of one tree within one transaction. In a dry run it changes the overlay
// instead.
type editor struct {
	*session
	placing
	known *known
	tree  Key
	// transaction is the number of the transaction in its run.
	transaction int
	changes     []Change
	// careful is set if the database refused something in the transaction before.
	careful bool
	// aside are the paths that rows have until their right ones are written.
	aside map[cell]string
	// skips are the rows that stay as they are.
	skips []Skip
}

// placing says where a repair puts orphans and broken cycles: below a row with the name
// lostFoundName, or at the top of the tree.
type placing struct {
	lostFoundName string
	toTop         bool
}

// cell is a column of a row.
type cell struct {
	key    Key
	column string
}

// assignment gives a column a new value.
type assignment struct {
	column   string
	old, new any
}

// note records changes of a row.
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

// argument returns the value of a change as an argument of a statement.
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
