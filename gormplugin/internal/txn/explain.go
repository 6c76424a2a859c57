package txn

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"gorm.io/gorm"
)

// Explain replaces the database's error by the one that a caller should see, and ends a transaction
// that the server has ended. more explains errors that only statements on guarded tables have; it
// is nil for other statements.
func Explain(d *dialect.Dialect, db *gorm.DB, more func(err error, kind dialect.Failure)) {
	err := db.Error
	if err == nil && !d.Aborts {
		return
	}
	var tx *Transaction
	if h, ok := Unwrapped(db.Statement.ConnPool).(*Handle); ok {
		tx = h.Transaction
		tx.noteReadOnly(err)
	}
	if tx != nil && d.Aborts {
		if done := explainAborted(d, db, tx); done {
			return
		}
		defer func() {
			// GORM's own errors stand for the server's, where it is told to translate them.
			if d.Answered(err) || errors.Is(err, gorm.ErrDuplicatedKey) || errors.Is(err, gorm.ErrForeignKeyViolated) {
				tx.abortedBy(db.Error)
			}
		}()
	}
	if err == nil {
		return
	}
	if tx != nil && errors.Is(err, sql.ErrTxDone) {
		if why := tx.Failed(); why != nil {
			db.Error = why
			return
		}
	}
	kind := d.Classify(err)
	if tx != nil && tx.hasEnded(err) {
		tx.Fail(err)
	}
	if errors.Is(err, fault.ErrRetry) {
		return
	}
	if more != nil {
		more(err, kind)
	} else if ctx := db.Statement.Context; ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		db.Error = Interrupted(ctx, err)
	}
}

// Interrupted adds to a statement's error why its context has ended, if it has. Drivers report only
// the interrupted statement, or a connection that cannot be used again.
func Interrupted(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if err == nil || cause == nil || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", cause, err)
}

// explainAborted says which earlier failure kept the server from running a statement. It reports
// whether there is nothing else to explain.
func explainAborted(d *dialect.Dialect, db *gorm.DB, tx *Transaction) bool {
	if db.Error == nil {
		// An earlier failure, if there was one, has been rolled back.
		if !db.DryRun {
			tx.abortedBy(nil)
		}
		return true
	}
	if _, explained := errors.AsType[*abortedError](db.Error); explained {
		return true
	}
	first := tx.whyAborted()
	if first == nil || d.Classify(db.Error) != dialect.FailureAborted {
		return false
	}
	db.Error = &abortedError{first: first, err: db.Error}
	return true
}

// abortedError is why PostgreSQL refused a statement of a transaction, or its commit: an earlier
// statement failed, and the server runs nothing until the transaction is rolled back, at least to a
// savepoint before that statement.
type abortedError struct {
	// first is how the earlier statement failed, err the error of this one.
	first, err error
}

// Error implements error.
func (e *abortedError) Error() string {
	return fmt.Sprintf("gormplugin: the transaction must be rolled back, at least to a savepoint, since one of its statements failed: %v: %v", e.first, e.err)
}

// Unwrap returns both errors: the first one may ask for a retry.
func (e *abortedError) Unwrap() []error { return []error{e.first, e.err} }

// abortedBy notes that a statement has failed, so that no further one runs, or (nil) that one has
// succeeded. The first failure counts; a later error that wraps it says more about it.
func (t *Transaction) abortedBy(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil || t.aborted == nil || errors.Is(err, t.aborted) {
		t.aborted = err
	}
}

// whyAborted returns the failure that keeps the server from running statements, nil if there is
// none.
func (t *Transaction) whyAborted() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.askingForRetry(t.aborted)
}

// askingForRetry makes an error of the database that asks for a retry match [fault.ErrRetry].
func (t *Transaction) askingForRetry(err error) error {
	if err != nil && !errors.Is(err, fault.ErrRetry) && t.guard.Dialect.Classify(err).IsRetryable() {
		return fault.Retryable(err)
	}
	return err
}

// Some errors end a transaction on the server, or do so under some settings: every later statement
// would be committed by itself, whatever the caller rolls back. Which errors do so differs between
// versions, settings and plugins of a server, and the server does not say. So the plugin asks after
// such an error.

// hasEnded reports whether the failure of a statement has ended the transaction on the server, or
// may have.
func (t *Transaction) hasEnded(err error) bool {
	d := t.guard.Dialect
	if d.Classify(err) == dialect.FailureEnded {
		return true
	}
	if d.FailureOf(err) == pathlock.FailureDatabase {
		t.troubled.Store(true)
	}
	_, ended := t.reliance()
	if d.Probe == nil || ended || t.Failed() != nil || errors.Is(err, gorm.ErrRecordNotFound) || d.Harmless != nil && d.Harmless(err) {
		return false
	}
	open, unanswered := d.Probe(context.WithoutCancel(t.ctx), t.Tx)
	return unanswered != nil || !open
}
