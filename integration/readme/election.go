package readme

import (
	"context"
	"errors"
	"time"

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
