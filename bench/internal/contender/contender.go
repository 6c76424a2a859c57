package contender

import (
	"context"
	"errors"
	"time"

	"github.com/pathlock-go/pathlock"
)

// ErrHeld says that somebody else holds the lock.
var ErrHeld = errors.New("held by somebody else")

// lease is how long a contender's lock outlives its holder. It is longer than any measurement.
const lease = 10 * time.Minute

// Contender is one way of locking.
type Contender struct {
	// Name is its name in tables and results.
	Name string
	// Module is the Go module that it measures, and "" for code of this package.
	Module string
	// What describes one acquisition and its release in one line.
	What string
	// Excludes says that it really locks. The others only show the cost of the network and the
	// server.
	Excludes bool
	// Shares says that two leaves below one node can be locked at the same time, either because
	// ancestors are protected by shared locks or because they are not protected at all.
	Shares bool
	// Open connects. Each call stands for a process of its own.
	Open func(ctx context.Context, at Server) (Locks, error)
}

// Server is where contenders keep their locks. Those in memory ignore it.
type Server struct {
	// URL is that of a Redis: redis://host:port/db.
	URL string
	// Prefix begins the names of all keys, so that they can be found and deleted afterwards. It has
	// letters, digits and dashes.
	Prefix string
}

// Locks is an open contender. It may be used by many goroutines.
type Locks interface {
	// Lock returns the lock of one leaf and of the nodes above it that the contender locks. It
	// takes nothing yet.
	Lock(tree string, leaf pathlock.Path) (Lock, error)
	// Close closes connections. It releases no locks.
	Close() error
}

// Lock is acquired and released repeatedly by one goroutine at a time. Several Locks of one leaf
// exclude each other.
type Lock interface {
	// Acquire takes the lock, or fails at once with [ErrHeld].
	Acquire(ctx context.Context) error
	// Release releases the lock.
	Release(ctx context.Context) error
}

// Waiter is a [Lock] that can wait for its grant.
type Waiter interface {
	Lock
	// Wait is Acquire, but waits for others in the contender's own way.
	Wait(ctx context.Context) error
}
