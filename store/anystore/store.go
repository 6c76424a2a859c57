package anystore

import (
	"context"

	"github.com/pathlock-go/pathlock"
)

// Store is an open lock store of any kind.
type Store struct {
	// Store is the store itself, such as a *redisstore.Store, for what only that kind can do.
	pathlock.Store

	scheme, where string
	close         func(context.Context) error
}

// Scheme returns the scheme of the URL, such as redis+cluster. That of a store that grants
// everything is off.
func (s *Store) Scheme() string { return s.scheme }

// String describes the store to people by its URL, without user, password and options.
func (s *Store) String() string { return s.where }

// Close ends the store and its connections. Locks that are still held are left to their leases. If
// ctx ends first, the error matches ctx's error.
func (s *Store) Close(ctx context.Context) error {
	if s.close == nil {
		return nil
	}
	return s.close(ctx)
}
