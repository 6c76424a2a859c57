package txn

import (
	"context"
	"database/sql"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"gorm.io/gorm"
)

// ExecContext implements [gorm.ConnPool].
func (t *Transaction) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	t.settleRows()
	t.noteWrite(query)
	result, err := t.Tx.ExecContext(ctx, query, args...)
	if err == nil {
		t.ran(query)
	}
	return result, err
}

// QueryContext implements [gorm.ConnPool].
func (t *Transaction) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	t.settleRows()
	t.noteWrite(query)
	rows, err := t.Tx.QueryContext(ctx, query, args...)
	if err == nil {
		t.rows.Store(rows)
	}
	return rows, err
}

// KeepRows keeps the rows that [gorm.DB.Rows] returns, by whichever pool of prepared statements.
func KeepRows(db *gorm.DB) {
	rows, ok := db.Statement.Dest.(*sql.Rows)
	if !ok || rows == nil {
		return
	}
	if h, ok := Unwrapped(db.Statement.ConnPool).(*Handle); ok {
		h.rows.Store(rows)
	}
}

// settleRows looks at how the rows of the query before have ended. GORM hands rows out before they
// are read, so none of its callbacks sees an error that comes then, such as MySQL's 1213, which has
// rolled the transaction back.
func (t *Transaction) settleRows() {
	rows := t.rows.Load()
	if rows == nil {
		return
	}
	if err := rows.Err(); err != nil && t.rows.CompareAndSwap(rows, nil) {
		t.abandonAfter(err)
	}
}

// closeRows closes the rows that somebody has left open before the COMMIT, as that does, too. The
// connection is not free for anything else before.
func (t *Transaction) closeRows() {
	if rows := t.rows.Swap(nil); rows != nil { //nolint:rowserrcheck // Whoever reads them sees what they failed with.
		_ = rows.Close() //nolint:sqlclosecheck // They are closed here for whoever forgot it.
	}
}

// QueryRowContext implements [gorm.ConnPool].
func (t *Transaction) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	t.settleRows()
	t.noteWrite(query)
	return t.Tx.QueryRowContext(ctx, query, args...)
}

// PrepareContext implements [gorm.ConnPool].
func (t *Transaction) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	t.settleRows()
	t.noteWrite(query)
	stmt, err := t.Tx.PrepareContext(ctx, query)
	t.owner.prepared(query, stmt)
	return stmt, err
}

// StmtContext implements [gorm.Tx].
func (t *Transaction) StmtContext(ctx context.Context, stmt *sql.Stmt) *sql.Stmt {
	t.settleRows()
	if !t.owner.onlyReads(stmt) {
		t.wrote.Store(true)
	}
	return t.Tx.StmtContext(ctx, stmt)
}

// noteWrite notes that a statement may write, where somebody wants to know.
func (t *Transaction) noteWrite(query string) {
	if t.before != nil && !t.wrote.Load() && !rawsql.GrammarOf(t.owner.Dialect.Name).OnlyReads(query) {
		t.wrote.Store(true)
	}
}
