package txn

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
)

// Rows and Row hand rows over to the caller, and an error that comes with the rows is seen by the
// caller alone: a deadlock that a locking read has lost, say. It may have ended the transaction on
// the server, where further statements would be committed one by one. So what follows such a read
// begins with the question whether the transaction is still open.

// errEndedUnseen is why a transaction was ended whose end only the reader of its rows could see.
var errEndedUnseen = errors.New("gormplugin: an error that came with the rows of a read has ended the transaction on the server")

// unread knows whether a read in a transaction may have failed unseen.
type unread struct {
	mu      sync.Mutex
	pending bool
}

// set notes whether one may have.
func (u *unread) set(pending bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.pending = pending
}

// take returns whether one may have, and forgets it.
func (u *unread) take() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	pending := u.pending
	u.pending = false
	return pending
}

// settleReads makes sure that the transaction is still open before something else is run in it. One
// that is not is ended here, too, so that what follows fails.
func (t *Transaction) settleReads() {
	probe := t.owner.Dialect.Probe
	if probe == nil || !t.unread.take() || t.Failed() != nil {
		return
	}
	open, err := probe.Open(context.WithoutCancel(t.ctx), t.Tx)
	if _, answered := errors.AsType[*mysql.MySQLError](err); err != nil && !answered {
		// The rows are being read still, or the connection is gone. Neither lets anything else be
		// run.
		t.unread.set(true)
		return
	}
	if err != nil || !open {
		t.Abandon(fault.Retry(errors.Join(errEndedUnseen, err)))
	}
}

// ExecContext implements [gorm.ConnPool].
func (t *Transaction) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	t.settleReads()
	return t.Tx.ExecContext(ctx, query, args...)
}

// QueryContext implements [gorm.ConnPool].
func (t *Transaction) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	t.settleReads()
	t.unread.set(true)
	return t.Tx.QueryContext(ctx, query, args...)
}

// QueryRowContext implements [gorm.ConnPool].
func (t *Transaction) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	t.settleReads()
	t.unread.set(true)
	return t.Tx.QueryRowContext(ctx, query, args...)
}

// PrepareContext implements [gorm.ConnPool].
func (t *Transaction) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	t.settleReads()
	return t.Tx.PrepareContext(ctx, query)
}

// StmtContext implements [gorm.Tx].
func (t *Transaction) StmtContext(ctx context.Context, stmt *sql.Stmt) *sql.Stmt {
	t.settleReads()
	t.unread.set(true)
	return t.Tx.StmtContext(ctx, stmt)
}
