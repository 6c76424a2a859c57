// Package ended is about calls that end with their contexts.
package ended

import (
	"context"
	"errors"
	"fmt"
)

// Within returns the error of do, or that of ctx if it ends first. Then do goes on behind the call.
func Within(ctx context.Context, do func() error) error {
	over := make(chan error, 1)
	go func() { over <- do() }()
	select {
	case err := <-over:
		return err
	case <-ctx.Done():
		return fmt.Errorf("closing the store: %w", By(ctx))
	}
}

// By returns the error of a context that has ended, with its cause.
func By(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
