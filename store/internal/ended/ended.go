// Package ended says why a call has ended with its context.
package ended

import (
	"context"
	"errors"
	"fmt"
)

// By returns the error of a context that has ended, with its cause.
func By(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
