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
