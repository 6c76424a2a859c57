package pathlock

import "context"

// Location is where a node is: its tree and its path in it.
type Location struct {
	Tree Tree
	Path Path
}

// Resolver finds the node that an id in a request means. The gormplugin package makes
// one from a model's tags; anything that can look up a path will do.
type Resolver interface {
	// Resolve returns where the node with the id is now. An id that no node
	// can have gives an error that matches [ErrInvalidID], one that no node has gives
	// an error that matches [ErrNotFound].
	Resolve(ctx context.Context, id string) (Location, error)
}

// ResolverFunc makes a [Resolver] of a function.
type ResolverFunc func(ctx context.Context, id string) (Location, error)

// Resolve implements [Resolver].
func (f ResolverFunc) Resolve(ctx context.Context, id string) (Location, error) { return f(ctx, id) }
