package hold

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// acquire takes a demand's locks for h in scope. carried reports whether scope came with the
// statement's context. After an error, or a panic of the lock store's, it holds none of them.
func (k *Keeper) acquire(ctx context.Context, scope *pathlock.Scope, carried func() bool, d Demand, h *Held, wait time.Duration) ([]*pathlock.Lock, error) {
	var locks []*pathlock.Lock
	complete := false
	defer func() {
		if !complete {
			txn.Release(ctx, locks)
		}
	}()
	ctx = h.origin(ctx)
	for _, request := range d.Requests(h.Note, wait) {
		lock, err := k.Locker.Acquire(scope.Context(ctx), request)
		if err != nil {
			return nil, k.blocked(ctx, scope, request, carried(), err)
		}
		locks = append(locks, lock)
	}
	complete = true
	return locks, nil
}

// AcquireEarly takes the path locks of a statement whose transaction has not begun.
func (k *Keeper) AcquireEarly(db *gorm.DB, h *Held, d Demand) error {
	ctx := db.Statement.Context
	if h.scope == nil {
		h.scope = k.Locker.Scope(ctx)
	}
	locks, err := k.acquire(ctx, h.scope, func() bool { return k.Carries(ctx, h.scope) }, d, h, 0)
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
func (k *Keeper) acquireWithin(db *gorm.DB, tx *txn.Transaction, h *Held, d Demand, wait time.Duration) error {
	ctx := db.Statement.Context
	alone := k.Dialect.SoleWriter && wait > soleWriterWait
	if alone {
		wait = soleWriterWait
	}
	scope := tx.ScopeFor(ctx)
	carried := func() bool { return k.Carries(ctx, scope) || tx.Carries(scope) }
	locks, err := k.acquire(ctx, scope, carried, d, h, wait)
	tx.ReleaseAtEnd(locks...)
	for _, lock := range locks {
		h.Fence = max(h.Fence, lock.Fence())
	}
	if (wait == pathlock.NoWait && k.TransactionWait != pathlock.NoWait || alone) && errors.Is(err, pathlock.ErrConflict) {
		// Somebody has moved the rows and is not done yet, or this transaction keeps the holder
		// from writing. The wait has to begin anew, without row locks.
		return fault.Retry(err)
	}
	return err
}

// blocked returns the error of a request for scope that was refused by err. carried says that locks
// came with the statement's context.
//
// A statement in the handler of a request that holds locks waits, without the request's context,
// for the locks of its own request, which are released when the handler is done. Nothing tells such
// a statement from one of a job in the same process. So where no locks came with it, and a request
// that this process serves is in the way, the error says both.
func (k *Keeper) blocked(ctx context.Context, scope *pathlock.Scope, req pathlock.Request, carried bool, err error) error {
	conflict, ok := errors.AsType[*pathlock.ConflictError](err)
	if !ok || carried {
		return err
	}
	snapshot, failed := k.Locker.Snapshot(ctx, req.Tree)
	if failed != nil {
		return err
	}
	claims := slices.Clone(req.Claims)
	for i := range claims {
		if claims[i].Path, failed = k.Locker.Folded(claims[i].Path); failed != nil {
			return err
		}
	}
	for _, b := range snapshot.InTheWay(scope.Owner(), req.Gate, claims) {
		if h := b.Entry; !b.Waiting && k.Locker.Serves(h.Owner) {
			conflict.Blocker = pathlock.Blocker{Owner: h.Owner, Note: h.Note, Origin: h.Origin, Gate: h.Gate, Mode: b.Mode, Since: h.Since, Until: h.Until}
			return &fault.NoRequestContextError{Conflict: conflict}
		}
	}
	return err
}
