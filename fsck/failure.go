package fsck

import (
	"context"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// The database's answer to a failed statement decides how the repair goes on. It retries a
// transaction that the database has given up, and skips a tree that another session keeps busy and
// a row that the database refuses. Any other answer ends the repair.

// isRetryable reports whether the database gave a transaction up in favour of another.
func (c *catalogue) isRetryable(err error) bool {
	return c.dialect.Classify(err) == dialect.FailureEnded
}

// isBusy reports whether another session held a lock for longer than the transaction waits.
func (c *catalogue) isBusy(err error) bool {
	return c.dialect.Classify(err) == dialect.FailureRetry
}

// isRefused reports whether the database refused a statement because of the row that it writes. It
// may accept other rows.
func (c *catalogue) isRefused(err error) bool {
	return c.dialect.Refuses(err) || errors.Is(err, errNamed)
}

// errNamed: rows name the key of a new row as their parent.
var errNamed = errors.New("fsck")

// canceled adds the context's cause to an error, if the context has ended. Some databases report an
// interruption in their own words.
func canceled(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), err)
}
