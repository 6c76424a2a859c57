package txn

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// begin settles what came before a statement, and returns the context that database/sql gets for
// it. Under the transaction's own context, it looks at the lease's clock once, here: database/sql,
// which would look several times, gets a context that does not.
func (t *Transaction) begin(ctx context.Context) context.Context {
	t.settleRows()
	if ctx == t.given && ctx.Err() == nil && t.live.Err() == nil {
		return t.live // unless the transaction has ended, which database/sql says better
	}
	return ctx
}

// ExecContext implements [gorm.ConnPool].
func (t *Transaction) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	result, err := t.ExecOwn(ctx, query, args...)
	if step, ok := rawsql.PlainSavepoint(query); ok && err == nil {
		t.mu.Lock()
		t.after.take(step)
		t.mu.Unlock()
	}
	return result, err
}

// ExecOwn is ExecContext for a statement that is not about a savepoint.
func (t *Transaction) ExecOwn(ctx context.Context, query string, args ...any) (sql.Result, error) {
	result, err := t.Tx.ExecContext(t.begin(ctx), query, args...)
	t.endBy(err)
	return result, err
}

// QueryContext implements [gorm.ConnPool].
func (t *Transaction) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := t.QueryOwn(ctx, query, args...)
	if err == nil {
		t.rows.Store(rows)
	}
	return rows, err
}

// QueryOwn is QueryContext for rows that the plugin reads at once, and whose error it sees. Another
// goroutine must not look at them meanwhile.
func (t *Transaction) QueryOwn(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	ctx = t.begin(ctx)
	rows, err := t.Tx.QueryContext(ctx, query, args...)
	t.endBy(err)
	return rows, err
}

// KeepRows keeps what [gorm.DB.Rows] and [gorm.DB.Row] return, by whichever pool of prepared
// statements.
func KeepRows(db *gorm.DB) {
	h, ok := Unwrapped(db.Statement.ConnPool).(*Handle)
	if !ok {
		return
	}
	switch found := db.Statement.Dest.(type) {
	case *sql.Rows:
		if found != nil {
			h.rows.Store(found)
		}
	case *sql.Row:
		h.keepRow(found)
	}
}

// keepRow notes a row that is going to be scanned. Its query may have failed already; an error of
// the scan is seen by nobody but the caller.
func (t *Transaction) keepRow(row *sql.Row) {
	t.unseen.Store(true)
	t.endBy(row.Err())
}

// endBy ends the transaction here if an error says that the server has ended it.
func (t *Transaction) endBy(err error) {
	t.noteReadOnly(err)
	if err != nil && t.guard.Dialect.Classify(err) == dialect.FailureEnded {
		t.Fail(fault.Retryable(err))
	}
}

// noteReadOnly notes that an error says that the session only reads.
func (t *Transaction) noteReadOnly(err error) {
	if err != nil && t.guard.Dialect.Classify(err) == dialect.FailureReadOnly {
		t.readOnly.Store(true)
	}
}

// NoteReadOnly notes that a statement has failed because its session only reads, by whichever pool
// of prepared statements.
func NoteReadOnly(db *gorm.DB) {
	if h, ok := Unwrapped(db.Statement.ConnPool).(*Handle); ok {
		h.noteReadOnly(db.Error)
	}
}

// settleRows looks at how the rows of the query before have ended. GORM hands rows out before they
// are read, so none of its callbacks sees an error that comes then, such as MySQL's 1213, which has
// rolled the transaction back. A single row does not tell its error: if the plugin relies on the
// transaction, it then asks the server whether that is still open.
func (t *Transaction) settleRows() {
	if rows := t.rows.Load(); rows != nil {
		d := t.guard.Dialect
		if err := rows.Err(); err != nil && t.rows.CompareAndSwap(rows, nil) {
			t.noteReadOnly(err)
			if t.hasEnded(err) {
				t.Fail(fault.Retryable(err))
			} else if d.Aborts && d.Answered(err) {
				t.abortedBy(err)
			}
		}
	}
	probe := t.guard.Dialect.Probe
	if probe == nil || !t.unseen.Load() {
		return
	}
	if relied, _ := t.reliance(); !relied || !t.unseen.CompareAndSwap(true, false) || t.Failed() != nil {
		return
	}
	if open, err := probe(context.WithoutCancel(t.ctx), t.Tx); err != nil || !open {
		t.Fail(fault.Retryable(cmp.Or(err, errEndedUnseen)))
	}
}

// errEndedUnseen is why a transaction ends that the server has ended with an error of a row.
var errEndedUnseen = errors.New("gormplugin: the server has ended the transaction: a row that was scanned in it returned an error")

// closeRows closes rows that somebody has left open, as the COMMIT would. Until then, the
// connection is not free for anything else.
func (t *Transaction) closeRows() {
	if rows := t.rows.Load(); rows != nil { //nolint:rowserrcheck // settleRows looks at it.
		_ = rows.Close() //nolint:sqlclosecheck // They are closed here for whoever forgot it.
	}
	t.settleRows()
}

// QueryRowContext implements [gorm.ConnPool].
func (t *Transaction) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	row := t.Tx.QueryRowContext(t.begin(ctx), query, args...)
	t.keepRow(row)
	return row
}

// PrepareContext implements [gorm.ConnPool].
func (t *Transaction) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	return t.Tx.PrepareContext(t.begin(ctx), query)
}

// StmtContext implements [gorm.Tx].
func (t *Transaction) StmtContext(ctx context.Context, stmt *sql.Stmt) *sql.Stmt {
	return t.Tx.StmtContext(t.begin(ctx), stmt)
}

// NoteWrite notes that a statement writes.
func NoteWrite(db *gorm.DB) {
	if h, ok := Unwrapped(db.Statement.ConnPool).(*Handle); ok && !db.DryRun {
		h.wrote.Store(true)
	}
}

// NoteRun notes whether a statement that reads, or that somebody has written by hand, may write.
func (g *Guard) NoteRun(db *gorm.DB) {
	if h, ok := Unwrapped(db.Statement.ConnPool).(*Handle); ok && h.before != nil && !db.DryRun && !rawsql.OnlyReads(g.Dialect.Grammar, db.Statement.SQL.String()) {
		h.wrote.Store(true)
	}
}
