package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
)

// takeBack is how long a caller whose context has ended waits for what it has sent to be taken
// back, so that as a rule nothing of it is left when it goes on. A server that answers at all does so within that time.
const takeBack = 100 * time.Millisecond

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

// call runs one command and waits for its result for no longer than ctx and the store's
// timeout allow, whatever the client's own timeouts are. If the result comes when
// nobody waits for it any more, it is given to orphan, unless that is nil: what was acquired must not stay.
//
// Errors match [pathlock.ErrUnavailable], or ctx's error, or both if ctx's deadline passed while the server had the command.
func call[T any](ctx context.Context, s *Store, what string, command func(context.Context) (T, error), orphan func(T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, interrupted(ctx, what)
	}
	if !s.begin() {
		return none, unavailable(what, errClosed)
	}
	type result struct {
		value T
		err   error
	}
	results, abandoned, over := make(chan result), make(chan struct{}), make(chan struct{})
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.config.timeout)
	go func() {
		defer s.commands.Done()
		defer cancel()
		defer close(over)
		value, err := command(bounded)
		select {
		case results <- result{value, err}:
		case <-abandoned:
			if orphan != nil {
				orphan(value, err)
			}
		}
	}()
	select {
	case r := <-results:
		if r.err != nil {
			return none, s.failed(what, r.err)
		}
		return r.value, nil
	case <-ctx.Done():
		close(abandoned)
		if orphan != nil {
			select {
			case <-over:
			case <-time.After(takeBack):
			}
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return none, unavailable(what, ctx.Err()) // the server had its time, too
		}
		return none, interrupted(ctx, what)
	case <-bounded.Done():
		close(abandoned)
		return none, s.failed(what, bounded.Err())
	}
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

// failed returns the error for a command that the server did not carry out. That
// the store's own time was up is not told as a context's error, which callers would take for their own context's.
func (s *Store) failed(what string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %v", s.config.timeout)
	}
	return unavailable(what, err)
}

func unavailable(what string, err error) error {
	return fmt.Errorf("%w: redis: %s: %w", pathlock.ErrUnavailable, what, err)
}

// interrupted returns the error for something that ctx's end has cut short.
func interrupted(ctx context.Context, what string) error {
	err := ctx.Err()
	if cause := context.Cause(ctx); !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return fmt.Errorf("redisstore: %s: %w", what, err)
}
