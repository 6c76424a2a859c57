package write

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// pathLocks are the path locks of a statement.
type pathLocks struct {
	// Operation is what the statement does, in a word, where its context names no operation.
	Operation string
	// Note says what the statement does, to those whom its locks block.
	Note string
	// scope owns the locks that were taken before the transaction began.
	scope *pathlock.Scope
	locks []*pathlock.Lock
	// Fence is the highest fence of the locks that were taken within the transaction, 0 if the lock
	// store was away.
	Fence uint64
}

// origin returns ctx with the statement's operation, unless ctx is of a larger one.
func (h *pathLocks) origin(ctx context.Context) context.Context {
	if pathlock.OriginOf(ctx).Operation != "" {
		return ctx
	}
	return pathlock.WithOrigin(ctx, pathlock.Origin{Operation: h.Operation})
}

// acquire takes a plan.Demand's locks for h in scope. given reports whether scope came with the
// statement's context. After an error, or a panic of the lock store's, it holds none of them.
func (e *Engine) acquire(ctx context.Context, scope *pathlock.Scope, given func() bool, d plan.Demand, h *pathLocks, wait time.Duration) ([]*pathlock.Lock, error) {
	var locks []*pathlock.Lock
	complete := false
	defer func() {
		if !complete {
			txn.Release(ctx, locks)
		}
	}()
	ctx = h.origin(ctx)
	for _, request := range d.Requests(h.Note, wait) {
		request.Asserted = e.Asserts
		lock, err := e.Locker.Acquire(scope.Context(ctx), request)
		if err != nil {
			return nil, e.blocked(ctx, scope, request, given(), err)
		}
		locks = append(locks, lock)
	}
	complete = true
	return locks, nil
}

// acquireEarly takes the path locks of a statement whose transaction has not begun.
func (e *Engine) acquireEarly(db *gorm.DB, h *pathLocks, d plan.Demand) error {
	ctx := db.Statement.Context
	if h.scope == nil {
		h.scope = e.Locker.Scope(ctx)
	}
	locks, err := e.acquire(ctx, h.scope, func() bool { return e.HasScope(ctx, h.scope) }, d, h, 0)
	h.locks = append(h.locks, locks...)
	return err
}

// soleWriterWait is how long a transaction waits for path locks where it is the database's only
// writer, or will have to be: long enough for a holder that is done to release. A holder that still
// has to write needs this transaction to end.
const soleWriterWait = 20 * time.Millisecond

// acquireWithin takes the path locks of a statement within its transaction. Those that the scope
// has already cost nothing. wait is [pathlock.NoWait] where the statement holds row locks that the
// holders may need before they release.
func (e *Engine) acquireWithin(db *gorm.DB, tx *txn.Transaction, h *pathLocks, d plan.Demand, wait time.Duration) error {
	ctx := db.Statement.Context
	alone := e.Dialect.SoleWriter && wait > soleWriterWait
	if alone {
		wait = soleWriterWait
	}
	scope := tx.ScopeFor(ctx)
	given := func() bool { return e.HasScope(ctx, scope) || tx.HasScope(scope) }
	locks, err := e.acquire(ctx, scope, given, d, h, wait)
	tx.ReleaseAtEnd(locks...)
	for _, lock := range locks {
		h.Fence = max(h.Fence, lock.Fence())
	}
	if (wait == pathlock.NoWait && e.TransactionWait != pathlock.NoWait || alone) && errors.Is(err, pathlock.ErrConflict) {
		// Somebody has moved the rows and is not done yet, or this transaction keeps the holder
		// from writing. The wait has to begin anew, without row locks.
		return fault.Retryable(err)
	}
	return err
}

// blocked returns the error of a request for scope that was refused by err. given says that locks
// came with the statement's context.
//
// A statement in the handler of a request that holds locks waits, without the request's context,
// for the locks of its own request, which are released when the handler is done. Nothing tells such
// a statement from one of a job in the same process. So where no locks came with it, and a request
// that this process serves is in the way, the error says both.
func (e *Engine) blocked(ctx context.Context, scope *pathlock.Scope, req pathlock.Request, given bool, err error) error {
	conflict, ok := errors.AsType[*pathlock.ConflictError](err)
	if !ok || given {
		return err
	}
	snapshot, failed := e.Locker.Snapshot(ctx, req.Tree)
	if failed != nil {
		return err
	}
	claims := slices.Clone(req.Claims)
	for i := range claims {
		if claims[i].Path, failed = e.Locker.Folded(claims[i].Path); failed != nil {
			return err
		}
	}
	for _, b := range snapshot.InTheWay(scope.Owner(), req.Gate, claims) {
		if h := b.Entry; !b.Waiting && e.Locker.Serves(h.Owner) {
			conflict.Blocker = pathlock.Blocker{Owner: h.Owner, Note: h.Note, Origin: h.Origin, Gate: h.Gate, Mode: b.Mode, Since: h.Since, Until: h.Until}
			return &fault.NoRequestContextError{Conflict: conflict}
		}
	}
	return err
}
