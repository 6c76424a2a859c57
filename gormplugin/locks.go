package gormplugin

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// maxClaims is how many nodes one statement locks one by one in a tree, and maxNodes how many these are together with
// all nodes above them, which are locked in intention. A
// statement that touches more locks the deepest node above them all instead. Stores have limits, too, of a few hundred nodes.
const (
	maxClaims = 128
	maxNodes  = 200
)

// demand is what a statement has to have locked: a request per tree, in an order that is the same for everybody.
type demand interface {
	requests(note string, wait time.Duration) []pathlock.Request
}

// claims are the nodes, by tree, that a statement needs exclusively: the old
// places and the name slots of the new ones.
type claims map[pathlock.Tree][]pathlock.Path

// add claims a node.
func (c claims) add(tree pathlock.Tree, path pathlock.Path) { c[tree] = append(c[tree], path) }

// requests implements [demand].
func (c claims) requests(note string, wait time.Duration) []pathlock.Request {
	var requests []pathlock.Request
	for tree, paths := range c {
		r := pathlock.Request{Tree: tree, Wait: wait, Note: note}
		for _, p := range topmost(paths) {
			r.Claims = append(r.Claims, pathlock.X(p))
		}
		requests = append(requests, r)
	}
	return inOrder(requests)
}

// inOrder sorts requests by tree: of two statements that need the same trees, neither waits for the other in a circle.
func inOrder(requests []pathlock.Request) []pathlock.Request {
	slices.SortFunc(requests, func(a, b pathlock.Request) int {
		return cmp.Or(cmp.Compare(a.Tree.Namespace(), b.Tree.Namespace()), cmp.Compare(a.Tree.ID(), b.Tree.ID()))
	})
	return requests
}

// topmost drops the paths that lie below others, and puts the
// deepest common ancestor in the place of too many.
func topmost(paths []pathlock.Path) []pathlock.Path {
	sorted := slices.Clone(paths)
	slices.SortFunc(sorted, pathlock.Path.Compare)
	// Every node comes right before its subtree, so that the last one kept is the only one to ask.
	kept := sorted[:0]
	for _, p := range sorted {
		if n := len(kept); n > 0 && kept[n-1].Contains(p) {
			continue
		}
		kept = append(kept, p)
	}
	if len(kept) <= maxClaims && countNodes(kept) <= maxNodes {
		return kept
	}
	common := kept[0]
	for _, p := range kept {
		for !common.Contains(p) {
			common = common.Parent()
		}
	}
	return []pathlock.Path{common}
}

// countNodes returns how many nodes the paths are, together with all nodes above them.
func countNodes(paths []pathlock.Path) int {
	all := make([]pathlock.Claim, len(paths))
	for i, p := range paths {
		all[i] = pathlock.X(p)
	}
	return len(pathlock.Normalize(all...))
}

// acquire takes the claims for scope; carried says that a context of locks came with the statement.
// After an error, or a panic of the lock store's, it holds nothing of them.
func (p *keeper) acquire(ctx context.Context, scope *pathlock.Scope, carried bool, d demand, note string, wait time.Duration) ([]*pathlock.Lock, error) {
	var locks []*pathlock.Lock
	whole := false
	defer func() {
		if !whole {
			txn.Release(ctx, locks)
		}
	}()
	for _, request := range d.requests(note, wait) {
		lock, err := p.acquireOne(ctx, scope, request, carried)
		if err != nil {
			return nil, err
		}
		locks = append(locks, lock)
	}
	whole = true
	return locks, nil
}

// acquireEarly takes the claims of a statement whose transaction has not begun.
func (p *keeper) acquireEarly(db *gorm.DB, h *held, d demand) error {
	ctx := db.Statement.Context
	if h.scope == nil {
		h.scope = p.Locker.Scope(ctx)
	}
	locks, err := p.acquire(ctx, h.scope, p.Carries(ctx), d, h.note, 0)
	h.locks = append(h.locks, locks...)
	return err
}

// soleWriterWait is how long a transaction waits for path locks where it is the database's only
// writer, or will have to be: as long as a holder may take that is done, and lets go. One that wants
// to write needs this transaction to end.
const soleWriterWait = 20 * time.Millisecond

// acquireWithin takes the claims of a statement within its transaction; what
// the scope has already costs nothing. wait is [pathlock.NoWait] where the statement holds row locks that
// others may need in order to let go of what it waits for.
func (p *keeper) acquireWithin(db *gorm.DB, tx *txn.Transaction, h *held, d demand, wait time.Duration) error {
	ctx := db.Statement.Context
	alone := p.Dialect.SoleWriter && wait > soleWriterWait
	if alone {
		wait = soleWriterWait
	}
	locks, err := p.acquire(ctx, tx.ScopeFor(ctx), p.Carries(ctx) || tx.CarriesLocks(), d, h.note, wait)
	tx.ReleaseAtEnd(locks...)
	for _, lock := range locks {
		h.fence = max(h.fence, lock.Fence())
	}
	if (wait == pathlock.NoWait && p.transactionWait != pathlock.NoWait || alone) && errors.Is(err, pathlock.ErrConflict) {
		// The rows were not where they were planned to be, and who moved them is not done yet; or
		// this transaction is what keeps the holder from writing. Waiting has to begin anew, without
		// row locks.
		return fault.Retry(err)
	}
	return err
}
