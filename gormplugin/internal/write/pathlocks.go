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

// acquire takes a plan.Demand's locks in scope. given reports whether scope came with the
// statement's context. After an error, or a panic of the lock store's, it holds none of them.
func (s *statement) acquire(ctx context.Context, scope *pathlock.Scope, given func() bool, d plan.Demand, wait time.Duration) ([]*pathlock.Lock, error) {
	var locks []*pathlock.Lock
	complete := false
	defer func() {
		if !complete {
			txn.Release(ctx, locks)
		}
	}()
	if pathlock.OriginOf(ctx).Operation == "" { // otherwise the statement is part of a larger operation
		ctx = pathlock.WithOrigin(ctx, pathlock.Origin{Operation: s.Operation})
	}
	for _, request := range d.Requests(s.Note, wait) {
		request.Asserted = s.Asserts
		lock, err := s.Locker.Acquire(scope.Context(ctx), request)
		if err != nil {
			return nil, s.blocked(ctx, scope, request, given(), err)
		}
		locks = append(locks, lock)
	}
	complete = true
	return locks, nil
}

// acquireEarly takes the path locks of a statement whose transaction has not begun.
func (s *statement) acquireEarly(d plan.Demand) error {
	ctx := s.DB.Statement.Context
	if s.scope == nil {
		s.scope = s.Locker.Scope(ctx)
	}
	locks, err := s.acquire(ctx, s.scope, func() bool { return s.HasScope(ctx, s.scope) }, d, 0)
	s.locks = append(s.locks, locks...)
	return err
}

// soleWriterWait is how long a transaction waits for path locks where it is the database's only
// writer, or will have to be: long enough for a holder that is done to release. A holder that still
// has to write needs this transaction to end.
const soleWriterWait = 20 * time.Millisecond

// acquireWithin takes the path locks of a statement within its transaction. Those that the scope
// has already cost nothing. wait is [pathlock.NoWait] where the statement holds row locks that the
// holders may need before they release.
func (s *statement) acquireWithin(d plan.Demand, wait time.Duration) error {
	ctx := s.DB.Statement.Context
	alone := s.Dialect.SoleWriter && wait > soleWriterWait
	if alone {
		wait = soleWriterWait
	}
	scope := s.tx.ScopeFor(ctx)
	given := func() bool { return s.HasScope(ctx, scope) || s.tx.HasScope(scope) }
	locks, err := s.acquire(ctx, scope, given, d, wait)
	s.tx.ReleaseAtEnd(locks...)
	for _, lock := range locks {
		s.Fence = max(s.Fence, lock.Fence())
	}
	if (wait == pathlock.NoWait && s.TransactionWait != pathlock.NoWait || alone) && errors.Is(err, pathlock.ErrConflict) {
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
