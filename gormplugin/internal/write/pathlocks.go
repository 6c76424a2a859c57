package write

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
)

// soleWriterWait is how long a transaction waits for path locks if it is the database's only
// writer, or must become it: long enough for a holder that has finished to release. A holder that
// must still write needs this transaction to end.
const soleWriterWait = 20 * time.Millisecond

// acquire takes the path locks that d demands: before the statement's transaction begins, or within
// it. Those that the scope has already cost nothing. wait is [pathlock.NoWait] where the statement
// holds row locks that the holders may need before they release.
func (s *statement) acquire(d plan.Demand, wait time.Duration) error {
	ctx := s.DB.Statement.Context
	if s.tx == nil {
		s.scope = cmp.Or(s.scope, s.Locker.Scope(ctx))
		locks, err := s.locksOf(ctx, d, wait)
		s.locks = append(s.locks, locks...)
		return err
	}
	alone := s.Dialect.SoleWriter && wait > soleWriterWait
	if alone {
		wait = soleWriterWait
	}
	s.scope = s.tx.ScopeFor(ctx)
	locks, err := s.locksOf(ctx, d, wait)
	s.tx.ReleaseAtEnd(locks...)
	s.tx.MergeLocks(ctx)
	for _, lock := range locks {
		s.Fence = max(s.Fence, lock.Fence())
	}
	if (wait == pathlock.NoWait && s.TransactionWait != pathlock.NoWait || alone) && errors.Is(err, pathlock.ErrConflict) {
		// Somebody has moved the rows and has not finished yet, or this transaction keeps the
		// holder from writing. The wait must start again, without row locks.
		return fault.Retryable(err)
	}
	return err
}

// locksOf takes the locks that d demands in the statement's scope. After an error, or a panic of
// the lock store's, it holds none of them.
func (s *statement) locksOf(ctx context.Context, d plan.Demand, wait time.Duration) ([]*pathlock.Lock, error) {
	var locks []*pathlock.Lock
	complete := false
	defer func() {
		if !complete {
			txn.Release(ctx, locks)
		}
	}()
	origin := ctx
	if pathlock.OriginOf(ctx).Operation == "" { // otherwise the statement is part of a larger operation
		origin = pathlock.WithOrigin(ctx, pathlock.Origin{Operation: s.Operation})
	}
	for _, request := range d.Requests(s.Note, wait) {
		request.Asserted = s.Asserts
		lock, err := s.Locker.Acquire(s.scope.Context(origin), request)
		if err != nil {
			return nil, s.blocked(origin, request, err)
		}
		locks = append(locks, lock)
	}
	complete = true
	return locks, nil
}

// blocked returns the error of a request that was refused by err.
//
// A statement in the handler of a request that holds locks waits, without the request's context,
// for the locks of its own request, which are released when the handler is done. Nothing tells such
// a statement from one of a job in the same process. So if no locks came with it, and a request
// that this process serves blocks it, the error says both.
func (s *statement) blocked(ctx context.Context, req pathlock.Request, err error) error {
	conflict, ok := errors.AsType[*pathlock.ConflictError](err)
	// A context that brings no scope would get a new one.
	if given := s.Locker.Scope(ctx) == s.scope || s.tx != nil && s.tx.HasScope(s.scope); !ok || given {
		return err
	}
	snapshot, failed := s.Locker.Snapshot(ctx, req.Tree)
	if failed != nil {
		return err
	}
	claims := slices.Clone(req.Claims)
	for i := range claims {
		if claims[i].Path, failed = s.Locker.Folded(claims[i].Path); failed != nil {
			return err
		}
	}
	for _, b := range snapshot.InTheWay(s.scope.Owner(), req.Gate, claims) {
		if h := b.Entry; !b.Waiting && s.Locker.Serves(h.Owner) {
			conflict.Blocker = pathlock.Blocker{Owner: h.Owner, Note: h.Note, Origin: h.Origin, Gate: h.Gate, Mode: b.Mode, Since: h.Since, Until: h.Until}
			return &fault.NoRequestContextError{Conflict: conflict}
		}
	}
	return err
}
