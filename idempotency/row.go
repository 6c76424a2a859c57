package idempotency

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
)

// The states of a key's row.
const (
	// A state of 0 is a claim: a request runs, and has committed nothing.
	_ = iota
	// committed: something has taken place, and the answer is not recorded.
	committed
	// answered: the answer is recorded.
	answered
)

// row is what is known of a key.
type row struct {
	Fingerprint string
	Attempt     string
	State       int
	Status      int
	Headers     string
	Body        []byte
	// Lapsed is not 0 once the lease has ended, and Expired once the row counts for nothing.
	Lapsed, Expired int
}

// failureOf returns what an error means, also where the DB has no plugin that knows.
func (k *Keys) failureOf(err error) pathlock.Failure {
	if failure := pathlock.FailureOf(err); failure != "" || err == nil {
		return failure
	}
	return k.dialect.FailureOf(err)
}

// session returns a session that runs SQL, past the callbacks of the caller's own statement.
func (k *Keys) session(ctx context.Context) *gorm.DB {
	return k.db.Session(&gorm.Session{NewDB: true, Context: ctx})
}

// How often a statement is tried that the database gives up, and how long it pauses at most.
const (
	tries    = 10
	maxPause = 50 * time.Millisecond
)

// persist runs a statement, and runs it again while the database gives it up in favour of others.
func (k *Keys) persist(ctx context.Context, statement func() error) error {
	pauses := &backoff.ExponentialBackOff{InitialInterval: maxPause / 2, MaxInterval: maxPause / 2, Multiplier: 1, RandomizationFactor: 1}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := statement()
		if err != nil && k.failureOf(err) != pathlock.FailureLocked {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(tries), backoff.WithMaxElapsedTime(0))
	return err
}

// exec runs a statement by itself, and returns how many rows it has hit.
func (k *Keys) exec(ctx context.Context, sql string, values ...any) (rows int64, err error) {
	err = k.persist(ctx, func() error {
		done := k.session(ctx).Exec(sql, values...)
		rows = done.RowsAffected
		return done.Error
	})
	return rows, err
}

// read returns the row of a key, nil if there is none.
func (k *Keys) read(ctx context.Context, id string) (*row, error) {
	var rows []row
	err := k.persist(ctx, func() error { return k.session(ctx).Raw(k.sql.read, id).Scan(&rows).Error })
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// pause waits, at most until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
