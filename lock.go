package pathlock

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Lock is held from [Locker.Acquire] until [Lock.Release], while its lease is renewed in the
// background. It is safe for concurrent use.
type Lock struct {
	holding   *holding
	operation string        // of the request
	lease     time.Duration // of the request
	fence     uint64
	observed  *observed // nil if there are no observers
	reentrant bool
	waited    bool
	attached  bool // Attach has returned it
	degraded  bool // so are all locks of the holding
	// until is the end of the detached hold, nil before Detach.
	until atomic.Pointer[time.Time]
	// limit ends a lock that is held for too long, nil if it may be held for any time.
	limit *limit

	// The scope's mutex guards what follows. note is the request's until [Lock.Exchange] changes
	// it. pins are the grants that the lock relies on. There is hardly ever a second: one is their
	// backing array.
	note string
	pins []*grant
	one  [1]*grant

	// index is the lock's place in its holding. released says that it has left the holding, and why
	// is the reason, if there is one.
	index    int
	released bool
	why      error

	// What follows is for the lock's context: see [lockContext].
	parent context.Context
	mu     sync.Mutex
	actual context.Context         // nil until it is needed
	cancel context.CancelCauseFunc // of actual
	ended  bool                    // by endContext, with cause
	late   bool                    // the parent ended before endContext
	used   atomic.Bool             // actual is set, or ended
	cause  error
}

// observed has what only observers want to know about a lock.
type observed struct {
	gate   bool
	claims []Claim
	origin Origin
	since  time.Time
}

// observe returns what observers will want to know about a request under ctx, nil if there are
// none.
func (l *Locker) observe(ctx context.Context, operation string) *observed {
	if len(l.observers) == 0 {
		return nil
	}
	return &observed{origin: l.origin(ctx, operation)}
}

// limit says when a lock has been held for too long, and ends it then.
type limit struct {
	ends  time.Time
	timer *time.Timer
}

// Context returns the context to work under while the lock is held. It carries the scope, so that
// an acquisition under it re-enters. It ends with the context given to Acquire, and with the
// release. Its deadline is the end of [Request.MaxHold], if one is set.
//
// Its cause matches [ErrLost] if the lease is lost, since somebody else may then hold the nodes. It
// ends as soon as the process learns of the loss, and when the lease ends by the clock at the
// latest, whether the store answers or not. After the host was suspended, Err is right at once, and
// Done closes within a second.
func (k *Lock) Context() context.Context { return (*lockContext)(k) }

// Fence returns a number that grows strictly with every grant in the tree. So a late write of an
// earlier holder carries a smaller one. A re-entrant lock has the fence of the grant that it relies
// on. It is 0 if the lock is [Lock.Degraded].
func (k *Lock) Fence() uint64 { return k.fence }

// Degraded reports whether the lock keeps nobody out, because it was granted while the lock store
// was away: see [Degrade].
func (k *Lock) Degraded() bool { return k.degraded }

// Tree returns the tree that the lock is in.
func (k *Lock) Tree() Tree { return k.holding.tree }

// Note returns [Request.Note] or what [Lock.Exchange] has put in its place, or the hold's note for
// a lock that [Locker.Attach] has returned.
func (k *Lock) Note() string {
	k.holding.scope.mu.Lock()
	defer k.holding.scope.mu.Unlock()
	return k.note
}

// Until returns the end of the lock's lease, as far as this process knows. Every renewal moves it.
// The store's lease ends no earlier, unless somebody who has the lock's token sets an earlier end
// by [Locker.Refresh]. After [Lock.Detach] it is the end of the detached hold.
func (k *Lock) Until() time.Time {
	if until := k.until.Load(); until != nil {
		return *until
	}
	return k.holding.until()
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
// the request was based on. It is false for a re-entrant lock.
func (k *Lock) Waited() bool { return k.waited }

// elapsed returns how long the lock has been held, or 0 if that is not recorded.
func (k *Lock) elapsed() time.Duration {
	if k.observed == nil {
		return 0
	}
	return time.Since(k.observed.since)
}

// report tells the observers what has happened to the lock.
func (k *Lock) report(ctx context.Context, what string, method func(Observer, context.Context, Event), elapsed time.Duration, err error) {
	o := k.observed
	if o == nil {
		return
	}
	k.holding.scope.locker.tell(ctx, what, method, Event{
		Tree: k.holding.tree, Owner: k.holding.scope.owner, Gate: o.gate, Claims: o.claims, Note: k.Note(), Origin: o.origin,
		Reentrant: k.reentrant, Fence: k.fence, Degraded: k.degraded, Elapsed: elapsed, Err: err,
	})
}

// lockContext is a [Lock] seen as its context. It costs nothing until somebody asks for more than
// the scope. Only then does it make a context of the standard library, which does the work. Most
// locks, and nearly all re-entrant ones, are released before that.
type lockContext Lock

// endContext ends the lock's context, as a [context.CancelCauseFunc] does.
func (k *Lock) endContext(cause error) {
	k.mu.Lock()
	k.used.Store(true)
	cancel := k.cancel
	if k.limit != nil {
		k.limit.timer.Stop()
	}
	if !k.ended {
		k.ended, k.cause, k.late = true, cause, endedSoFar(k.parent) != nil
	}
	k.mu.Unlock()
	if cancel != nil {
		cancel(cause)
	}
}

// endedSoFar is ctx.Err for a caller that has just looked at the clock, which costs more than all
// else in a re-entrant acquisition.
func endedSoFar(ctx context.Context) error {
	if c, ok := ctx.(*lockContext); ok {
		return c.err()
	}
	return ctx.Err()
}

// checkClock ends the context if the lease has ended by the clock, before the renewer's timer does,
// or that of an outer lock has.
func (c *lockContext) checkClock() {
	outer := c.parent
	for p, ok := outer.(*lockContext); ok && p.holding == c.holding; p, ok = outer.(*lockContext) {
		outer = p.parent
	}
	_ = outer.Err() // a lock of another holding looks at the clock, too
	for h := c.holding; h != nil; h = h.base {
		if !h.hasEnded() {
			continue
		}
		c.mu.Lock()
		ended := c.ended
		c.mu.Unlock()
		if !ended {
			(*Lock)(c).endContext(h.expire())
		}
	}
}

// context returns the context that does the work. It may lock the parent's mutex under its own,
// never the other way round.
func (c *lockContext) context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.actual != nil {
		return c.actual
	}
	c.used.Store(true)
	parent := c.parent
	if c.ended && !c.late {
		// endContext came first, so its cause counts and not the parent's.
		parent = context.WithoutCancel(parent)
	}
	c.actual, c.cancel = context.WithCancelCause(parent)
	if c.ended {
		c.cancel(c.cause)
	}
	return c.actual
}

// Value implements [context.Context]. Only the standard library's key for a context's cancellation,
// which is a *int, needs the context that does the work. Whoever asks for that context has called
// Done before, which looks at the clock.
func (c *lockContext) Value(key any) any {
	switch k := key.(type) {
	case scopeKey:
		if scope := c.holding.scope; k.locker == scope.locker && scope.only == (Tree{}) {
			return cmp.Or(scope.face, scope)
		}
	case treeScopeKey:
		if scope := c.holding.scope; k.locker == scope.locker && k.tree == scope.only {
			return scope
		}
	case *int:
		return c.context().Value(key)
	}
	return c.parent.Value(key)
}

// Deadline implements [context.Context].
func (c *lockContext) Deadline() (time.Time, bool) {
	if c.limit != nil {
		return c.limit.ends, true
	}
	return c.parent.Deadline()
}

// Done implements [context.Context].
func (c *lockContext) Done() <-chan struct{} {
	c.checkClock()
	return c.context().Done()
}

// Err implements [context.Context].
func (c *lockContext) Err() error {
	c.checkClock()
	return c.err()
}

// err is Err without a look at the clock by this lock.
func (c *lockContext) err() error {
	if !c.used.Load() {
		return endedSoFar(c.parent)
	}
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
