package pathlock

import "context"

// Location is where a node is: its tree and its path in it.
type Location struct {
	Tree Tree
	Path Path
}

// Resolver finds the node that an id in a request means. Package gormplugin makes one from a
// model's tags. Anything that can look up a path will do.
type Resolver interface {
	// Resolve returns where the node with the id is. The error matches [ErrInvalidID] if no node
	// can have the id, and [ErrNotFound] if none has it.
	Resolve(ctx context.Context, id string) (Location, error)
}

// ResolverFunc is a function that is a [Resolver].
type ResolverFunc func(ctx context.Context, id string) (Location, error)

// Resolve implements [Resolver].
func (f ResolverFunc) Resolve(ctx context.Context, id string) (Location, error) { return f(ctx, id) }

// PreparedResolver is a [Resolver] that can keep what it reads, so that a write later in the same
// request need not read it again.
type PreparedResolver interface {
	Resolver
	// Prepare returns a context under which Resolve keeps what it reads. A write under a context
	// derived from it takes what was kept.
	Prepare(ctx context.Context) context.Context
}

// Resolution is where the node with an id is, or the error of [Resolver.Resolve].
type Resolution struct {
	Location
	Err error
}

// BatchResolver is a [Resolver] that finds several nodes at about the cost of one. The middleware
// asks it for all ids of a request at once.
type BatchResolver interface {
	Resolver
	// ResolveAll returns what Resolve would return for each id, in their order.
	ResolveAll(ctx context.Context, ids []string) []Resolution
}

// FailureExplainer is a [Resolver] that knows the meaning of errors that state no [Failure], such
// as those of the database that it reads.
type FailureExplainer interface {
	// FailureOf returns the [Failure] that the error states or means, "" if neither is known.
	FailureOf(err error) Failure
}
