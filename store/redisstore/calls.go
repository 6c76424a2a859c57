package redisstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/lease"
)

// gracePeriod is how long a call may take in all, after its context has ended or it has its answer,
// to clean up and find out who was in the way.
const gracePeriod = 500 * time.Millisecond

// caller runs commands for a store, so that every call ends in time, whatever the client does:
// clients give a command up only at its context's deadline, and some not even then.
type caller struct {
	// timeout is how long a command may take.
	timeout time.Duration
	// punctual says that the client gives its connections the deadlines of contexts.
	punctual bool
	// refusal is why no command may begin; nil if commands may.
	refusal error
	// unanswered is called in the background when a server has not answered a command. It ends in
	// time by itself.
	unanswered func(context.Context)
	// withdraw takes a request back. If the request may still be on its way to the server, the
	// server grants it nothing for the time remember.
	withdraw func(ctx context.Context, k requestKey, remember time.Duration) error

	// closing ends with stop: from then on nobody waits, and no command begins.
	closing context.Context
	stop    context.CancelFunc
	// commands counts what is under way, first tries to take something back included. None begins
	// after close.
	commands sync.WaitGroup
	// takeBacks are the requests that are being taken back.
	takeBacks lease.Releases[requestKey]

	mu sync.Mutex // for close
}

func newCaller(timeout time.Duration, refusal error, unanswered func(context.Context), withdraw func(context.Context, requestKey, time.Duration) error) *caller {
	closing, stop := context.WithCancel(context.Background())
	return &caller{
		timeout: timeout, refusal: refusal, unanswered: unanswered, withdraw: withdraw,
		closing: closing, stop: stop,
	}
}

// begin reports why no command may begin. If it returns nil, [caller.end] has to follow.
func (c *caller) begin() error {
	if c.refusal != nil {
		return c.refusal
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing.Err() != nil {
		return pathlock.ErrClosed
	}
	c.commands.Add(1)
	return nil
}

// end ends what [caller.begin] has begun.
func (c *caller) end() { c.commands.Done() }

// close lets no command begin from now on and ends the waits, which watch closing. It reports
// whether it is the first call of close.
func (c *caller) close() (first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first = c.closing.Err() == nil
	c.stop()
	c.takeBacks.Hurry()
	return first
}

// do runs one command, for no longer than ctx and the caller's timeout allow, whatever the client
// and the network do.
//
// Errors match [pathlock.ErrUnavailable], or ctx's error, or both if ctx's deadline passed while
// the server had the command.
func do[T any](ctx context.Context, c *caller, what operation, command func(context.Context) (T, error)) (T, error) {
	return doFor(ctx, c, what, nil, c.timeout, command)
}

// doFor is [do], within a time, for a command about a request. If the command fails, or is left
// behind, doFor takes the request back, since the server may have executed the command.
//
// The command of a punctual client that changes something runs on the goroutine of the caller. A
// client heeds its context's Done only before the command is on its way: a context that is
// cancelled later ends the call when the server answers, or when the time is up. Any other command
// runs on a goroutine of its own, which the caller leaves behind when ctx ends or the time is up.
func doFor[T any](
	ctx context.Context, c *caller, what operation, r *request, within time.Duration, command func(context.Context) (T, error),
) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, interrupted(ctx, what)
	}
	if err := c.begin(); err != nil {
		return none, unavailable(what, err)
	}
	before := r.writes()
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var value T
	over, came := bounded.Done(), make(chan error, 1)
	run := func() {
		defer c.end()
		got, err := command(bounded)
		value = got
		came <- err
	}
	if c.punctual && !what.Looks {
		over = nil
		run()
	} else {
		go run()
	}
	var err error
	select {
	case err = <-came:
	case <-over:
		c.takeBack(r, func() error { return <-came })
		return none, c.failed(ctx, what, bounded.Err())
	}
	if err == nil {
		return value, nil
	}
	// A script that finds no memory for its first write has done nothing.
	if !redis.IsOOMError(err) || r.writes() > before+1 {
		c.takeBack(r, func() error { return err })
	}
	return none, c.failed(ctx, what, err)
}

// answered reports whether a command with that error got an answer from its server.
func answered(err error) bool {
	var refusal redis.Error
	return err == nil || errors.As(err, &refusal)
}

// failed returns the error for a command of ctx that the server did not carry out. If the caller's
// own time was up, the error matches no context's error: users would think that their own context
// had ended.
func (c *caller) failed(ctx context.Context, what operation, err error) error {
	// The connection's deadline is the context's, and may be noticed first.
	deadline, ok := ctx.Deadline()
	if !answered(err) && c.begin() == nil {
		go func() {
			defer c.end()
			c.unanswered(context.WithoutCancel(ctx))
		}()
	}
	switch {
	case ok && !time.Now().Before(deadline):
		return unavailable(what, context.DeadlineExceeded)
	case ctx.Err() != nil:
		return interrupted(ctx, what)
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded):
		return unavailable(what, fmt.Errorf("no answer within %v", c.timeout))
	default:
		return unavailable(what, err)
	}
}

// operation names what is being done, for errors.
type operation struct {
	Verb  string
	Tree  pathlock.Tree
	Owner pathlock.Owner
	// Looks is set if nothing changes: a caller that no longer wants the answer need not wait for
	// it.
	Looks bool
}

// String implements [fmt.Stringer].
func (o operation) String() string {
	s := o.Verb
	if !o.Tree.IsZero() {
		s += " in " + o.Tree.String()
	}
	if o.Owner != "" {
		s += " by owner " + o.Owner.Short()
	}
	return s
}

// unavailable returns an error that matches [pathlock.ErrUnavailable] and err.
func unavailable(what operation, err error) error {
	return fmt.Errorf("%w: redis: %s: %w", pathlock.ErrUnavailable, what, err)
}

// interrupted returns the error for something that ctx's end has cut short.
func interrupted(ctx context.Context, what operation) error {
	return fmt.Errorf("redisstore: %s: %w", what, ctx.Err())
}
