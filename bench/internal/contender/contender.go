package contender

import (
	"context"
	"errors"
	"time"

	"github.com/pathlock-go/pathlock"
)

// ErrHeld is what an attempt ends with when somebody else holds what is asked for.
var ErrHeld = errors.New("held by somebody else")

// lease is how long any contender's lock outlives its holder: longer than anything that is
// measured.
const lease = 10 * time.Minute

// Contender is one way of locking.
type Contender struct {
	// Name is what tables and results call it.
	Name string
	// Module is the Go module that it measures, "" for what is written here.
	Module string
	// What says in one line what one acquisition and one release are.
	What string
	// Excludes is set for what really locks; the others only show what the network and the server
	// cost.
	Excludes bool
	// Shares is set if two leaves below one node can be locked at the same time although their
	// ancestors, too, are protected, or none is.
	Shares bool
	// Open connects. Each call is like a process of its own.
	Open func(ctx context.Context, at Server) (Locks, error)
}

// Server is where contenders keep their locks; those of this process ignore it.
type Server struct {
	// URL of a Redis: redis://host:port/db.
	URL string
	// Prefix is what the names of all keys begin with, so that they can be found, and deleted,
	// afterwards. Letters, digits and dashes.
	Prefix string
}

// Locks is an open contender. It may be used by many goroutines.
type Locks interface {
	// Lock returns the lock of one leaf, and of what a contender locks above it. It takes nothing
	// yet.
	Lock(tree string, leaf pathlock.Path) (Lock, error)
	// Close gives up connections, not locks.
	Close() error
}

// Lock is taken and given back again and again by one goroutine at a time. Several Locks of one
// leaf exclude each other.
type Lock interface {
	// Acquire takes the lock, or fails at once with [ErrHeld].
	Acquire(ctx context.Context) error
	// Release gives back what was taken.
	Release(ctx context.Context) error
}

// Waiter is a [Lock] that can wait until it is granted.
type Waiter interface {
	Lock
	// Wait is Acquire, except that it waits for others in the contender's own way.
	Wait(ctx context.Context) error
}
