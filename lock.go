package pathlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pathlock-go/pathlock/internal/bridge"
)

// Lock is held from [Locker.Acquire] until [Lock.Release], while its lease is renewed in the
// background. It is safe for concurrent use.
type Lock struct {
	holding   *holding
	request   Request
	origin    *Origin // nil where no observer wants it
	reentrant bool
	waited    bool
	attached  bool      // Attach has returned it
	since     time.Time // zero where no observer wants it
	fence     uint64
	ctx       lateContext
	// until is the end of the detached hold, nil before Detach.
	until atomic.Pointer[time.Time]

	// pins are the grants that the lock relies on. Their array is one, since there is hardly ever a
	// second.
	pins []*grant
	one  [1]*grant

	// The scope's mutex guards index, the lock's in its holding, and released, which says that the
	// lock has left the holding, because of why if that is not nil.
	index    int
	released bool
	why      error
	// limit calls endOverdue, nil if the lock may be held for any time.
	limit *time.Timer
}

// Context returns the context to work under while the lock is held. It carries the scope, so that
// an acquisition under it re-enters. It ends with the context given to Acquire, and with the
// release. Its deadline is the end of [Request.MaxHold], if there is one.
//
// It is cancelled with a cause that matches [ErrLost] as soon as the lease is known to be lost:
// somebody else may hold the nodes by then. At the latest it is cancelled when the lease ends by
// the clock, whether the store answers or not. After the host was suspended, its Err is right at
// once, and Done is closed within a second.
func (k *Lock) Context() context.Context { return &k.ctx }

// Fence returns a number that grows strictly with every grant in the tree. A late write of an
// earlier holder has a smaller one. A re-entrant lock has the fence of the grant that it relies on.
// It is 0 if the lock is [Lock.Degraded].
func (k *Lock) Fence() uint64 { return k.fence }

// Degraded reports whether the lock keeps nobody out, because it was granted while the lock store
// was away: see [Degrade].
func (k *Lock) Degraded() bool {
	return slices.ContainsFunc(k.pins, func(g *grant) bool { return g.degraded })
}

// Tree returns the tree that the lock is in.
func (k *Lock) Tree() Tree { return k.request.Tree }

// Note returns [Request.Note], or the hold's note for a lock that [Locker.Attach] has returned.
func (k *Lock) Note() string { return k.request.Note }

// Until returns the end of the lock's lease, as far as it is known here. It moves with every
// renewal. The store's lease ends no earlier, unless a bearer of the lock's token sets an earlier
// end by [Locker.Refresh]. After [Lock.Detach] it is the end of the detached hold.
func (k *Lock) Until() time.Time {
	if until := k.until.Load(); until != nil {
		return *until
	}
	return k.holding.renewer.Until(&k.holding.lease)
}

// Claims returns everything that the lock relies on: each node, intentions included, in folded
// paths (see [Locker.Folded]). For a lock that [Locker.Attach] has returned, that is the whole
// hold. A re-entrant lock may rely on more than it asked for.
func (k *Lock) Claims() []Claim {
	k.holding.scope.mu.Lock()
	defer k.holding.scope.mu.Unlock()
	var all []Claim
	for _, g := range k.pins {
		all = append(all, g.claims...)
	}
	return Normalize(all...)
}

// Waited reports whether the acquisition had to wait. If so, earlier holders may have changed what
// the request was planned on. It is false for a re-entrant lock.
func (k *Lock) Waited() bool { return k.waited }

// elapsed returns how long the lock has been held, or 0 if that is not recorded.
func (k *Lock) elapsed() time.Duration {
	if k.since.IsZero() {
		return 0
	}
	return time.Since(k.since)
}

// report tells the observers what has become of the lock.
func (k *Lock) report(ctx context.Context, what string, method func(Observer, context.Context, Event), elapsed time.Duration, err error) {
	observers := k.holding.observers
	if observers.none() {
		return
	}
	e := Event{
		Tree: k.request.Tree, Owner: k.holding.scope.owner, Gate: k.request.Gate, Claims: k.request.Claims,
		Note: k.request.Note, Reentrant: k.reentrant, Fence: k.fence, Degraded: k.Degraded(), Elapsed: elapsed, Err: err,
	}
	if k.origin != nil {
		e.Origin = *k.origin
	}
	observers.tell(ctx, what, method, e)
}

// exchange has the store grant something else to the lock's owner, then has swap put it in the
// place of what the lock relies on, and releases that if nothing else needs it. The owner passes
// all that wait for it, so nobody is let in between. With the scope's mutex locked, request says
// what to ask for, and swap is called. After an error the lock is as it was.
func (k *Lock) exchange(ctx context.Context, request func() (prepared, error), swap func(fresh *Lock)) error {
	h := k.holding
	l := h.scope.locker
	h.checkClock()
	h.scope.mu.Lock()
	err := k.mayExchange()
	var a prepared
	if err == nil {
		a, err = request()
	}
	h.scope.mu.Unlock()
	if err != nil {
		return err
	}
	if !l.observers.none() {
		a.origin = new(l.origin(ctx, a.Operation))
	}
	fresh, err := l.ask(ctx, h.scope, a)
	if err != nil {
		return err
	}
	h.scope.mu.Lock()
	switch err = k.mayExchange(); {
	case err != nil:
	case fresh.holding != h:
		err = h.expire()
	default:
		swap(fresh)
	}
	h.scope.mu.Unlock()
	if released := fresh.Release(ctx); err == nil && errors.Is(released, ErrLost) {
		err = released
	}
	return err
}

// mayExchange returns why the lock cannot rely on something else, nil if it can. It expects the
// scope's mutex to be locked.
func (k *Lock) mayExchange() error {
	switch h := k.holding; {
	case h.token != "":
		return fmt.Errorf("%w: a hold with a token in %s stays as it is", ErrInvalidRequest, h.tree)
	case k.released || h.detaching:
		return k.errReleased()
	default:
		return h.lost
	}
}

// bridged is the lock for the packages of this module.
type bridged struct{ *Lock }

var (
	_ bridge.Lock             = bridged{}
	_ bridge.Exchanger[Claim] = bridged{}
)

// Exchange implements [bridge.Exchanger].
func (b bridged) Exchange(ctx context.Context, claims []Claim, note string) error {
	l := b.holding.scope.locker
	a, err := l.prepare(Request{Tree: b.Tree(), Claims: claims, Wait: NoWait, Lease: b.request.Lease, Note: note, Operation: b.request.Operation})
	if err != nil {
		return err
	}
	return b.exchange(ctx, func() (prepared, error) { return a, nil }, func(fresh *Lock) {
		was, is := b.pins[0], fresh.pins[0]
		was.id, is.id = is.id, was.id
		was.claims, is.claims = is.claims, was.claims
	})
}

// lateContext is a [Lock]'s context. It costs nothing until it is asked for more than the scope.
// Only then does it make the standard library's context that does the work. Most locks, and nearly
// all re-entrant ones, are released before that.
type lateContext struct {
	parent context.Context
	lock   *Lock
	ends   time.Time // when the lock has been held for too long, zero if never

	mu     sync.Mutex
	actual context.Context // does the work, nil until it is needed
	stop   context.CancelCauseFunc
	ended  bool // by cancel, with cause
	cause  error
	late   bool // the parent ended before cancel
}

// cancel ends the context, as a [context.CancelCauseFunc] does.
func (c *lateContext) cancel(cause error) {
	c.mu.Lock()
	stop := c.stop
	if limit := c.lock.limit; limit != nil {
		limit.Stop()
	}
	if !c.ended {
		c.ended, c.cause, c.late = true, cause, endedSoFar(c.parent) != nil
	}
	c.mu.Unlock()
	if stop != nil {
		stop(cause)
	}
}

// endedSoFar is ctx.Err for whoever has just looked at the clock, which costs more than all else in
// a re-entrant acquisition.
func endedSoFar(ctx context.Context) error {
	if c, ok := ctx.(*lateContext); ok {
		return c.err()
	}
	return ctx.Err()
}

// checkClock ends the context if the lease has ended by the clock, before the renewer's timer does.
func (c *lateContext) checkClock() {
	for h := c.lock.holding; h != nil; h = h.base {
		if !h.renewer.HasEnded(&h.lease) {
			continue
		}
		c.mu.Lock()
		ended := c.ended
		c.mu.Unlock()
		if !ended {
			c.cancel(h.expire())
		}
	}
}

// context returns the context that does the work. It may lock the parent's mutex under its own,
// never the other way round.
func (c *lateContext) context() context.Context {
	c.checkClock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.actual != nil {
		return c.actual
	}
	parent := c.parent
	if c.ended && !c.late {
		// cancel came first, so its cause counts and not the parent's.
		parent = context.WithoutCancel(parent)
	}
	c.actual, c.stop = context.WithCancelCause(parent)
	if c.ended {
		c.stop(c.cause)
	}
	return c.actual
}

// Value implements [context.Context]. Only the standard library's key for a context's cancellation,
// which is a *int, needs the context that does the work.
func (c *lateContext) Value(key any) any {
	scope := c.lock.holding.scope
	if scope.only.IsZero() {
		if k, ok := key.(scopeKey); ok && k.locker == scope.locker {
			return scope
		}
	} else if k, ok := key.(treeScopeKey); ok && k.locker == scope.locker && k.tree == scope.only {
		return scope
	}
	if key == (bridge.LockKey{}) {
		return bridged{c.lock}
	}
	if _, ok := key.(*int); ok {
		return c.context().Value(key)
	}
	return c.parent.Value(key)
}

// Deadline implements [context.Context].
func (c *lateContext) Deadline() (time.Time, bool) {
	if !c.ends.IsZero() {
		return c.ends, true
	}
	return c.parent.Deadline()
}

// Done implements [context.Context].
func (c *lateContext) Done() <-chan struct{} { return c.context().Done() }

// Err implements [context.Context].
func (c *lateContext) Err() error {
	c.checkClock()
	return c.err()
}

// err is Err without a look at the clock by this lock.
func (c *lateContext) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.actual != nil:
		return c.actual.Err()
	case c.ended && !c.late:
		return context.Canceled
	default:
		return endedSoFar(c.parent)
	}
}
