package sqlstore

import (
	"context"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Backend returns what the store keeps its tickets in.
func (s *Store) Backend() ticketstore.Backend { return s.backend }

// Sweep sweeps now.
func (s *Store) Sweep(ctx context.Context) error { return s.backend.sweeper.sweep(ctx) }

// Listening reports whether notifications arrive.
func (s *Store) Listening() bool {
	l := s.backend.lookout
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.listening
}

// Lock begins a transaction that is alone with a tree, and abandons it. The function ends it.
func (s *Store) Lock(ctx context.Context, tree pathlock.Tree) (end func(), err error) {
	l, err := s.backend.engine.lock(ctx, identity{keyOf(tree), tree.Namespace(), tree.ID()})
	if err != nil {
		return nil, err
	}
	return l.close, nil
}

// WithKeep sets how long the row of an empty tree stays.
func WithKeep(d time.Duration) Option { return func(c *config) { c.keep = d } }
