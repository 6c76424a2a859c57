package pathlock

import (
	"context"
	"sync"
	"time"
)

// lateContext is a [Lock]'s context. It costs nothing until somebody asks it for more than the scope: the
// standard library's context that does the work is made then. Most locks, and nearly all
// re-entrant ones, are released before that.
type lateContext struct {
	parent context.Context
	scope  *Scope

	mu     sync.Mutex
	actual context.Context // nil until it is needed
	stop   context.CancelCauseFunc
	ended  bool // by cancel, with cause
	cause  error
}

// cancel ends the context, as a [context.CancelCauseFunc] does.
func (c *lateContext) cancel(cause error) {
	c.mu.Lock()
	stop := c.stop
	if !c.ended {
		c.ended, c.cause = true, cause
	}
	c.mu.Unlock()
	if stop != nil {
		stop(cause)
	}
}

// context returns the context that does the work. A parent's lock is taken within its child's, never the other way round.
func (c *lateContext) context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.actual != nil {
		return c.actual
	}
	parent := c.parent
	if c.ended {
		// What ended this context is its cause, whatever became of the parent since.
		parent = context.WithoutCancel(parent)
	}
	c.actual, c.stop = context.WithCancelCause(parent)
	if c.ended {
		c.stop(c.cause)
	}
	return c.actual
}

// Value implements [context.Context]. The context's own value, the scope, is found without the context that does the work.
func (c *lateContext) Value(key any) any {
	if k, ok := key.(scopeKey); ok && k.Locker == c.scope.locker {
		return c.scope
	}
	if key == c.scope.locker.carrier {
		return nil // whoever asks has the locks already
	}
	return c.context().Value(key)
}

// Deadline implements [context.Context].
func (c *lateContext) Deadline() (time.Time, bool) { return c.parent.Deadline() }

// Done implements [context.Context].
func (c *lateContext) Done() <-chan struct{} { return c.context().Done() }

// Err implements [context.Context].
func (c *lateContext) Err() error { return c.context().Err() }
