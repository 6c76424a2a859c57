package redisstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/pathlock-go/pathlock"
)

// begin reports why no command may begin; where it is nil, s.commands.Done ends the command.
func (s *Store) begin() error {
	if s.refusal != nil {
		return s.refusal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return pathlock.ErrClosed
	}
	s.commands.Add(1)
	return nil
}

// call runs one command, for no longer than ctx and the store's timeout allow, whatever the client
// and the network do. If it is about a request, which r is then, and fails, or is left behind, the
// request is taken back: it may have been carried out all the same.
//
// Errors match [pathlock.ErrUnavailable], or ctx's error, or both if ctx's deadline passed while
// the server had the command.
func call[T any](ctx context.Context, s *Store, what operation, command func(context.Context) (T, error), r *request) (T, error) {
	return callFor(ctx, s, what, s.config.timeout, command, r)
}

// callFor is [call] for so long.
func callFor[T any](
	ctx context.Context, s *Store, what operation, timeout time.Duration, command func(context.Context) (T, error), r *request,
) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, interrupted(ctx, what)
	}
	if err := s.begin(); err != nil {
		return none, unavailable(what, err)
	}
	value, err := leaving(ctx, s, timeout, command, r)
	if err != nil {
		return none, s.failed(ctx, what, err)
	}
	return value, nil
}

// leaving runs a command on a goroutine of its own, which the caller leaves behind when ctx ends or
// the time is up. A client gives up only what it does under its context's Done and
// deadline, and once a command is on its way it is waiting for the connection alone.
func leaving[T any](ctx context.Context, s *Store, timeout time.Duration, command func(context.Context) (T, error), r *request) (T, error) {
	type result struct {
		value T
		err   error
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	results, left, f := make(chan result), make(chan struct{}), newFlight(r)
	go func() {
		defer s.commands.Done()
		began := time.Now()
		value, err := command(ctx)
		s.pace.note(began, err)
		if err != nil && r != nil {
			s.takeBacks.add(f, err) // before the caller can make the request again
		}
		select {
		case results <- result{value, err}:
		case <-left:
			if err == nil && r != nil {
				s.takeBacks.add(f, err)
			}
		}
	}()
	select {
	case got := <-results:
		return got.value, got.err
	case <-ctx.Done():
		if r != nil {
			s.takeBacks.leave(f)
		}
		close(left)
		var none T
		return none, ctx.Err()
	}
}

// farewell is how long a call may take after its context has ended, or it has its answer, to leave
// everything in order and say what was in the way.
const farewell = 500 * time.Millisecond

// isClosed reports whether Close has begun.
func (s *Store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// background does something that no caller waits for, such as giving back what came too late. Close
// waits for it.
func (s *Store) background(ctx context.Context, do func(context.Context)) {
	if s.begin() != nil {
		return
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.timeout)
	go func() {
		defer s.commands.Done()
		defer cancel()
		do(bounded)
	}()
}

// failed returns the error for a command of ctx that the server did not carry out. That the store's
// own time was up is not told as a context's error, which callers would take for their own
// context's.
func (s *Store) failed(ctx context.Context, what operation, err error) error {
	// The connection's deadline is the context's, and may be noticed first.
	deadline, ok := ctx.Deadline()
	if !answered(err) {
		// The node may be down, and its slots another's by now. A cluster's client finds out once a
		// minute by itself.
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
