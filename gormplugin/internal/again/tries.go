package again

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm"
)

// How long the pauses between tries are, and after which time no further try begins: nobody waits
// ten times for a lock wait that takes all of MySQL's 50 seconds.
const (
	firstPause   = 2 * time.Millisecond
	longestPause = 250 * time.Millisecond
	longestRetry = 15 * time.Second
)

// Persist runs do, a transaction on db, and runs it again while the database gives it up.
func Persist(ctx context.Context, db *gorm.DB, tries int, do func() error) error {
	err := Retry(ctx, tries, func() error {
		err := do()
		if err != nil && !IsRetryable(db, err) {
			return backoff.Permanent(err)
		}
		return err
	})
	if err != nil && IsRetryable(db, err) && !errors.Is(err, fault.ErrRetry) {
		// The error of a statement on another table, as the driver gave it.
		return fmt.Errorf("gormplugin: after several tries: %w", fault.Retry(err))
	}
	return err
}

// Retry calls try until it succeeds or fails for good, at most the given number of times.
func Retry(ctx context.Context, tries int, try func() error) error {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = firstPause, longestPause
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, try() },
		backoff.WithBackOff(pause), backoff.WithMaxTries(uint(tries)), backoff.WithMaxElapsedTime(longestRetry))
	if last, ok := errors.AsType[*backoff.PermanentError](err); ok {
		return last.Unwrap()
	}
	return err
}

// IsRetryable reports whether an error asks for the transaction to be run again, also where it
// comes from a statement on a table that is not guarded.
func IsRetryable(db *gorm.DB, err error) bool {
	if errors.Is(err, fault.ErrRetry) {
		return true
	}
	d, unknown := dialect.Of(db.Name())
	return unknown == nil && d.Classify(err).IsRetryable()
}
