package pathlock

import (
	"context"
	"sync"
	"time"
)

// lateContext is a [Lock]'s context. It costs nothing until it is asked for more than the scope.
// Only then does it make the standard library's context that does the work. Most locks, and nearly
// all re-entrant ones, are released before that.
type lateContext struct {
	parent  context.Context
	holding *holding

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
	if !c.ended {
		c.ended, c.cause, c.late = true, cause, c.parent.Err() != nil
	}
	c.mu.Unlock()
	if stop != nil {
		stop(cause)
	}
}

// checkClock ends the context if the lease has ended by the clock, before the renewer's timer does.
func (c *lateContext) checkClock() {
	r := c.holding.renewer
	for h := c.holding; h != nil; h = h.base {
		if !r.ended(h) {
			continue
		}
		c.mu.Lock()
		ended := c.ended
		c.mu.Unlock()
		if !ended {
			c.cancel(r.expire(h))
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

// Value implements [context.Context]. It finds the scope without the context that does the work.
func (c *lateContext) Value(key any) any {
	scope := c.holding.scope
	if scope.only.IsZero() {
		if k, ok := key.(scopeKey); ok && k.Locker == scope.locker {
			return scope
		}
		if key == scope.locker.carrier {
			return nil // this context has the locks already
		}
	} else if k, ok := key.(treeScopeKey); ok && k.Locker == scope.locker && k.Tree == scope.only {
		return scope
	}
	return c.context().Value(key)
}

// Deadline implements [context.Context].
func (c *lateContext) Deadline() (time.Time, bool) { return c.parent.Deadline() }

// Done implements [context.Context].
func (c *lateContext) Done() <-chan struct{} { return c.context().Done() }

// Err implements [context.Context].
func (c *lateContext) Err() error {
	c.checkClock()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.actual != nil:
		return c.actual.Err()
	case c.ended && !c.late:
		return context.Canceled
	default:
		return c.parent.Err()
	}
}
