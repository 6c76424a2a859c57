// Package carry hands a request's locks on through contexts that know nothing of the request's:
// gin's own, which finds values by string keys that were set on it and, unless the engine says
// otherwise, looks nowhere else.
package carry

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// ScopeKey is the context key of the scope of one locker: lockers on different stores do not know
// each other's holds. It has the shape of a pointer, so that a look-up allocates nothing.
type ScopeKey[Locker any] struct{ Locker *Locker }

func (ScopeKey[Locker]) ofLocks() {}

// IsOfLocks reports whether a context has under the key who holds, or what else ends with the
// locks.
func IsOfLocks(key any) bool {
	_, ok := key.(interface{ ofLocks() })
	return ok
}

// Key returns the string under which a framework's context has the [Carrier] of a locker, which is
// given as a pointer.
func Key(locker any) string { return fmt.Sprintf("pathlock:%p", locker) }

// Carrier carries the context of a request's locks until the request is over.
type Carrier struct {
	ctx       context.Context
	framework context.Context
	over      atomic.Bool
}

// New returns a carrier of ctx for a framework's context, which finds it by the locker's [Key].
func New(ctx, framework context.Context) *Carrier {
	return &Carrier{ctx: ctx, framework: framework}
}

// End says that the request is over: copies of its context go on without its locks.
func (c *Carrier) End() { c.over.Store(true) }

// carrierOf returns the carrier that ctx has under key; nil if there is none, or the request is
// over.
func carrierOf(ctx context.Context, key any) *Carrier {
	c, ok := ctx.Value(key).(*Carrier)
	if !ok || c == nil || c.over.Load() {
		return nil
	}
	return c
}

// Context returns the context of the locks that ctx carries under key; nil if there are none, or
// the request is over.
func Context(ctx context.Context, key any) context.Context {
	if c := carrierOf(ctx, key); c != nil {
		return c.ctx
	}
	return nil
}

// Join returns ctx, or, where it carries locks under key, a context with the values of ctx that
// ends with the locks, too.
//
// gin's own context is asked for values only, and on the caller's goroutine: whether it ends
// depends on the engine, and its request is another one once the handlers have returned, which a
// goroutine of database/sql may not have heard of yet.
func Join(ctx context.Context, key any) context.Context {
	c := carrierOf(ctx, key)
	if c == nil {
		return ctx
	}
	j := &joined{Context: c.ctx, values: ctx, key: key}
	if ctx == c.framework || ctx.Done() == nil {
		return j
	}
	// Somebody has derived it, and bounded the work.
	var both context.Context
	both, cancel := context.WithCancelCause(j)
	context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	if deadline, ok := ctx.Deadline(); ok {
		both = &bounded{both, deadline}
	}
	return both
}

// joined is a context with the values of another one.
type joined struct {
	context.Context
	values context.Context
	key    any // of the carrier, which has been taken into account
}

// Value implements [context.Context].
func (j *joined) Value(key any) any {
	if key == j.key {
		return nil
	}
	return Value(j.values, j.Context, key)
}

// bounded is a context that tells of a deadline, which somebody else watches.
type bounded struct {
	context.Context
	deadline time.Time
}

// Deadline implements [context.Context].
func (b *bounded) Deadline() (time.Time, bool) {
	if earlier, ok := b.Context.Deadline(); ok && earlier.Before(b.deadline) {
		return earlier, true
	}
	return b.deadline, true
}

// Value returns the value of a context that has the values of one context and ends with another.
// How the standard library finds the cancellation among a context's values, by a key of this type,
// is for the latter to say alone; a key of somebody else's may be of it, too.
func Value(values, ends context.Context, key any) any {
	if _, ok := key.(*int); ok {
		if value := ends.Value(key); value != nil {
			return value
		}
		value := values.Value(key)
		if _, ok := value.(context.Context); ok {
			return nil
		}
		return value
	}
	if value := values.Value(key); value != nil {
		return value
	}
	return ends.Value(key)
}
