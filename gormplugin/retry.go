package gormplugin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm"
)

// DefaultMaxTries is how often [Transaction], and a statement that runs in a transaction of its own, is tried; see [MaxTries].
const DefaultMaxTries = 10

// How long the pauses between tries are, and after which time no further one is begun: a lock wait that took
// all of MySQL's 50 seconds is not waited for ten times.
const (
	firstPause   = 2 * time.Millisecond
	longestPause = 250 * time.Millisecond
	longestRetry = 15 * time.Second
)

// Transaction runs fn in a transaction and commits it, as [gorm.DB.Transaction] does, under ctx. When the database gives the
// transaction up in favour of another one (see [ErrRetry]), it runs all of fn again, in a new transaction,
// after a random pause that grows; at most [DefaultMaxTries] times in all. Hence fn must have no effect but on tx, and on the values that
// it hands to writes of guarded tables: those are put back to what they were before each try, and after the last one if that is given up, too.
//
// Inside another transaction it does not retry: the whole has to be run again, and only who began it can.
func Transaction(ctx context.Context, db *gorm.DB, fn func(tx *gorm.DB) error, opts ...*sql.TxOptions) error {
	if _, nested := db.Statement.ConnPool.(gorm.TxCommitter); nested {
		return db.WithContext(ctx).Transaction(fn, opts...)
	}
	handed := new(journal)
	db = db.WithContext(context.WithValue(ctx, journalKey{}, handed))
	return persist(ctx, db, DefaultMaxTries, func() error {
		err := db.Transaction(fn, opts...)
		if err != nil && isRetryable(db, err) {
			handed.undo()
		}
		return err
	})
}

// persist runs do, which is a transaction on db, again while the database gives it up.
func persist(ctx context.Context, db *gorm.DB, tries int, do func() error) error {
	err := retrying(ctx, tries, func() error {
		err := do()
		if err != nil && !isRetryable(db, err) {
			return backoff.Permanent(err)
		}
		return err
	})
	if err != nil && isRetryable(db, err) && !errors.Is(err, fault.ErrRetry) {
		// The error of a statement on another table, as the driver gave it.
		return fmt.Errorf("gormplugin: after several tries: %w", fault.Retry(err))
	}
	return err
}

// retrying runs once until it succeeds or fails for good, at most a number of times.
func retrying(ctx context.Context, tries int, once func() error) error {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = firstPause, longestPause
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, once() },
		backoff.WithBackOff(pause), backoff.WithMaxTries(uint(tries)), backoff.WithMaxElapsedTime(longestRetry))
	if last, ok := errors.AsType[*backoff.PermanentError](err); ok {
		return last.Unwrap()
	}
	return err
}

// IsRetryable reports whether an error asks for the transaction to be run again, also where it comes
// from a statement on a table that is not guarded.
func isRetryable(db *gorm.DB, err error) bool {
	if errors.Is(err, fault.ErrRetry) {
		return true
	}
	d, unknown := dialect.Of(db.Name())
	if unknown != nil {
		return false
	}
	return d.Classify(err).IsRetryable()
}
