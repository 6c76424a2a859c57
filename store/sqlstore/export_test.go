package sqlstore

import (
	"context"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// View returns what a tree holds.
func (s *Store) View(ctx context.Context, tree pathlock.Tree) (state ticketstore.State, err error) {
	for done := false; !done && err == nil; {
		done, err = s.backend.Update(ctx, tree, true, func(is ticketstore.State) ticketstore.Changes {
			state = is
			return ticketstore.Changes{}
		})
	}
	return state, err
}

// Sweep sweeps now.
func (s *Store) Sweep(ctx context.Context) error { return s.backend.Sweep(ctx) }

// Listening reports whether the store listens for notifications.
func (s *Store) Listening() bool {
	w := s.backend.watcher
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.listening
}

// Watch watches a tree in which nobody waits.
func (s *Store) Watch(ctx context.Context, tree pathlock.Tree) {
	s.backend.Watch(ctx, tree, ticketstore.Ticket{}, ticketstore.Ticket{})
}

// WithKeep sets how long the row of an empty tree stays.
func WithKeep(d time.Duration) Option { return func(c *config) { c.keep = d } }

// WithSweepPortion sets how many rows a statement of a sweep removes.
func WithSweepPortion(n int64) Option { return func(c *config) { c.sweepPortion = n } }

// ParsesPayload reports whether the listener takes the payload of a notification.
func ParsesPayload(payload string) bool {
	_, ok := parsePayload("", payload)
	return ok
}
