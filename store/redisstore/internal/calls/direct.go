package calls

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// briskly is how soon a server answers that is asked directly.
	briskly = 10 * time.Millisecond
	// directTime is how long a direct call waits for its answer. A call that is cancelled meanwhile
	// returns that much later.
	directTime = 250 * time.Millisecond
)

// LongestDelay is how late a command that was left behind may come to a server that answers others:
// operating systems give up sooner what a closed connection has not delivered.
const LongestDelay = 2 * time.Minute

// Pace is what a caller knows of how soon its server answers.
//
// A call that can be left behind has a goroutine of its own (see [Do]). On processors that are idle
// otherwise, waking the goroutine takes longer than the whole round trip; BenchmarkDirect compares.
// So as long as the server answers briskly, a call that bears to be made twice runs on its caller's
// goroutine, for a short time. If there is no answer by then, the server has just fallen silent:
// the call is made again, so that its caller can leave.
type Pace struct {
	// Heeds is whether the client gives a command up at its context's deadline. Tests set it.
	Heeds bool
	// Brisk is whether the server answered the last command briskly. Tests set it.
	Brisk atomic.Bool
}

func newPace(client redis.UniversalClient) *Pace {
	c, single := client.(*redis.Client)
	return &Pace{Heeds: single && c.Options().ContextTimeoutEnabled}
}

// note notes how a command has ended that began at some time.
func (p *Pace) note(began time.Time, err error) {
	if p.Heeds {
		brisk := Answered(err) && time.Since(began) < briskly
		if p.Brisk.Load() != brisk {
			p.Brisk.Store(brisk)
		}
	}
}

// Direct is [Ask] on the caller's goroutine, if the server is brisk; r may be nil. It reports
// whether that has decided the call. If not, the command may have been carried out all the same,
// and has to be sent again in the time left.
func Direct[T any](
	ctx context.Context, c *Caller, what Operation, r *Request, within time.Duration, command func(context.Context) (T, error),
) (value T, left time.Duration, decided bool, err error) {
	left = within
	if !c.Pace.Brisk.Load() || ctx.Err() != nil {
		return value, left, false, nil
	}
	if err := c.Begin(); err != nil {
		return value, left, true, Unavailable(what, err)
	}
	defer c.End()
	f := newFlight(r)
	bounded, cancel := context.WithTimeout(ctx, min(directTime, left))
	defer cancel()
	began := time.Now()
	value, err = command(bounded)
	c.Pace.note(began, err)
	left -= time.Since(began)
	if err == nil {
		return value, left, true, nil
	}
	late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
	if late && left > 0 && ctx.Err() == nil {
		return value, left, false, nil
	}
	c.takeBacks.add(f, err)
	return value, left, true, c.Failed(ctx, what, err)
}

// DoTwice is [Do] for a command that bears to be carried out twice, by [Direct] where that serves.
func DoTwice[T any](ctx context.Context, c *Caller, what Operation, command func(context.Context) (T, error)) (T, error) {
	value, left, decided, err := Direct(ctx, c, what, nil, c.config.Timeout, command)
	if decided {
		return value, err
	}
	return Ask(ctx, c, what, nil, left, command)
}
