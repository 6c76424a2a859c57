package hold

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/internal/carry"
	"gorm.io/gorm"
)

// acquire takes a demand's locks for h in scope. carried says that locks came with the statement's
// context. After an error, or a panic of the lock store's, it holds none of them.
func (k *Keeper) acquire(ctx context.Context, scope *pathlock.Scope, carried bool, d Demand, h *Held, wait time.Duration) ([]*pathlock.Lock, error) {
	var locks []*pathlock.Lock
	complete := false
	defer func() {
		if !complete {
			txn.Release(ctx, locks)
		}
	}()
	ctx = h.origin(ctx)
	for _, request := range d.Requests(h.Note, wait) {
		lock, err := k.acquireOne(ctx, scope, request, carried)
		if err != nil {
			return nil, err
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
	locks, err := k.acquire(ctx, h.scope, k.Carries(ctx), d, h, 0)
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
	locks, err := k.acquire(ctx, tx.ScopeFor(ctx), k.Carries(ctx) || tx.CarriesLocks(), d, h, wait)
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

// acquireOne takes one request for scope.
//
// A statement in the handler of a request that holds locks would, without the request's context,
// wait for the locks of its own request, which are released when the handler is done. carried says
// that locks came with the statement's context. Where none came, and the statement's own handler is
// the holder, the error says so at once.
func (k *Keeper) acquireOne(ctx context.Context, scope *pathlock.Scope, req pathlock.Request, carried bool) (*pathlock.Lock, error) {
	if carried || !carry.InsideAny() {
		return k.Locker.Acquire(scope.Context(ctx), req)
	}
	atOnce := req
	atOnce.Wait = pathlock.NoWait
	lock, err := k.Locker.Acquire(scope.Context(ctx), atOnce)
	conflict, ok := errors.AsType[*pathlock.ConflictError](err)
	switch {
	case !ok:
		return lock, err
	case carry.Inside(string(conflict.Blocker.Owner)):
		return nil, fmt.Errorf("%w (%s)", fault.ErrNoRequestContext, conflict.Error())
	case req.Wait == pathlock.NoWait:
		return nil, err
	default:
		return k.Locker.Acquire(scope.Context(ctx), req)
	}
}
