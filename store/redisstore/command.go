package redisstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// errClosed is why a store that has been closed cannot serve.
var errClosed = errors.New("the store is closed")

// begin reports whether a command may begin; if so, s.commands.Done ends it.
func (s *Store) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.commands.Add(1)
	return true
}

// call runs one command, for no longer than ctx's deadline and the store's timeout allow. A command that fails, or
// is given up, may have been carried out all the same: when it has ended, takeBack, unless it is nil, has to
// begin taking back what nobody waits for any more.
//
// Errors match [pathlock.ErrUnavailable], or ctx's error, or both if ctx's deadline passed while the server had the command.
func call[T any](ctx context.Context, s *Store, what operation, command func(context.Context) (T, error), takeBack func()) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, interrupted(ctx, what)
	}
	if !s.begin() {
		return none, unavailable(what, errClosed)
	}
	run := here[T]
	if !s.punctual {
		run = aside[T]
	}
	value, err := run(ctx, s, command, takeBack)
	if err != nil {
		return none, s.failed(ctx, what, err)
	}
	return value, nil
}

// here runs a command on the caller's goroutine: for clients that give up when their context's deadline has passed. If
// ctx is cancelled earlier, the answer is waited for all the same. As a rule it is on its way, and tells what there is to take back.
func here[T any](ctx context.Context, s *Store, command func(context.Context) (T, error), takeBack func()) (T, error) {
	defer s.commands.Done()
	value, err := command(until{ctx, time.Now().Add(s.config.timeout)})
	if err != nil && takeBack != nil {
		takeBack()
	}
	return value, err
}

// until is a context with a deadline that nobody is told of: a punctual client gives it to the connection. It costs
// no timer, unlike [context.WithDeadline].
type until struct {
	context.Context
	latest time.Time
}

// Deadline implements [context.Context].
func (u until) Deadline() (time.Time, bool) {
	if d, ok := u.Context.Deadline(); ok && d.Before(u.latest) {
		return d, true
	}
	return u.latest, true
}

// aside runs a command on a goroutine of its own, which the caller leaves behind when ctx ends: for clients
// that go by their own timeouts alone.
func aside[T any](ctx context.Context, s *Store, command func(context.Context) (T, error), takeBack func()) (T, error) {
	type result struct {
		value T
		err   error
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.timeout)
	defer cancel()
	results := make(chan result)
	go func() {
		defer s.commands.Done()
		value, err := command(ctx)
		select {
		case results <- result{value, err}:
			if err == nil {
				return
			}
		case <-ctx.Done():
		}
		if takeBack != nil {
			takeBack()
		}
	}()
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// punctual reports whether a client gives up when its context's deadline has passed.
func punctual(client redis.UniversalClient) bool {
	switch c := client.(type) {
	case *redis.Client:
		return c.Options().ContextTimeoutEnabled
	case *redis.ClusterClient:
		return c.Options().ContextTimeoutEnabled
	case *redis.Ring:
		return c.Options().ContextTimeoutEnabled
	default:
		return false
	}
}

// isClosed reports whether Close has begun.
func (s *Store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// background does something that no caller waits for, such as giving back what came too late. Close waits for it.
func (s *Store) background(ctx context.Context, do func(context.Context)) {
	if !s.begin() {
		return
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.timeout)
	go func() {
		defer s.commands.Done()
		defer cancel()
		do(bounded)
	}()
}

// failed returns the error for a command of ctx that the server did not carry out. That
// the store's own time was up is not told as a context's error, which callers would take for their own context's.
func (s *Store) failed(ctx context.Context, what operation, err error) error {
	// The connection's deadline is the context's, and may be noticed first.
	deadline, ok := ctx.Deadline()
	if refusal := redis.Error(nil); !errors.As(err, &refusal) {
		// The node may be down, and its slots another's by now. A cluster's client finds out once a minute by itself.
		s.listener.relocate(context.WithoutCancel(ctx))
	}
	switch {
	case ok && !time.Now().Before(deadline):
		return unavailable(what, context.DeadlineExceeded)
	case ctx.Err() != nil:
		return interrupted(ctx, what)
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded):
		return unavailable(what, fmt.Errorf("no answer within %v", s.config.timeout))
	default:
		return unavailable(what, err)
	}
}

// operation names what is being done, for errors.
type operation struct {
	verb  string
	tree  pathlock.Tree
	owner pathlock.Owner
}

// String implements [fmt.Stringer].
func (o operation) String() string {
	s := o.verb
	if !o.tree.IsZero() {
		s += " in " + o.tree.String()
	}
	if o.owner != "" {
		s += " by owner " + o.owner.Short()
	}
	return s
}

func unavailable(what operation, err error) error {
	return fmt.Errorf("%w: redis: %s: %w", pathlock.ErrUnavailable, what, err)
}

// interrupted returns the error for something that ctx's end has cut short.
func interrupted(ctx context.Context, what operation) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return fmt.Errorf("redisstore: %s: %w", what, err)
}
