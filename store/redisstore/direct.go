package redisstore

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
	// longestDelay is how late a direct question may come: operating systems give up what a closed
	// connection has not delivered sooner than that.
	longestDelay = 2 * time.Minute
)

// pace is what a store knows of how soon its server answers.
//
// A call that can be left behind has a goroutine of its own (see [leaving]). Waking the processors
// that run it takes longer than the whole round trip where they are idle otherwise; BenchmarkDirect
// compares. So as long as the server answers briskly, a call that bears to be made twice runs on
// its caller's goroutine, for a short time. If there is no answer by then, the server has fallen
// silent just now: the call is made again, so that its caller can leave.
type pace struct {
	// possible is whether the client gives up a command at its context's deadline.
	possible bool
	brisk    atomic.Bool
}

func newPace(client redis.UniversalClient) *pace {
	c, single := client.(*redis.Client)
	return &pace{possible: single && c.Options().ContextTimeoutEnabled}
}

// note notes how a command has ended that began at some time.
func (p *pace) note(began time.Time, err error) {
	if p.possible {
		brisk := answered(err) && time.Since(began) < briskly
		if p.brisk.Load() != brisk {
			p.brisk.Store(brisk)
		}
	}
}

// answered reports whether a command with that error got an answer from its server.
func answered(err error) bool {
	var refusal redis.Error
	return err == nil || errors.As(err, &refusal)
}

// direct is [call] on the caller's goroutine, if the server is brisk. It reports whether that has
// decided the call; if not, it may have been carried out all the same, and has to be made again in
// time left.
func direct[T any](
	ctx context.Context, s *Store, what operation, command func(context.Context) (T, error), r *request,
) (value T, left time.Duration, decided bool, err error) {
	left = s.config.timeout
	if !s.pace.brisk.Load() || ctx.Err() != nil {
		return value, left, false, nil
	}
	if err := s.begin(); err != nil {
		return value, left, true, unavailable(what, err)
	}
	defer s.commands.Done()
	f := newFlight(r)
	bounded, cancel := context.WithTimeout(ctx, min(directTime, left))
	defer cancel()
	began := time.Now()
	value, err = command(bounded)
	s.pace.note(began, err)
	left -= time.Since(began)
	if err == nil {
		return value, left, true, nil
	}
	late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
	if late && left > 0 && ctx.Err() == nil {
		return value, left, false, nil
	}
	if r != nil {
		s.takeBacks.add(f, err)
	}
	return value, left, true, s.failed(ctx, what, err)
}

// callDirectly is [call] for a command that bears to be carried out twice.
func callDirectly[T any](ctx context.Context, s *Store, what operation, command func(context.Context) (T, error)) (T, error) {
	value, left, decided, err := direct(ctx, s, what, command, nil)
	if decided {
		return value, err
	}
	return callFor(ctx, s, what, left, command, nil)
}
