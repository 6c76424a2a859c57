package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// closing is how long a lock store may take to withdraw what nobody waits for any more.
const closing = 5 * time.Second

// isPrivate reports whether the lock store of a URL keeps no other program out.
func isPrivate(url string) bool {
	return strings.HasPrefix(url, "memory:") || strings.HasPrefix(url, "off:")
}

// stores lists the URLs of the lock stores that programs share, for the help.
func stores() string {
	return strings.Join(slices.DeleteFunc(anystore.Forms(), isPrivate), ", ")
}

// openLocks opens the lock store, unless the command line says off.
func (c *fsckCommand) openLocks(ctx context.Context, opts *fsck.RepairOptions, report *report) (func() error, error) {
	switch {
	case c.Locks == "off", c.Locks == "off://":
		report.warn("repairing without locks: only row locks protect the repair from other writers")
		return func() error { return nil }, nil
	case isPrivate(c.Locks):
		return nil, fmt.Errorf("%w: --locks: no other program sees the locks of this one's memory; give off if no program writes the table", errUsage)
	}
	store, err := anystore.Open(ctx, c.Locks, anystore.WithPassword(c.LocksPassword))
	if err != nil {
		return nil, fmt.Errorf("%w: --locks: %w", errUsage, err)
	}
	opts.Locker = pathlock.New(store)
	return func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		return store.Close(ctx)
	}, nil
}
