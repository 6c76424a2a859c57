package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"time"

	"github.com/pathlock-go/pathlock/sample-app/internal/storm"
)

type stormCommand struct {
	DB            string        `help:"Database server or SQLite path. Each row gets a new database beside it, so the user needs the right to create one. The default is a temporary file. For a password, set the environment variable: other users can see the command line." default:"sqlite://" env:"PATHLOCK_DB" placeholder:"URL"`
	LocksPassword string        `help:"Password of the lock store, not encoded, if its URL has none. Set the environment variable: other users can see the command line." env:"PATHLOCK_LOCKS_PASSWORD" placeholder:"PASSWORD"`
	Locks         string        `help:"Lock store: ${stores}. The default is the SQL lock store, in the database of each row." env:"PATHLOCK_LOCKS" placeholder:"URL"`
	Instances     int           `help:"Number of instances." default:"3"`
	Clients       int           `help:"Number of clients of each instance." default:"8"`
	Duration      time.Duration `help:"How long each of the three rows takes." default:"3s"`
	Seed          uint64        `help:"Seed of the clients' choices. 0 means a random one." default:"0"`
}

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
	return storm.Run(ctx, storm.Config{
		DB: c.DB, Locks: c.Locks, LocksPassword: c.LocksPassword, Instances: c.Instances, Clients: c.Clients, Duration: c.Duration, Seed: c.Seed,
		Serve: func(ctx context.Context, args ...string) *exec.Cmd { return exec.CommandContext(ctx, self, args...) },
		Out:   streams.out,
	})
}
