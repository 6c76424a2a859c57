package txn

import (
	"context"
	"database/sql"
	"errors"

	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
)

// Some errors end a transaction on the server, or may do so by a setting: whatever is run
// afterwards would be committed by itself, past the caller's ROLLBACK. Which errors these are
// differs between versions, settings and plugins of a server. So the plugin asks the server after
// every error, except those that are known to undo only their statement.
//
// Rows and Row hand rows to the caller, who alone sees an error that comes with them, such as the
// deadlock of a locking read. So whatever follows such a read begins with the same question.

// errEndedUnseen is why the plugin ended a transaction whose end only the reader of its rows could
// see.
var errEndedUnseen = errors.New("gormplugin: an error that came with the rows of a read has ended the transaction on the server")

// settleReads makes sure that the transaction is still open before something else runs in it. One
// that the server has ended is ended here, too, so that what follows fails.
func (t *Transaction) settleReads() {
	probe := t.owner.Dialect.Probe
	if probe == nil || !t.unread.Swap(false) || t.Failed() != nil {
		return
	}
	open, err := probe.Open(context.WithoutCancel(t.ctx), t.Tx)
	if err != nil && dialect.MySQLNumber(err) == 0 {
		// Somebody is still reading the rows, or the connection is gone. Neither lets anything else
		// run.
		t.unread.Store(true)
		return
	}
	if err != nil || !open {
		t.Abandon(fault.Retry(errors.Join(errEndedUnseen, err)))
	}
}

// ExecContext implements [gorm.ConnPool].
func (t *Transaction) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if t.answer(ctx, query) {
		return answered{}, nil
	}
	t.settleReads()
	t.noteWrite(query)
	if err := t.watchBack(ctx, query); err != nil {
		return nil, err
	}
	result, err := t.Tx.ExecContext(ctx, query, args...)
	t.ran(query, err, false)
	return result, err
}

// QueryContext implements [gorm.ConnPool].
func (t *Transaction) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	t.settleReads()
	t.unread.Store(true)
	t.noteWrite(query)
	if err := t.watchBack(ctx, query); err != nil {
		return nil, err
	}
	query, args, err := t.runAtOnce(ctx, query, args)
	if err != nil {
		return nil, err
	}
	rows, err := t.Tx.QueryContext(ctx, query, args...)
	t.ran(query, err, true)
	if err == nil {
		t.rows.Store(rows)
	}
	return rows, err
}

// closeRows closes the rows that somebody has left open before the COMMIT, as that does, too. The
// connection is not free for anything else before.
func (t *Transaction) closeRows() {
	rows := t.rows.Swap(nil) //nolint:rowserrcheck // What they failed with shows in settleReads.
	if rows == nil {
		return
	}
	defer func() { _ = rows.Close() }()
}

// QueryRowContext implements [gorm.ConnPool].
func (t *Transaction) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	t.settleReads()
	t.unread.Store(true)
	t.noteWrite(query)
	err := t.watchBack(ctx, query)
	if err == nil {
		query, args, err = t.runAtOnce(ctx, query, args)
	}
	if err != nil {
		// Row returns no error: the caller looks for one in Scan, and needs a row for that.
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(err)
		return t.Tx.QueryRowContext(ctx, query, args...)
	}
	row := t.Tx.QueryRowContext(ctx, query, args...)
	t.ran(query, row.Err(), true)
	return row
}

// noRows is a query without rows.
const noRows = "SELECT 1 WHERE 1 = 0"

// runAtOnce runs a query of SQLite that only sets savepoints, or goes back to them, and returns
// another one to run in its place. SQLite would run it once somebody asks for the first row, and
// only then say that it has failed.
func (t *Transaction) runAtOnce(ctx context.Context, query string, args []any) (string, []any, error) {
	steps, others := t.owner.Dialect.Grammar.Savepoints(query)
	if !t.owner.Dialect.SoleWriter || len(steps) == 0 || others {
		return query, args, nil
	}
	_, err := t.Tx.ExecContext(ctx, query, args...)
	t.ran(query, err, false)
	return noRows, nil, err
}

// PrepareContext implements [gorm.ConnPool].
func (t *Transaction) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	if t.answer(ctx, query) {
		return nil, errAnswered
	}
	if t.owner.goesBack(query) {
		return nil, errPreparedSavepoint
	}
	t.settleReads()
	t.noteWrite(query)
	stmt, err := t.Tx.PrepareContext(ctx, query)
	t.owner.prepared(query, stmt)
	return stmt, err
}

// StmtContext implements [gorm.Tx].
func (t *Transaction) StmtContext(ctx context.Context, stmt *sql.Stmt) *sql.Stmt {
	t.settleReads()
	t.unread.Store(true)
	if !t.owner.onlyReads(stmt) {
		t.wrote.Store(true)
	}
	return t.Tx.StmtContext(ctx, stmt)
}

// noteWrite notes that a statement may write, where somebody wants to know.
func (t *Transaction) noteWrite(query string) {
	if t.before != nil && !t.wrote.Load() && !t.owner.Dialect.Grammar.OnlyReads(query) {
		t.wrote.Store(true)
	}
}

// hasEnded reports whether the failure of a statement has ended the transaction on the server, or
// may have.
func (t *Transaction) hasEnded(err error) bool {
	probe := t.owner.Dialect.Probe
	if probe == nil || t.Failed() != nil || probe.Harmless(err) {
		return false
	}
	open, err := probe.Open(context.WithoutCancel(t.ctx), t.Tx)
	return err != nil || !open
}
