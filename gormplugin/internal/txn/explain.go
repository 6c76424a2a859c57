package txn

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm"
)

// Explain puts the error that a caller should see in the place of the database's, and ends a
// transaction that the server has ended. more goes on, where the error is none that every statement
// may have; nil for statements on tables that are not guarded.
func Explain(d *dialect.Dialect, db *gorm.DB, more func(err error, kind dialect.Failure)) {
	err := db.Error
	if err == nil && !d.Aborts {
		return
	}
	var tx *Transaction
	if h, ok := Unwrapped(db.Statement.ConnPool).(*Handle); ok {
		tx = h.Transaction
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
	if tx != nil && (kind == dialect.FailureEnded || tx.hasEnded(err)) {
		cause := err
		if kind.IsRetryable() && !errors.Is(err, fault.ErrRetry) {
			cause = fault.Retry(err)
		}
		tx.Abandon(cause)
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

// Interrupted adds to a statement's error why its context has ended, if it has. Drivers tell of an
// interrupted statement, or of a connection that is of no use any more.
func Interrupted(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if err == nil || cause == nil || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", cause, err)
}

// explainAborted says, of a statement that was not run, because of which earlier one. It reports
// whether there is nothing else to explain.
func explainAborted(d *dialect.Dialect, db *gorm.DB, tx *Transaction) bool {
	if db.Error == nil {
		// Had there been a failure, it has been rolled back.
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
