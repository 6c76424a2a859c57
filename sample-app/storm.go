package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"

	"github.com/pathlock-go/pathlock/sample-app/internal/storm"
)

type stormCommand struct{ storm.Config }

// Validate refuses settings that no storm can run with.
func (c *stormCommand) Validate() error {
	var db error
	if c.DB != "sqlite://" { // a temporary file
		db = checkDB(c.DB)
	}
	var positive error
	if c.Instances < 1 || c.Clients < 1 || c.Duration <= 0 {
		positive = errors.New("--instances, --clients and --duration must be positive")
	}
	return errors.Join(refused("--db", "PATHLOCK_DB", db), c.checkLocks(), positive)
}

// checkLocks refuses the settings of the lock store, unless it is the default.
func (c *stormCommand) checkLocks() error {
	switch {
	case c.Locks == "memory://":
		return refused("--locks", "PATHLOCK_LOCKS", errors.New("the instances of a storm need a lock store that processes share, and a store in memory serves only one"))
	case c.Locks != "":
		return checkLocks(c.Locks, c.LocksPassword)
	case c.LocksPassword != "":
		return refused("--locks-password", "PATHLOCK_LOCKS_PASSWORD", errors.New("there is no --locks (PATHLOCK_LOCKS) for this password"))
	default:
		return nil
	}
}

// Run implements the command.
func (c *stormCommand) Run(ctx context.Context, streams streams) error {
	if c.Seed == 0 {
		c.Seed = rand.Uint64()
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("storm: find this program: %w", err)
	}
	c.Serve = func(ctx context.Context, args ...string) *exec.Cmd { return exec.CommandContext(ctx, self, args...) }
	c.Out = streams.out
	return storm.Run(ctx, c.Config)
}
