package pathlock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/pathlock-go/pathlock/internal/carry"
)

// Defaults of a [Locker].
const (
	// DefaultLease is the lease of requests that state none, unless [WithLease] says otherwise.
	DefaultLease = 30 * time.Second
	// DefaultWait is the wait of requests that state none, unless [WithWait] says otherwise.
	DefaultWait = 2 * time.Second
)

// Locker takes locks in a [Store] and looks after them: it adds re-entry through the context,
// background renewal and the report of loss. Make one per process and store with [New] and share
// it.
//
// A Locker keeps no goroutine and no connection of its own while nothing is held and nothing is
// being released.
type Locker struct {
	store Store
	local bool // the store is a LocalStore that says so
	defaults
	observers observers
	log       *slog.Logger
	// carrier is the string key under which a framework's context has the locks of its request.
	carrier  any
	renewer  renewer
	releases releases
}

// Option changes a default of [New].
type Option func(*Locker)

// WithLease sets the lease of requests that state none. See [Request.Lease].
func WithLease(d time.Duration) Option { return func(l *Locker) { l.lease = d } }

// WithWait sets the wait of requests that state none; [NoWait] is not at all. See [Request.Wait].
func WithWait(d time.Duration) Option { return func(l *Locker) { l.wait = d } }

// WithFold sets how names are folded into lock keys; the default is [Fold]. Every process that
// works on the same trees must fold alike.
func WithFold(fold func(name string) string) Option { return func(l *Locker) { l.fold = fold } }

// WithObserver adds an observer. It may be given more than once.
func WithObserver(o Observer) Option {
	return func(l *Locker) { l.observers.all = append(l.observers.all, o) }
}

// WithLogger sets where losses (as warnings), and grants, refusals and releases (at debug level),
// are logged; the default is [slog.Default] at the time of [New].
func WithLogger(log *slog.Logger) Option { return func(l *Locker) { l.log = log } }

// New returns a locker on store. [Locker.Check] says whether the options make sense; a locker whose
// options do not refuses every request that rests on them. Whoever is to know of each other's
// locks, such as the middleware and the plugin of one program, has to share one locker: a scope is
// known to its own locker alone.
func New(store Store, opts ...Option) *Locker {
	l := &Locker{store: store, defaults: defaults{lease: DefaultLease, wait: DefaultWait}, log: slog.Default()}
	if s, ok := store.(LocalStore); ok {
		l.local = s.Local()
	}
	for _, opt := range opts {
		opt(l)
	}
	l.observers.log = l.log
	l.carrier = carry.Key(l)
	l.renewer.init(l.store, l.log)
	return l
}

// Check reports whether the options that [New] was given make sense, so that a program can refuse
// to start with settings that would fail its first request: a lease below [MinLease], a negative
// wait that is not [NoWait]. The error names all that make none, and matches [ErrInvalidRequest].
func (l *Locker) Check() error {
	return errors.Join(checkWait(l.wait), checkLease(l.lease))
}

// Wait returns how long requests wait that do not say so themselves: see [WithWait].
func (l *Locker) Wait() time.Duration { return l.wait }

// Acquire takes everything that req states, or nothing.
//
// Where the scope that ctx carries (see [Scope]) holds everything already, the store is not asked.
// Otherwise the store grants what is missing; upgrades included. An acquisition that waits ends
// with ctx.
//
// Errors match [ErrConflict] ([*ConflictError]) when others did not let go in time, [ErrDeadlock]
// ([*DeadlockError]) when waiting would never end, [ErrLost] when ctx is that of a lock which is
// lost, or what the scope holds in the tree turns out to be, or the grant's own lease has ended
// when it arrives, [ErrUnavailable] when the store did not answer, [ErrInvalidRequest],
// [ErrInvalidTree] or [ErrInvalidPath] when the request makes no sense, and otherwise the context's
// cause. After an error nothing of req is held that was not held before; nor is it after a panic,
// of the store's, say.
//
// If you take locks in several trees, mind their order: see [Request].
//
// A context that carries the locks of a request, as gin's own does in a handler behind package
// middleware, ends with those locks here even if it has no end of its own.
func (l *Locker) Acquire(ctx context.Context, req Request) (*Lock, error) {
	a, err := l.prepare(req)
	if err != nil {
		return nil, err
	}
	ctx = carry.Join(ctx, l.carrier)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("pathlock: acquire in %s: %w", req.Tree, told(ctx, ctx.Err()))
	}
	scope := l.Scope(ctx)
	watched := l.watched(ctx)
	lock, err := scope.reenter(ctx, a, watched)
	if err != nil {
		return nil, err
	}
	if lock != nil {
		returned := false
		defer func() {
			if !returned {
				lock.abandon(ctx)
			}
		}()
		if !l.observers.none() {
			l.observers.granted(ctx, lock.event())
		}
		returned = true
		return lock, nil
	}
	defer scope.endAsking(a.Tree)
	return l.ask(ctx, scope, a, watched)
}

// ask has the store grant a to the scope, for a lock whose context descends from parent. Whatever
// keeps it from returning the lock, the store is told that nobody has it.
func (l *Locker) ask(parent context.Context, scope *Scope, a asked, watched bool) (*Lock, error) {
	acquisition, err := a.acquisition(scope)
	if err != nil {
		return nil, err
	}
	var lock *Lock
	returned := false
	defer func() {
		switch {
		case returned:
		case lock != nil:
			lock.abandon(parent)
		default:
			scope.takeBack(parent, acquisition)
		}
	}()
	ctx, start := parent, time.Time{} // start is for observers
	if !l.observers.none() {
		start = time.Now()
		ctx = l.observers.acquiring(ctx, a.event(scope))
	}
	var waited atomic.Bool
	acquisition.Waiting = func() {
		waited.Store(true)
		if !l.observers.none() {
			event := a.event(scope)
			event.Elapsed = time.Since(start)
			l.observers.waiting(ctx, event)
		}
	}
	grant, sent, err := l.send(ctx, scope, acquisition)
	if err != nil {
		err = l.refuse(ctx, scope, a, start, told(parent, err))
		returned = true
		return nil, err
	}
	asked := sent
	if !grant.Asked.IsZero() {
		asked = grant.Asked
	}
	if lock, err = scope.hold(parent, a, acquisition, grant, asked, watched); err != nil {
		return nil, l.refuse(ctx, scope, a, start, err)
	}
	lock.waited = waited.Load()
	if !l.observers.none() {
		event := lock.event()
		event.Elapsed = time.Since(start)
		l.observers.granted(ctx, event)
	}
	if l.debugs(ctx) {
		report(ctx, l.log, slog.LevelDebug, "pathlock: granted", "tree", a.Tree, "owner", scope.owner, "fence", grant.Fence, "note", a.Note)
	}
	returned = true
	return lock, nil
}

// told adds to an error that says no more than that ctx has ended why it has.
func told(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if cause == nil || !errors.Is(err, ctx.Err()) || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// refuse reports that the store refused a, and returns the error for the caller.
func (l *Locker) refuse(ctx context.Context, scope *Scope, a asked, start time.Time, err error) error {
	err = a.explain(err)
	if !l.observers.none() {
		event := a.event(scope)
		event.Elapsed, event.Err = time.Since(start), err
		l.observers.refused(ctx, event)
	}
	if l.debugs(ctx) {
		report(ctx, l.log, slog.LevelDebug, "pathlock: refused", "tree", a.Tree, "owner", scope.owner, "error", err)
	}
	return err
}

// watched reports whether anybody wants to know how long something took.
func (l *Locker) watched(ctx context.Context) bool {
	return !l.observers.none() || l.debugs(ctx)
}

// debugs reports whether what happens is to be logged. A handler that panics logs nothing.
func (l *Locker) debugs(ctx context.Context) bool {
	defer func() { _ = recover() }()
	return l.log.Enabled(ctx, slog.LevelDebug)
}

// send sends the acquisition and returns when it did. The local clock starts before the request
// leaves, the store's when it arrives: the lease never ends there before it is known to have ended
// here.
//
// A request that does not wait must not be refused because of what this process let go of before it
// asked: it waits for the releases that are under way, and is sent again.
func (l *Locker) send(ctx context.Context, scope *Scope, acquisition Acquisition) (granted Grant, sent time.Time, err error) {
	underWay := l.releases.in(acquisition.Tree)
	sent = time.Now()
	granted, err = l.sendOnce(ctx, scope, acquisition)
	if acquisition.Wait > 0 || underWay.isNothing() || !errors.Is(err, ErrConflict) {
		return granted, sent, err
	}
	acquisition.Waiting()
	if underWay.wait(ctx) > 0 {
		return granted, sent, err
	}
	sent = time.Now()
	granted, err = l.sendOnce(ctx, scope, acquisition)
	return granted, sent, err
}

// sendOnce sends the acquisition. If the store says that it has lost what the scope holds, the
// locks that rely on it are told; if the scope has let go of all that meanwhile, there was nothing
// to lose, and the acquisition is sent again.
func (l *Locker) sendOnce(ctx context.Context, scope *Scope, acquisition Acquisition) (Grant, error) {
	var held []*grant
	h := scope.holding(acquisition.Tree)
	if h != nil {
		held = h.held()
	}
	acquisition.Held = len(held) > 0 || acquisition.Apart
	granted, err := l.store.Acquire(ctx, acquisition)
	if !acquisition.Held || !errors.Is(err, ErrLost) {
		return granted, err
	}
	lost := h != nil && h.lose(held, errLeaseGone)
	switch {
	case scope.isAttachedIn(acquisition.Tree):
		return Grant{}, scope.attached.loss(err)
	case !lost:
		acquisition.Held = false
		return l.store.Acquire(ctx, acquisition)
	}
	return granted, err
}

// explain puts the caller's spelling of the contested path into a store's error.
func (a asked) explain(err error) error {
	if conflict, ok := errors.AsType[*ConflictError](err); ok {
		conflict.Path = a.spelling(conflict.Path)
	} else if deadlock, ok := errors.AsType[*DeadlockError](err); ok {
		deadlock.Path = a.spelling(deadlock.Path)
	}
	return err
}

// Snapshot returns who holds and who waits in a tree at one instant.
func (l *Locker) Snapshot(ctx context.Context, tree Tree) (Snapshot, error) {
	return l.store.Snapshot(ctx, tree)
}

// Trees returns the trees in which somebody holds or waits, in no particular order.
func (l *Locker) Trees(ctx context.Context) ([]Tree, error) { return l.store.Trees(ctx) }

// ForceRelease takes away everything that owner, as named by [Locker.Snapshot], holds in a tree,
// and its places in the queue. The owner learns of it with its next renewal, as of a lost lease. It
// returns an error that matches [ErrNotHeld] if there is nothing.
func (l *Locker) ForceRelease(ctx context.Context, tree Tree, owner Owner) error {
	if err := l.store.ForceRelease(ctx, tree, owner); err != nil {
		return err
	}
	report(ctx, l.log, slog.LevelWarn, "pathlock: released by force", "tree", tree, "owner", owner)
	return nil
}

// Ping reports whether the store can serve; the error matches [ErrUnavailable].
func (l *Locker) Ping(ctx context.Context) error { return l.store.Ping(ctx) }
