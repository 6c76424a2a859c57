package txn

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
)

// Transaction is a database transaction that knows when it has really ended, and
// lets its path locks go only then.
type Transaction struct {
	*sql.Tx
	owner *Owner
	// conn is what the transaction runs on; closing it gives the connection back to the pool.
	conn *sql.Conn
	// ctx is the context that the transaction was begun under.
	ctx context.Context
	// cancel ends the context that database/sql began the transaction with.
	cancel context.CancelFunc
	// unwatch stops waiting for the end of ctx.
	unwatch func() bool

	// ending is held while the transaction is being committed or rolled back, so
	// that it happens once.
	ending sync.Mutex
	ended  bool
	// cause is why the transaction ended before its Commit or Rollback was called; nil if it did
	// not.
	cause error

	mu sync.Mutex
	// scope is who the transaction's locks belong to; nil until there are any.
	scope *pathlock.Scope
	// locks are let go at the end, the last one first.
	locks []*pathlock.Lock
	// closed is set once the locks have been let go.
	closed bool
	// writing is set once the transaction is known to be the database's only writer.
	writing bool
	// unread knows whether a read may have failed unseen.
	unread unread
	// rawEnd knows whether raw SQL may end the transaction, and whether it has.
	rawEnd rawEnd
	// aborted is how the statement failed that the database wants rolled back before it runs
	// another.
	aborted error
}

// newTransaction watches over tx until it ends.
func newTransaction(ctx context.Context, o *Owner, conn *sql.Conn, tx *sql.Tx, cancel context.CancelFunc) *Transaction {
	t := &Transaction{Tx: tx, owner: o, conn: conn, ctx: ctx, cancel: cancel}
	t.ending.Lock()
	defer t.ending.Unlock()
	t.unwatch = context.AfterFunc(ctx, func() { t.Abandon(context.Cause(ctx)) })
	return t
}

// Commit ends the transaction.
func (t *Transaction) Commit() error {
	t.settleReads()
	t.ending.Lock()
	defer t.ending.Unlock()
	if t.ended {
		return t.whyEnded()
	}
	if t.ctx.Err() != nil {
		// The watch has not come to it yet.
		t.cause = context.Cause(t.ctx)
		_ = t.Tx.Rollback()
		t.finish()
		return t.whyEnded()
	}
	err := t.Tx.Commit()
	t.finish()
	return t.whyNotCommitted(err)
}

// whyNotCommitted says what the error of a COMMIT means.
func (t *Transaction) whyNotCommitted(err error) error {
	if err == nil {
		return nil
	}
	if first := t.whyAborted(); first != nil {
		return &abortedError{first: first, err: err}
	}
	d := t.owner.Dialect
	switch {
	case d.Classify(err).IsRetryable():
		return fault.Retry(err)
	case d.Answered != nil && !d.Answered(err):
		return fmt.Errorf("%w: %w", fault.ErrOutcomeUnknown, err)
	default:
		return err
	}
}

// Rollback ends the transaction.
func (t *Transaction) Rollback() error {
	t.ending.Lock()
	defer t.ending.Unlock()
	if t.ended {
		if t.cause != nil {
			// What was asked for has happened already.
			return nil
		}
		return sql.ErrTxDone
	}
	err := t.Tx.Rollback()
	t.finish()
	return err
}

// Abandon rolls the transaction back for a reason that its Commit will be told.
// A server that gave the transaction up (MySQL's error 1213) would otherwise
// run every further statement of it by itself, and commit it.
func (t *Transaction) Abandon(cause error) {
	t.ending.Lock()
	defer t.ending.Unlock()
	if t.ended {
		return
	}
	if !errors.Is(cause, fault.ErrRetry) && t.owner.Dialect.Classify(cause).IsRetryable() {
		cause = fault.Retry(cause)
	}
	t.cause = cause
	// The error says no more than that the connection is gone, and the transaction with it.
	_ = t.Tx.Rollback()
	t.finish()
}

// finish is called once, after the real end.
func (t *Transaction) finish() {
	t.ended = true
	t.unwatch()
	t.cancel()
	_ = t.conn.Close() // what became of the transaction is known already
	t.mu.Lock()
	locks := t.locks
	t.locks, t.closed = nil, true
	t.mu.Unlock()
	Release(t.ctx, locks)
}

// whyEnded is the error of whatever is asked of a transaction that has ended.
func (t *Transaction) whyEnded() error {
	if t.cause != nil {
		return fmt.Errorf("gormplugin: the transaction was rolled back: %w", t.cause)
	}
	return sql.ErrTxDone
}

// Failed returns why the transaction was abandoned, nil if it was not.
func (t *Transaction) Failed() error {
	t.ending.Lock()
	defer t.ending.Unlock()
	if t.cause == nil {
		return nil
	}
	return t.whyEnded()
}

// ReleaseAtEnd has the transaction release locks at its end.
func (t *Transaction) ReleaseAtEnd(locks ...*pathlock.Lock) {
	t.mu.Lock()
	if !t.closed {
		t.locks = append(t.locks, locks...)
		locks = nil
	}
	t.mu.Unlock()
	Release(t.ctx, locks)
}

// IsWriter reports whether the transaction is known to be the database's only writer.
func (t *Transaction) IsWriter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.writing
}

// BecameWriter notes that it is.
func (t *Transaction) BecameWriter() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writing = true
}

// CarriesLocks reports whether locks came with the context that the transaction was begun under.
func (t *Transaction) CarriesLocks() bool { return t.owner.Carries(t.ctx) }

// Inherit has the transaction, which has just begun, hold locks that were taken before for its
// statement.
func (t *Transaction) Inherit(scope *pathlock.Scope, locks []*pathlock.Lock) {
	t.scope = scope
	t.ReleaseAtEnd(locks...)
}

// ScopeFor returns who the locks of a statement belong to: to the scope that
// its context carries, if any, and otherwise to the one scope of the transaction,
// so that the statements of a transaction never stand in each other's way.
func (t *Transaction) ScopeFor(ctx context.Context) *pathlock.Scope {
	locker := t.owner.Locker
	scope := locker.Scope(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if locker.Scope(ctx) == scope {
		if t.scope == nil {
			t.scope = scope
		}
		return scope // carried by ctx, as it was there twice
	}
	if t.scope == nil {
		t.scope = locker.Scope(t.ctx)
	}
	return t.scope
}

// Release lets locks go, the last one first. What the store cannot be told ends with its
// lease; the locker reports it to its observers and its log, and the
// write that the locks protected has had its own outcome.
func Release(ctx context.Context, locks []*pathlock.Lock) {
	for i := len(locks) - 1; i >= 0; i-- {
		_ = locks[i].Release(context.WithoutCancel(ctx))
	}
}
