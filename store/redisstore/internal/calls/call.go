package calls

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// Do runs one command, for no longer than ctx and the caller's timeout allow, whatever the client
// and the network do.
//
// Errors match [pathlock.ErrUnavailable], or ctx's error, or both if ctx's deadline passed while
// the server had the command.
func Do[T any](ctx context.Context, c *Caller, what Operation, command func(context.Context) (T, error)) (T, error) {
	return Ask(ctx, c, what, nil, c.config.Timeout, command)
}

// Ask is [Do], within a time, for a command about a request. If the command fails, or is left
// behind, the request is taken back: the server may have carried out the command all the same.
//
// The command runs on a goroutine of its own, which the caller leaves behind when ctx ends or the
// time is up. A client heeds its context's Done only before the command is on its way; from then on
// it waits for the connection alone.
func Ask[T any](
	ctx context.Context, c *Caller, what Operation, r *Request, within time.Duration, command func(context.Context) (T, error),
) (T, error) {
	var none, value T
	if ctx.Err() != nil {
		return none, Interrupted(ctx, what)
	}
	if err := c.Begin(); err != nil {
		return none, Unavailable(what, err)
	}
	var err error
	ended, before := make(chan struct{}), r.writes()
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	go func() {
		defer c.End()
		defer close(ended)
		value, err = command(bounded)
	}()
	select {
	case <-ended:
	case <-bounded.Done():
		c.takeBack(r, func() error { <-ended; return err })
		return none, c.Failed(ctx, what, bounded.Err())
	}
	if err == nil {
		return value, nil
	}
	// A script that finds no memory for its first write has done nothing.
	if !redis.IsOOMError(err) || r.writes() > before+1 {
		c.takeBack(r, func() error { return err })
	}
	return none, c.Failed(ctx, what, err)
}

// Answered reports whether a command with that error got an answer from its server.
func Answered(err error) bool {
	var refusal redis.Error
	return err == nil || errors.As(err, &refusal)
}

// Failed returns the error for a command of ctx that the server did not carry out. If the caller's
// own time was up, the error matches no context's error: users would take that for their own
// context's.
func (c *Caller) Failed(ctx context.Context, what Operation, err error) error {
	// The connection's deadline is the context's, and may be noticed first.
	deadline, ok := ctx.Deadline()
	if !Answered(err) && c.Begin() == nil {
		go func() {
			defer c.End()
			c.config.Unanswered(context.WithoutCancel(ctx))
		}()
	}
	switch {
	case ok && !time.Now().Before(deadline):
		return Unavailable(what, context.DeadlineExceeded)
	case ctx.Err() != nil:
		return Interrupted(ctx, what)
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded):
		return Unavailable(what, fmt.Errorf("no answer within %v", c.config.Timeout))
	default:
		return Unavailable(what, err)
	}
}

// Operation names what is being done, for errors.
type Operation struct {
	Verb  string
	Tree  pathlock.Tree
	Owner pathlock.Owner
}

// String implements [fmt.Stringer].
func (o Operation) String() string {
	s := o.Verb
	if !o.Tree.IsZero() {
		s += " in " + o.Tree.String()
	}
	if o.Owner != "" {
		s += " by owner " + o.Owner.Short()
	}
	return s
}

// Unavailable returns an error that matches [pathlock.ErrUnavailable] and err.
func Unavailable(what Operation, err error) error {
	return fmt.Errorf("%w: redis: %s: %w", pathlock.ErrUnavailable, what, err)
}

// Interrupted returns the error for something that ctx's end has cut short. It matches ctx's error
// and its cause.
func Interrupted(ctx context.Context, what Operation) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return fmt.Errorf("redisstore: %s: %w", what, err)
}
