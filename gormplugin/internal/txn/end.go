package txn

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Commit ends the transaction.
func (t *Transaction) Commit() error {
	defer t.callBack()
	t.settleRows() // the server would commit what came after their error
	t.ending.Lock()
	defer t.ending.Unlock()
	if t.ended {
		return t.whyEnded()
	}
	if t.ctx.Err() != nil {
		// The watch has not noticed yet.
		t.cause = context.Cause(t.ctx)
	} else {
		t.cause = t.whyLost()
	}
	if t.cause != nil {
		_ = t.rollback(t.cause)
		return t.whyEnded()
	}
	return t.commit()
}

// whyLost says why the connection was lost before the COMMIT, so that nothing is committed; nil if
// it was not. It asks the server after an error that may be another network's, such as one that a
// hook uses, and after a single row, whose error nobody has seen.
func (t *Transaction) whyLost() error {
	answered := t.guard.Dialect.Answered
	if answered == nil || !t.troubled.Load() && !t.unseen.Load() {
		return nil
	}
	if _, err := t.Tx.ExecContext(context.WithoutCancel(t.ctx), "SELECT 1"); err != nil && !answered(err) {
		return err
	}
	return nil
}

// commit commits, in a step that observers see.
func (t *Transaction) commit() error {
	outcome := Unknown
	defer func() { t.finish(outcome) }() // also when the driver panics
	_, done := t.guard.Locker.Step(t.ctx, pathlock.Step{Kind: pathlock.StepCommit})
	err := t.Tx.Commit()
	t.noteReadOnly(err)
	err = t.whyNotCommitted(err)
	if err != nil && t.guard.Dialect.SoleWriter {
		// SQLite, and some drivers, leave a transaction open after refusing to commit it. The next
		// user of the connection must not commit it.
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
	_, done := t.guard.Locker.Step(t.ctx, pathlock.Step{Kind: pathlock.StepRollback})
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
	d := t.guard.Dialect
	switch {
	case d.Classify(err).IsRetryable():
		return fault.Retryable(err)
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

// Fail rolls the transaction back for a reason that its Commit will return. Otherwise MySQL, which
// aborts the transaction with error 1213, would run and commit every further statement by itself. A
// database error that asks for a retry need not match [fault.ErrRetry] yet.
func (t *Transaction) Fail(cause error) {
	t.fail(cause)
	t.callBack()
}

// failAside is Fail on a goroutine of the plugin's, where a panic of what is called would end the
// process.
func (t *Transaction) failAside(cause error) {
	t.fail(cause)
	defer t.guard.contain(t.ctx)
	t.callBack()
}

// fail rolls the transaction back, and calls nobody.
func (t *Transaction) fail(cause error) {
	t.ending.Lock()
	defer t.ending.Unlock()
	if t.ended {
		return
	}
	t.cause = t.askingForRetry(cause)
	// An error of the rollback only says that the connection is gone, and the transaction with it.
	_ = t.rollback(cause)
}

// finish is called once, after the real end, while ending is held.
func (t *Transaction) finish(outcome Outcome) {
	t.ended = true
	t.unwatch()
	t.cancel()
	if t.readOnly.Load() {
		dialect.Discard(t.conn)
	}
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

// Failed returns why the plugin rolled the transaction back, nil if it did not.
func (t *Transaction) Failed() error {
	t.ending.Lock()
	defer t.ending.Unlock()
	if t.cause == nil {
		return nil
	}
	return t.whyEnded()
}

// ReleaseAtEnd makes the transaction release locks at its end.
func (t *Transaction) ReleaseAtEnd(locks ...*pathlock.Lock) {
	t.mu.Lock()
	if !t.closed {
		t.locks = append(t.locks, locks...)
		locks = nil
	}
	t.mu.Unlock()
	Release(t.ctx, locks)
}

// manyLocks is how many locks a transaction takes one by one before they are merged. Stores accept
// the claims of that many in one request, unless paths are deep. Redis refuses those, but accepts
// thousands of grants.
const manyLocks = 32

// MergeLocks has the store keep many locks of the transaction as one grant: stores limit how many
// an owner may have. If that fails, nothing changes, and the next portion may succeed.
func (t *Transaction) MergeLocks(ctx context.Context) {
	t.mu.Lock()
	var locks []*pathlock.Lock
	if len(t.locks)-t.merged >= manyLocks {
		locks, t.merged = slices.Clone(t.locks[t.merged:]), len(t.locks)
	}
	t.mu.Unlock()
	_ = pathlock.Merge(ctx, locks)
}

// Release releases locks, the last one first. A hold that the store cannot release ends with its
// lease. The locker reports the failure to its observers and its log; it does not change the
// outcome of the write that the locks protected. If the store does not answer, Release waits for
// that once, whatever the number of locks.
func Release(ctx context.Context, locks []*pathlock.Lock) {
	ctx = context.WithoutCancel(ctx)
	silent := false
	for _, lock := range slices.Backward(locks) {
		if silent {
			lock.ReleaseInBackground(ctx)
		} else {
			silent = errors.Is(lock.Release(ctx), pathlock.ErrUnavailable)
		}
	}
}

// Raw SQL must not end a transaction on which the plugin relies, and the plugin must not rely on
// one that raw SQL has ended.

// WatchEnd refuses raw SQL that would end a transaction on which the plugin relies, or a part of it
// in another form than GORM's. writes is set if the SQL writes to a guarded table with the
// caller's permission, and executed where it returns no rows.
func (g *Guard) WatchEnd(db *gorm.DB, sql string, writes, executed bool) error {
	h, ok := Unwrapped(db.Statement.ConnPool).(*Handle)
	if !ok || h.guard != g {
		return nil
	}
	if writes {
		if err := h.relyOn(); err != nil {
			return err
		}
	}
	if _, savepoint := rawsql.PlainSavepoint(sql); savepoint && executed {
		// ExecContext notes the savepoint, so the statement goes past all caches of prepared ones:
		// nobody sees what a cached statement does, and MySQL cannot prepare this one (error 1295).
		// GORM itself avoids only one cache, and lays two around a transaction where both the DB
		// and a session of it have PrepareStmt.
		db.Statement.ConnPool = h
		return nil
	}
	if statement, ends := rawsql.EndsTransaction(g.Dialect.Grammar, sql); ends {
		return h.endsBy(statement)
	}
	return nil
}

// relyOn is called before a guarded table is asserted or written in the transaction, and before a
// function is added that is called after its end.
func (t *Transaction) relyOn() error {
	t.mu.Lock()
	ended := t.endedBy
	t.relied = t.relied || ended == ""
	t.mu.Unlock()
	if ended != "" {
		return &fault.TransactionEndError{Statement: ended, Ended: true}
	}
	t.settleRows()
	return t.Failed()
}

// endsBy is called before a statement that ends the transaction is run.
func (t *Transaction) endsBy(statement string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.relied {
		return &fault.TransactionEndError{Statement: statement}
	}
	t.endedBy = statement
	return nil
}

// reliance reports whether the plugin relies on the transaction, and whether a statement is known
// to have ended it.
func (t *Transaction) reliance() (relied, ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.relied, t.endedBy != ""
}
