package idempotency

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
)

// The reasons why [Once] does not get its key, besides errors of the database. Requests get an
// answer instead.
var (
	// ErrInUse: an earlier run with the key had not ended after [Config.Wait]. Try again later.
	ErrInUse = errors.New("idempotency: another run with this key is still in progress")
	// ErrReused: the key was used for something else.
	ErrReused = errors.New("idempotency: the key was used for something else")
)

// errNoMore: the work of the key is done, but its answer is not known.
var errNoMore = errors.New("idempotency: the answer is lost")

// The pauses between two reads of a key whose request is running. No database can wake a client
// that waits for a row, unless it keeps a connection.
const (
	firstPause   = 10 * time.Millisecond
	longestPause = 250 * time.Millisecond
)

// claim makes the request the one that runs under a key, or returns the recorded answer.
func (k *Keys) claim(ctx context.Context, r *request, fingerprint string) (*row, error) {
	lease, keep := k.config.Lease.Milliseconds(), k.config.Keep.Milliseconds()
	begun := time.Now()
	pauses := backoff.ExponentialBackOff{InitialInterval: firstPause, MaxInterval: longestPause, Multiplier: 2, RandomizationFactor: 0.5}
	for {
		found, err := k.read(ctx, r.id)
		if err != nil {
			return nil, err
		}
		var claimed bool
		switch {
		case found == nil:
			var rows int64
			rows, err = k.exec(ctx, k.sql.insert, r.id, fingerprint, r.attempt, lease, keep)
			claimed = rows == 1 // else somebody has just claimed it, or the look was at an old copy
		case found.Expired != 0:
			claimed, err = k.takeover(ctx, r, fingerprint, found.Attempt)
		case found.Fingerprint != fingerprint:
			return nil, ErrReused
		case found.State == answered:
			return found, nil
		case found.State == committed && found.Lapsed != 0:
			return nil, errNoMore
		case found.Lapsed != 0:
			claimed, err = k.takeover(ctx, r, fingerprint, found.Attempt)
		}
		if err != nil {
			r.giveBack(ctx) // it may be claimed: only the answer may be lost
			return nil, err
		}
		if claimed {
			return nil, nil
		}
		left := k.config.Wait - time.Since(begun)
		if left <= 0 {
			return nil, ErrInUse
		}
		if err := pause(ctx, min(left, pauses.NextBackOff())); err != nil {
			return nil, err
		}
	}
}

// takeover claims a key whose row has the attempt lapsed. It does not wait for a transaction of
// that attempt: until its end, the request counts as running, and taken is false.
func (k *Keys) takeover(ctx context.Context, r *request, fingerprint, lapsed string) (taken bool, err error) {
	lease, keep := k.config.Lease.Milliseconds(), k.config.Keep.Milliseconds()
	err = k.session(ctx).Transaction(func(tx *gorm.DB) error {
		if err := tx.Exec(k.sql.lockRow, r.id).Error; err != nil {
			return err
		}
		done := tx.Exec(k.sql.takeover, fingerprint, r.attempt, lease, keep, r.id, lapsed)
		taken = done.RowsAffected == 1
		return done.Error
	})
	if k.failureOf(err) == pathlock.FailureLocked {
		return false, nil
	}
	return taken && err == nil, err
}
