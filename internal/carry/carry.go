// Package carry hands a request's locks on through contexts that know nothing of the request's:
// gin's own, which finds values by string keys that were set on it and, unless the engine says
// otherwise, looks nowhere else.
package carry

import (
	"context"
	"fmt"
	"sync/atomic"
)

// ScopeKey is the context key of the scope of one locker: lockers on different stores do not know
// each other's holds. It has the shape of a pointer, so that a look-up allocates nothing.
type ScopeKey[Locker any] struct{ Locker *Locker }

func (ScopeKey[Locker]) ofLocks() {}

// IsOfLocks reports whether a context has under the key who holds, or what else ends with the locks.
func IsOfLocks(key any) bool {
	_, ok := key.(interface{ ofLocks() })
	return ok
}

// Key returns the string under which a framework's context has the [Carrier] of a locker, which is
// given as a pointer.
func Key(locker any) string { return fmt.Sprintf("pathlock:%p", locker) }

// Carrier carries the context of a request's locks until the request is over.
type Carrier struct {
	ctx  context.Context
	over atomic.Bool
}

// New returns a carrier of ctx.
func New(ctx context.Context) *Carrier { return &Carrier{ctx: ctx} }

// End says that the request is over: whoever has a copy of its context works on without its locks.
func (c *Carrier) End() { c.over.Store(true) }

// Context returns the context of the locks that ctx carries under key; nil if there are none, or
// the request is over.
func Context(ctx context.Context, key any) context.Context {
	c, ok := ctx.Value(key).(*Carrier)
	if !ok || c == nil || c.over.Load() {
		return nil
	}
	return c.ctx
}

// Join returns a context that has ctx's values, before those of locks, and ends with locks.
func Join(ctx, locks context.Context) context.Context { return &joined{Context: locks, values: ctx} }

// joined is a context with the values of another one.
type joined struct {
	context.Context
	values context.Context
}

// Value implements [context.Context].
func (j *joined) Value(key any) any { return Value(j.values, j.Context, key) }

// Value returns the value of a context that has the values of one context and ends with another.
// How the standard library finds the cancellation among a context's values is not for the former to
// say.
func Value(values, ends context.Context, key any) any {
	value := values.Value(key)
	if value == nil || isCancellation(key, value) {
		return ends.Value(key)
	}
	return value
}

// isCancellation reports whether a value is what the standard library looks for in a context, to
// find the one among its parents that ends it.
func isCancellation(key, value any) bool {
	if _, ok := key.(*int); !ok {
		return false
	}
	_, ok := value.(context.Context)
	return ok
}
