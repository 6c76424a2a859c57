package pathlock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pathlock-go/pathlock/internal/gincontext"
	"github.com/pathlock-go/pathlock/internal/lease"
)

// Acquire takes everything that req asks for, or nothing.
//
// If the scope that ctx carries (see [Scope]) already holds everything, Acquire does not ask the
// store. Otherwise the store grants what is missing, upgrades included. A wait ends with ctx.
//
// The error matches:
//   - [ErrConflict], as a [*ConflictError], when others held on for longer than the wait
//   - [ErrDeadlock], as a [*DeadlockError], when the wait would never end
//   - [ErrLost] when ctx belongs to a lost lock, when the scope has lost its holds in the tree, and
//     when the grant arrives after its lease has ended
//   - [ErrUnavailable] when the store did not answer
//   - [ErrInvalidRequest], [ErrInvalidTree] or [ErrInvalidPath] when the request makes no sense
//   - the context's cause when ctx has ended
//
// After an error, the caller holds no more than before.
//
// If you take locks in several trees, mind their order: see [Request].
//
// A context may carry the locks of a request, as gin's own does in a handler behind package
// middleware. Acquire treats such a context as ended once those locks end, even if it has no end of
// its own.
func (l *Locker) Acquire(ctx context.Context, req Request) (*Lock, error) {
	a, err := l.prepare(req)
	if err != nil {
		return nil, err
	}
	if _, ours := ctx.(*lockContext); !ours { // which descends from one that was joined
		ctx = gincontext.Join(ctx)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("pathlock: acquire in %s: %w", req.Tree, withCause(ctx, err))
	}
	scope := l.scopeOf(ctx, req)
	a.observed = l.observe(ctx, a.Operation)
	if a.MaxHold != 0 {
		a.deadline, _ = ctx.Deadline()
	}
	lock, err := scope.reenter(ctx, &a)
	if err != nil {
		return nil, err
	}
	if lock != nil {
		lock.report(ctx, "Granted", Observer.Granted, 0, nil)
		return lock, nil
	}
	return l.ask(ctx, scope, a)
}

// ask asks the store to grant a to the scope, for a lock whose context descends from parent.
func (l *Locker) ask(parent context.Context, scope *Scope, a prepared) (*Lock, error) {
	acquisition, err := a.acquisition(scope)
	if err != nil {
		return nil, err
	}
	if err := scope.beginAsking(a.Tree); err != nil {
		return nil, err
	}
	defer scope.endAsking(a.Tree)
	ctx, start := l.acquiring(parent, scope, &a), time.Now()
	acquisition.Origin = l.origin(ctx, a.Operation)
	if a.observed != nil {
		a.observed.origin = acquisition.Origin
	}
	var waited atomic.Bool
	acquisition.Waiting = func() {
		waited.Store(true)
		a.tell(ctx, scope, "Waiting", Observer.Waiting, start, nil)
	}
	answered := false
	defer func() {
		if !answered {
			_ = l.refuse(ctx, scope, &a, start, errStorePanicked)
		}
	}()
	grant, sent, err := l.send(ctx, scope, acquisition)
	answered = true
	if err != nil {
		return nil, l.refuse(ctx, scope, &a, start, withCause(parent, err))
	}
	if !grant.Asked.IsZero() {
		sent = grant.Asked
	}
	lock, err := scope.hold(parent, &a, acquisition, grant, sent)
	if err != nil {
		l.takeBack(parent, acquisition.unneeded(scope))
		return nil, l.refuse(ctx, scope, &a, start, err)
	}
	lock.waited = waited.Load()
	lock.report(ctx, "Granted", Observer.Granted, time.Since(start), nil)
	return lock, nil
}

// acquiring tells the observers that the store is about to be asked for a, and returns their
// context.
func (l *Locker) acquiring(ctx context.Context, scope *Scope, a *prepared) context.Context {
	l.eachObserver(ctx, "Acquiring", func(o Observer) {
		ctx = cmp.Or(o.Acquiring(ctx, a.event(scope)), ctx)
	})
	return ctx
}

// errStorePanicked tells observers that a panic of the store has ended an acquisition.
var errStorePanicked = fmt.Errorf("%w: it panicked", ErrUnavailable)

// withCause adds the context's cause to an error that says only that ctx has ended.
func withCause(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause == nil || !errors.Is(err, ctx.Err()) || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// refuse reports that the store refused a, and returns the error for the caller.
func (l *Locker) refuse(ctx context.Context, scope *Scope, a *prepared, start time.Time, err error) error {
	err = a.explain(err)
	a.tell(ctx, scope, "Refused", Observer.Refused, start, err)
	return err
}

// send sends the acquisition and returns when it did so. The local clock starts before the request
// leaves, the store's when it arrives. So the lease never ends there before it has ended here.
//
// A request that does not wait must not be refused because of a lock that this process has already
// released. So send waits for the first tries of the releases under way, and sends the request
// again.
func (l *Locker) send(ctx context.Context, scope *Scope, acquisition Acquisition) (granted Grant, sent time.Time, err error) {
	var underWay lease.Tries
	if acquisition.Wait == 0 {
		underWay = l.releases.UnderWay(acquisition.Tree)
	}
	sent = time.Now()
	granted, err = l.sendOnce(ctx, scope, acquisition)
	if len(underWay) == 0 || !errors.Is(err, ErrConflict) {
		return granted, sent, err
	}
	acquisition.Waiting()
	if underWay.Wait(ctx) > 0 || ctx.Err() != nil {
		return granted, sent, err
	}
	again := acquisition.after(sent)
	sent = time.Now()
	if granted, refusal := l.sendOnce(ctx, scope, again); !errors.Is(refusal, ErrUnavailable) {
		return granted, sent, refusal
	}
	return granted, sent, err
}

// after returns the acquisition to send again after a try that began at the given time. The call
// still ends when its wait and the store's time-out are over.
func (a Acquisition) after(began time.Time) Acquisition {
	took := time.Since(began)
	a.Spent += max(0, took-a.Wait)
	a.Wait = max(0, a.Wait-took)
	return a
}

// sendOnce sends the acquisition. If the store has lost what the scope holds, the locks that rely
// on it are lost. If the scope has released it all meanwhile, there was nothing to lose, and
// sendOnce sends the acquisition again.
func (l *Locker) sendOnce(ctx context.Context, scope *Scope, acquisition Acquisition) (Grant, error) {
	var builtOn []*grant
	h := scope.holding(acquisition.Tree)
	if h != nil {
		builtOn = h.currentGrants()
	}
	acquisition.Held = len(builtOn) > 0 || acquisition.Apart
	began := time.Now()
	granted, err := l.store.Acquire(ctx, acquisition)
	if !acquisition.Held || !errors.Is(err, ErrLost) {
		return granted, err
	}
	lost := h != nil && h.lose(builtOn, errLeaseGone)
	switch {
	case scope.isAttachedIn(acquisition.Tree):
		return Grant{}, scope.attached.lostError(err)
	case !lost:
		return l.sendOnce(ctx, scope, acquisition.after(began))
	}
	return granted, err
}

// explain gives the contested path in a store's error the caller's spelling.
func (a *prepared) explain(err error) error {
	if conflict, ok := errors.AsType[*ConflictError](err); ok {
		conflict.Path = a.spelling(conflict.Path)
	} else if deadlock, ok := errors.AsType[*DeadlockError](err); ok {
		deadlock.Path = a.spelling(deadlock.Path)
	}
	return err
}
