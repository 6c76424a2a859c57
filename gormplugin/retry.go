package gormplugin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"gorm.io/gorm"
)

// How often, and how long, [Transaction] tries.
const (
	maxTries     = 10
	firstPause   = 2 * time.Millisecond
	longestPause = 250 * time.Millisecond
)

// Transaction runs fn in a transaction and commits it, as [gorm.DB.Transaction] does, under ctx. When the database gives the
// transaction up in favour of another one (see [ErrRetry]), it runs all of fn again, in a new transaction,
// after a random pause that grows; at most ten times in all. Hence fn must have no effect but on tx.
//
// Inside another transaction it does not retry: the whole has to be run again, and only who began it can.
func Transaction(ctx context.Context, db *gorm.DB, fn func(tx *gorm.DB) error, opts ...*sql.TxOptions) error {
	db = db.WithContext(ctx)
	if _, nested := db.Statement.ConnPool.(gorm.TxCommitter); nested {
		return db.Transaction(fn, opts...)
	}
	return persist(ctx, db, func() error { return db.Transaction(fn, opts...) })
}

// persist runs do, which is a transaction on db, again while the database gives it up.
func persist(ctx context.Context, db *gorm.DB, do func() error) error {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = firstPause, longestPause
	once := func() (struct{}, error) {
		err := do()
		if err != nil && !isRetryable(db, err) {
			return struct{}{}, backoff.Permanent(err)
		}
		return struct{}{}, err
	}
	_, err := backoff.Retry(ctx, once, backoff.WithBackOff(pause), backoff.WithMaxTries(maxTries), backoff.WithMaxElapsedTime(0))
	if err != nil && isRetryable(db, err) && !errors.Is(err, ErrRetry) {
		// The error of a statement on another table, as the driver gave it.
		return fmt.Errorf("gormplugin: after %d tries: %w", maxTries, retry(err))
	}
	return err
}

// isRetryable reports whether an error asks for the transaction to be run again, also where it comes
// from a statement on a table that is not guarded.
func isRetryable(db *gorm.DB, err error) bool {
	if errors.Is(err, ErrRetry) {
		return true
	}
	d, unknown := dialectOf(db.Name())
	if unknown != nil {
		return false
	}
	kind := d.classify(err)
	return kind == failureRetry || kind == failureEnded
}
