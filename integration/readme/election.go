package readme

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/election"
)

// One instance does the work, and the others do without.
func rebuildOnce(ctx context.Context, locker *pathlock.Locker, rebuild func(context.Context) error) error {
	lock, err := locker.Mutex("search/rebuild").TryLock(ctx)
	if errors.Is(err, pathlock.ErrConflict) {
		return nil // another instance rebuilds it
	}
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release(ctx) }()
	return rebuild(lock.Context())
}

// Whoever has read may write without letting another writer in between.
func change(ctx context.Context, locker *pathlock.Locker, isDue func(context.Context) bool, write func(context.Context) error) error {
	settings := locker.RWMutex("settings")
	reader, err := settings.RLock(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = reader.Release(ctx) }()
	if !isDue(reader.Context()) {
		return nil
	}
	writer, err := settings.Lock(reader.Context())
	if err != nil {
		return err // ErrDeadlock: another reader is about to write. Release, and start over
	}
	defer func() { _ = writer.Release(ctx) }()
	return write(writer.Context())
}

// nightly runs on every instance, and works on the one that leads.
func nightly(ctx context.Context, locker *pathlock.Locker, host string, nights <-chan time.Time, report func(context.Context, time.Time, uint64) error) error {
	e := election.New(locker, "nightly-report")
	for {
		leadership, err := e.Campaign(ctx, host)
		if err == nil {
			err = lead(leadership, nights, report)
			_ = leadership.Resign(ctx)
		}
		passing := errors.Is(err, pathlock.ErrLost) || errors.Is(err, pathlock.ErrUnavailable)
		if !passing || errors.Is(err, pathlock.ErrClosed) {
			return err
		}
		select { // the leadership was lost, or the lock store does not answer: try again
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func lead(leadership *election.Leadership, nights <-chan time.Time, report func(context.Context, time.Time, uint64) error) error {
	ctx := leadership.Context()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case night := <-nights:
			err := report(ctx, night, leadership.Term())
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx) // the report ended with the leadership
			case err != nil:
				return err
			}
		}
	}
}

// Report is a row that keeps the term of its latest writer.
type Report struct {
	Day    string `gorm:"primaryKey"`
	Visits int64
	Term   uint64
}

// save refuses a leader whose term is over.
func save(db *gorm.DB, r Report) error {
	if err := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&Report{Day: r.Day}).Error; err != nil {
		return err
	}
	saved := db.Where("term <= ?", r.Term).Select("*").Updates(&r)
	if saved.Error == nil && saved.RowsAffected == 0 {
		return fmt.Errorf("%w: a later leader has written the report of %s", pathlock.ErrLost, r.Day)
	}
	return saved.Error
}

// follow keeps a client connected to whoever leads.
func follow(ctx context.Context, locker *pathlock.Locker, connect func(addr string)) {
	for leader, err := range election.New(locker, "primary").Observe(ctx) {
		if err == nil && !leader.IsZero() {
			connect(leader.Value)
		}
	}
}
