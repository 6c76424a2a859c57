package txn

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
)

// Transaction is a database transaction that knows when it has really ended, and
// lets its path locks go only then.
type Transaction struct {
	*sql.Tx
	owner *Owner
	// db is where conn belongs.
	db *sql.DB
	// conn is what the transaction runs on; closing it gives the connection back to the pool.
	conn *sql.Conn
	// ctx is the context that the transaction was begun under.
	ctx context.Context
	// cancel ends the context that database/sql began the transaction with.
	cancel context.CancelFunc
	// unwatch stops waiting for the end of ctx.
	unwatch func() bool
	// before are the functions that its context has called before the COMMIT, and preparation is
	// how far they are.
	before      *beforeCommit
	preparation atomic.Uint32

	// ending is held while the transaction is committed or rolled back, so that only one of both
	// happens, once.
	ending sync.Mutex
	ended  bool
	// cause is why the transaction ended before its Commit or Rollback was called, nil if it did
	// not.
	cause error

	mu sync.Mutex
	// scope owns the transaction's locks; nil until there are any.
	scope *pathlock.Scope
	// locks are released at the end, the last one first.
	locks []*pathlock.Lock
	// closed is set once the locks have been released.
	closed bool
	after  afterwards
	// aborted is the failure of a statement that the database wants rolled back before it runs
	// another.
	aborted error

	// IsWriter is set once the transaction is known to be the database's only writer.
	IsWriter atomic.Bool
	// wrote is set once the transaction may have written something.
	wrote atomic.Bool
	// rows are those of the last query, which may still be open.
	rows atomic.Pointer[sql.Rows]
	// rawEnd knows whether raw SQL may end the transaction, and whether it has.
	rawEnd rawEnd
}

// newTransaction watches over tx until it ends.
func newTransaction(ctx context.Context, p *pool, conn *sql.Conn, tx *sql.Tx, cancel context.CancelFunc) *Transaction {
	t := &Transaction{Tx: tx, owner: p.owner, db: p.DB, conn: conn, ctx: ctx, cancel: cancel, before: beforeCommitOf(ctx)}
	// What is called before the COMMIT has to see the end of the transaction.
	t.rawEnd.relied = t.before != nil
	t.ending.Lock()
	defer t.ending.Unlock()
	t.unwatch = context.AfterFunc(ctx, func() { t.abandonAside(context.Cause(ctx)) })
	return t
}

// Commit ends the transaction.
func (t *Transaction) Commit() error {
	defer t.callBack()
	t.ending.Lock()
	defer t.ending.Unlock()
	if t.ended {
		return t.whyEnded()
	}
	if t.ctx.Err() != nil {
		// The watch has not noticed yet.
		t.cause = context.Cause(t.ctx)
		_ = t.rollback(t.cause)
		return t.whyEnded()
	}
	return t.commit()
}

// commit commits, in a step that observers see.
func (t *Transaction) commit() error {
	outcome := Unknown
	defer func() { t.finish(outcome) }() // also when the driver panics
	_, done := t.owner.Locker.Step(t.ctx, pathlock.Step{Kind: pathlock.StepCommit})
	err := t.whyNotCommitted(t.Tx.Commit())
	if err != nil && t.owner.Dialect.SoleWriter {
		// SQLite leaves a transaction open that it has refused to commit, and so do some drivers.
		// It must not be committed by whoever uses the connection next.
		_, _ = t.conn.ExecContext(context.WithoutCancel(t.ctx), "ROLLBACK")
	}
	switch {
	case err == nil:
		outcome = Committed
	case !errors.Is(err, fault.ErrOutcomeUnknown):
		outcome = RolledBack
	}
	done(err)
	return err
}

// rollback rolls back because of cause, nil if the transaction's beginner asks for it. It does so
// in a step that observers see.
func (t *Transaction) rollback(cause error) error {
	defer t.finish(RolledBack)
	_, done := t.owner.Locker.Step(t.ctx, pathlock.Step{Kind: pathlock.StepRollback})
	err := t.Tx.Rollback()
	done(cause)
	return err
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
	defer t.callBack()
	t.ending.Lock()
	defer t.ending.Unlock()
	if t.ended {
		if t.cause != nil {
			// The rollback has happened already.
			return nil
		}
		return sql.ErrTxDone
	}
	return t.rollback(nil)
}

// Abandon rolls the transaction back for a reason that its Commit will return. After MySQL's error
// 1213, by which the server has given the transaction up, it would otherwise run and commit every
// further statement by itself. A cause by which the database asks for a retry need not match
// [fault.ErrRetry] yet.
func (t *Transaction) Abandon(cause error) {
	t.abandon(cause)
	t.callBack()
}

// abandonAside is Abandon on a goroutine of the plugin's.
func (t *Transaction) abandonAside(cause error) {
	t.abandon(cause)
	t.callBackAside()
}

// abandon rolls the transaction back, and calls nobody.
func (t *Transaction) abandon(cause error) {
	t.ending.Lock()
	defer t.ending.Unlock()
	if t.ended {
		return
	}
	if !errors.Is(cause, fault.ErrRetry) && t.owner.Dialect.Classify(cause).IsRetryable() {
		cause = fault.Retry(cause)
	}
	t.cause = cause
	// An error of the rollback only says that the connection is gone, and the transaction with it.
	_ = t.rollback(cause)
}

// finish is called once, after the real end.
func (t *Transaction) finish(outcome Outcome) {
	t.ended = true
	t.unwatch()
	t.cancel()
	_ = t.conn.Close() // the outcome is known already
	t.mu.Lock()
	locks := t.locks
	t.locks, t.closed, t.after.outcome = nil, true, outcome
	t.mu.Unlock()
	Release(t.ctx, locks)
}

// whyEnded is the error of every use of a transaction that has ended.
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

// HasScope reports whether scope came with the context that the transaction was begun under.
func (t *Transaction) HasScope(scope *pathlock.Scope) bool { return t.owner.HasScope(t.ctx, scope) }

// Inherit gives the transaction, which has just begun, the locks that were taken for its statement
// before.
func (t *Transaction) Inherit(scope *pathlock.Scope, locks []*pathlock.Lock) {
	t.scope = scope
	t.ReleaseAtEnd(locks...)
}

// ScopeFor returns the scope that owns the locks of a statement: the one that its context carries,
// if any, and otherwise the one scope of the transaction. So the statements of a transaction never
// block each other.
func (t *Transaction) ScopeFor(ctx context.Context) *pathlock.Scope {
	locker := t.owner.Locker
	scope := locker.Scope(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if locker.Scope(ctx) == scope {
		if t.scope == nil {
			t.scope = scope
		}
		return scope // ctx carries it: otherwise the second call would have made another one
	}
	if t.scope == nil {
		t.scope = locker.Scope(t.ctx)
	}
	return t.scope
}

// Release releases locks, the last one first. A hold that the store cannot release ends with its
// lease. The locker reports the failure to its observers and its log; it does not change the
// outcome of the write that the locks protected.
func Release(ctx context.Context, locks []*pathlock.Lock) {
	for _, lock := range slices.Backward(locks) {
		_ = lock.Release(context.WithoutCancel(ctx))
	}
}
