package pathlock

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/internal/shown"
)

// maxTreeBytes is the longest namespace or id of a [Tree], in bytes.
const maxTreeBytes = 255

// Tree is a lock domain. Claims in one tree can conflict, and claims in different trees never do.
// Two equal Trees are ==.
type Tree struct {
	namespace string
	id        string
}

// NewTree returns the tree called id in a namespace, such as ("testplan", "plan-001"). The
// namespace separates the trees of different applications on one lock store, or of different kinds
// within one application. Both may be any text: stores encode it.
//
// The error matches [ErrInvalidTree] if either is empty, longer than 255 bytes, not valid
// UTF-8, or contains control characters.
func NewTree(namespace, id string) (Tree, error) {
	for _, part := range []struct{ what, value string }{{"namespace", namespace}, {"id", id}} {
		switch v := part.value; {
		case v == "":
			return Tree{}, fmt.Errorf("%w: empty %s", ErrInvalidTree, part.what)
		case len(v) > maxTreeBytes:
			return Tree{}, fmt.Errorf("%w: the %s %q is %d bytes long, at most %d are allowed", ErrInvalidTree, part.what, shown.Cut(v), len(v), maxTreeBytes)
		case !utf8.ValidString(v):
			return Tree{}, fmt.Errorf("%w: the %s %q is not valid UTF-8", ErrInvalidTree, part.what, v)
		case strings.ContainsFunc(v, unicode.IsControl):
			return Tree{}, fmt.Errorf("%w: the %s %q contains a control character", ErrInvalidTree, part.what, v)
		}
	}
	return Tree{namespace, id}, nil
}

// Namespace returns the first argument of [NewTree].
func (t Tree) Namespace() string { return t.namespace }

// ID returns the second argument of [NewTree].
func (t Tree) ID() string { return t.id }

// IsZero reports whether t is the zero Tree, which no lock can be taken in.
func (t Tree) IsZero() bool { return t == Tree{} }

// String returns namespace and id for people to read: "testplan/plan-001".
func (t Tree) String() string { return t.namespace + "/" + t.id }

// MarshalText implements [encoding.TextMarshaler] with the form of [Tree.String].
func (t Tree) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Location is where a node is: its tree and its path in it.
type Location struct {
	Tree Tree
	Path Path
	// Leaf says that nothing can be below the node, whatever is below its path: a leaf and another
	// node may have one path.
	Leaf bool
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

// TreeResolver returns a [Resolver] of the ids of a namespace's trees. It finds the top of each,
// and reads nothing: it checks neither whether there is such a tree nor how its id is spelt.
func TreeResolver(namespace string) Resolver {
	return ResolverFunc(func(_ context.Context, id string) (Location, error) {
		tree, err := NewTree(namespace, id)
		if err != nil {
			return Location{}, fmt.Errorf("%w: %w", ErrInvalidID, err)
		}
		return Location{Tree: tree}, nil
	})
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
