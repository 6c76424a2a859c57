package pathlock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Defaults of a [Locker].
const (
	// DefaultLease is the lease of requests that state none, unless [WithLease] says otherwise.
	DefaultLease = 30 * time.Second
	// DefaultWait is the wait of requests that state none, unless [WithWait] says otherwise.
	DefaultWait = 2 * time.Second
)

// Locker takes locks in a [Store] and looks after them: it adds re-entry
// through the context, background renewal and the report of loss. Make one
// per process and store with [New] and share it.
//
// A Locker keeps no goroutine and no connection of its own while nothing is held.
type Locker struct {
	store     Store
	lease     time.Duration
	wait      time.Duration
	fold      func(string) string
	observers observers
	log       *slog.Logger
	renewer   renewer
}

// Option changes a default of [New].
type Option func(*Locker)

// WithLease sets the lease of requests that state none. See [Request.Lease].
func WithLease(d time.Duration) Option { return func(l *Locker) { l.lease = d } }

// WithWait sets the wait of requests that state none; [NoWait] is not at all. See [Request.Wait].
func WithWait(d time.Duration) Option { return func(l *Locker) { l.wait = d } }

// WithFold sets how names are folded into lock keys; the default is [Fold].
// Every process that works on the same trees must fold alike.
func WithFold(fold func(name string) string) Option { return func(l *Locker) { l.fold = fold } }

// WithObserver adds an observer. It may be given more than once.
func WithObserver(o Observer) Option {
	return func(l *Locker) { l.observers = append(l.observers, o) }
}

// WithLogger sets where losses (as warnings), and grants, refusals and releases (at debug level),
// are logged; the default is [slog.Default] at the time of [New].
func WithLogger(log *slog.Logger) Option { return func(l *Locker) { l.log = log } }

// New returns a locker on store. Whoever is to know of each other's locks, such as the
// middleware and the plugin of one program, has to share one locker: a scope is known to its own locker alone.
func New(store Store, opts ...Option) *Locker {
	l := &Locker{store: store, lease: DefaultLease, wait: DefaultWait, fold: Fold, log: slog.Default()}
	for _, opt := range opts {
		opt(l)
	}
	l.renewer.init(l)
	return l
}

// Acquire takes everything that req states, or nothing.
//
// Where the scope that ctx carries (see [Scope]) holds everything already, the
// store is not asked. Otherwise the store grants what is missing; upgrades
// included. An acquisition that waits ends with ctx.
//
// Errors match [ErrConflict] ([*ConflictError]) when others did not let go in time,
// [ErrDeadlock] ([*DeadlockError]) when waiting would never end, [ErrUnavailable] when the store
// did not answer, [ErrInvalidRequest], [ErrInvalidTree] or [ErrInvalidPath] when the request
// makes no sense, and otherwise the context's cause. After an error nothing of
// req is held that was not held before.
func (l *Locker) Acquire(ctx context.Context, req Request) (*Lock, error) {
	a, err := l.prepare(req)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("pathlock: acquire in %s: %w", req.Tree, context.Cause(ctx))
	}
	scope := l.Scope(ctx)
	if lock := scope.reenter(ctx, a); lock != nil {
		l.observers.granted(ctx, lock.event())
		return lock, nil
	}
	return l.ask(ctx, scope, a)
}

// ask has the store grant a to the scope.
func (l *Locker) ask(ctx context.Context, scope *Scope, a asked) (*Lock, error) {
	acquisition, err := a.acquisition(scope.owner)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	event := Event{Tree: a.Tree, Owner: scope.owner, Gate: a.Gate, Claims: a.Claims, Note: a.Note}
	observed := l.observers.acquiring(ctx, event)
	acquisition.Waiting = func() {
		waiting := event
		waiting.Elapsed = time.Since(start)
		l.observers.waiting(observed, waiting)
	}
	// The local clock starts before the request leaves, the store's when it
	// arrives: the lease never ends there before it is known to have ended here.
	sent := time.Now()
	grant, err := l.send(observed, scope, acquisition)
	if err != nil {
		event.Err, event.Elapsed = a.explain(err), time.Since(start)
		l.observers.refused(observed, event)
		l.log.DebugContext(ctx, "pathlock: refused", "tree", a.Tree, "owner", scope.owner, "error", event.Err)
		return nil, event.Err
	}
	lock := scope.hold(ctx, a, acquisition, grant, sent)
	event = lock.event()
	event.Elapsed = time.Since(start)
	l.observers.granted(observed, event)
	l.log.DebugContext(ctx, "pathlock: granted", "tree", a.Tree, "owner", scope.owner, "fence", grant.Fence, "note", a.Note)
	return lock, nil
}

// send sends the acquisition. If the store says that it has lost what the scope holds,
// the locks that rely on it are told; if the scope has let go of all that meanwhile,
// there was nothing to lose, and the acquisition is sent again.
func (l *Locker) send(ctx context.Context, scope *Scope, acquisition Acquisition) (Grant, error) {
	var held []*grant
	h := scope.holding(acquisition.Tree)
	if h != nil {
		held = h.held()
	}
	acquisition.Held = len(held) > 0
	granted, err := l.store.Acquire(ctx, acquisition)
	if acquisition.Held && errors.Is(err, ErrLost) && !h.lose(held, errLeaseGone) {
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

// ForceRelease takes away everything that owner, as named by [Locker.Snapshot],
// holds in a tree, and its places in the queue. The owner learns of it with its next
// renewal, as of a lost lease. It returns an error that matches [ErrNotHeld] if there is nothing.
func (l *Locker) ForceRelease(ctx context.Context, tree Tree, owner Owner) error {
	if err := l.store.ForceRelease(ctx, tree, owner); err != nil {
		return err
	}
	l.log.WarnContext(ctx, "pathlock: released by force", "tree", tree, "owner", owner)
	return nil
}

// Ping reports whether the store can serve; the error matches [ErrUnavailable].
func (l *Locker) Ping(ctx context.Context) error { return l.store.Ping(ctx) }
