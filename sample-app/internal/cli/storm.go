package cli

import (
	"context"
)

type stormCommand struct{}

// Run implements the command.
func (c *stormCommand) Run(ctx context.Context, streams streams) error { return nil }
