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

// PreparedResolver is a [Resolver] that can keep what it reads for those who write later in the
// same request, so that they need not read it again.
type PreparedResolver interface {
	Resolver
	// Prepare returns a context under which Resolve keeps what it reads, until somebody takes it
	// who has a context that derives from this one.
	Prepare(ctx context.Context) context.Context
}

// Resolution is what became of one id: where its node is, or the error of [Resolver.Resolve].
type Resolution struct {
	Location
	Err error
}

// BatchResolver is a [Resolver] that finds several nodes for about what one costs. The middleware
// asks it for all ids of a request together.
type BatchResolver interface {
	Resolver
	// ResolveAll returns what Resolve would return for each of the ids, in their order.
	ResolveAll(ctx context.Context, ids []string) []Resolution
}
