package txn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// The pauses between tries, and the time after which no further try begins. Otherwise ten tries
// could each wait MySQL's 50 seconds for a row lock.
const (
	firstPause   = 2 * time.Millisecond
	longestPause = 250 * time.Millisecond
	longestRetry = 15 * time.Second
)

// Retry runs do, a transaction on db, and runs it again while the database aborts it, at most the
// given number of times. do works under the context that it is given. The locker, which may be nil,
// is told of each further try.
func Retry(ctx context.Context, db *gorm.DB, tries int, locker *pathlock.Locker, do func(ctx context.Context) error) error {
	var last error
	try := func(ctx context.Context) error {
		if last = do(ctx); last != nil && !IsRetryable(db, last) {
			return backoff.Permanent(last)
		}
		return last
	}
	attempt := 0
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = firstPause, longestPause
	_, err := backoff.Retry(ctx, func() (none struct{}, _ error) {
		if attempt++; attempt == 1 || locker == nil {
			return none, try(ctx)
		}
		return none, InStep(ctx, locker, pathlock.Step{Kind: pathlock.StepRetry, Attempt: attempt}, try)
	}, backoff.WithBackOff(pause), backoff.WithMaxTries(uint(tries)), backoff.WithMaxElapsedTime(longestRetry))
	err = withoutPermanent(err)
	if err != nil && last != nil && !errors.Is(err, last) {
		err = fmt.Errorf("%w, and before the next try: %w", last, err) // ctx has ended
	}
	if err != nil && IsRetryable(db, err) && !errors.Is(err, fault.ErrRetry) {
		// The error of a statement on another table, as the driver gave it.
		return fmt.Errorf("gormplugin: after several tries: %w", fault.Retryable(err))
	}
	return err
}

// withoutPermanent returns the error that the end of a retry is about.
func withoutPermanent(err error) error {
	if last, ok := errors.AsType[*backoff.PermanentError](err); ok {
		return last.Unwrap()
	}
	return err
}

// errPanicked is the error of a step that a panic has ended.
var errPanicked = errors.New("gormplugin: a panic")

// InStep calls do within a step that observers see.
func InStep(ctx context.Context, locker *pathlock.Locker, s pathlock.Step, do func(ctx context.Context) error) (err error) {
	work, done := locker.Step(ctx, s)
	err = errPanicked
	defer func() { done(withoutPermanent(err)) }()
	err = do(work)
	return err
}

// IsRetryable reports whether an error asks for the transaction to be run again, even if it comes
// from a statement on a table that is not guarded.
func IsRetryable(db *gorm.DB, err error) bool {
	if errors.Is(err, fault.ErrRetry) {
		return true
	}
	d, unknown := dialect.Of(dialect.Name(db.Name()))
	return unknown == nil && d.Classify(err).IsRetryable()
}
