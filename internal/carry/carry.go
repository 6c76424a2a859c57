// Package carry passes a request's locks through contexts that do not derive from the request's.
// gin's own context is one: it finds values by string keys that were set on it and, by default,
// looks nowhere else.
package carry

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// ScopeKey is the context key of the scope of one locker. Lockers on different stores do not know
// each other's holds. A key has the shape of a pointer, so a look-up allocates nothing.
type ScopeKey[Locker any] struct{ Locker *Locker }

func (ScopeKey[Locker]) ofLocks() {}

// TreeScopeKey is the context key of the scope of one locker that holds in one tree alone.
type TreeScopeKey[Locker any, Tree comparable] struct {
	Locker *Locker
	Tree   Tree
}

func (TreeScopeKey[Locker, Tree]) ofLocks() {}

// IsOfLocks reports whether a key is that of a scope. Its value ends with the locks.
func IsOfLocks(key any) bool {
	_, ok := key.(interface{ ofLocks() })
	return ok
}

// Key returns the string key of the [Carrier] of a locker in a framework's context. locker is a
// pointer.
func Key(locker any) string { return fmt.Sprintf("pathlock:%p", locker) }

// RequestKey is the key of the [Carrier] of the context that a request's handlers work with,
// whatever locks it has.
const RequestKey = "pathlock:request"

// Carrier carries the context of a request's locks until the request is over. From then on, the
// framework may give its own context to another request, and nobody must ask it for anything.
type Carrier struct {
	ctx       context.Context
	framework context.Context
	mu        sync.RWMutex // held while the framework's context is asked
	over      bool
}

// New returns a carrier, to be set on a framework's context under key, and the context that it
// carries: ctx, as that of the framework's request. The carrier is found by either.
//
// requestOf returns the context of the request that a context of the framework belongs to, nil for
// other contexts. All callers give the same function.
func New(ctx, framework context.Context, key any, requestOf RequestOf) (context.Context, *Carrier) {
	theirs.CompareAndSwap(nil, &requestOf)
	c := &Carrier{framework: framework}
	c.ctx = context.WithValue(ctx, inRequest{key}, c)
	return c.ctx, c
}

// inRequest is the key of a carrier in the context of the framework's request.
type inRequest struct{ key any }

func (inRequest) ofLocks() {}

// RequestOf returns the context of the request that a framework's context, or one that was derived
// from it, belongs to, nil if there is none.
type RequestOf func(context.Context) context.Context

// theirs finds requests where the framework's own context has forgotten what was set on it, as
// gin's does in HandleContext. Such a context has nothing else by which a carrier could be found,
// and this package knows no framework. It is nil until there is a carrier.
var theirs atomic.Pointer[RequestOf]

// End marks the end of the request. Copies of its context have no locks from then on. It waits for
// those who are asking the framework's context.
func (c *Carrier) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
}

// value returns the value of a context that was derived from the framework's, nil once the request
// is over.
func (c *Carrier) value(ctx context.Context, key any) any {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.over {
		return nil
	}
	return ctx.Value(key)
}

// isOver reports whether the request is over.
func (c *Carrier) isOver() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.over
}

// carrierOf returns the carrier that ctx has under key, nil if there is none or the request is
// over.
func carrierOf(ctx context.Context, key any) *Carrier {
	c, ok := ctx.Value(key).(*Carrier)
	if requestOf := theirs.Load(); !ok && requestOf != nil {
		if request := (*requestOf)(ctx); request != nil {
			c, _ = request.Value(inRequest{key}).(*Carrier)
		}
	}
	if c == nil || c.isOver() {
		return nil
	}
	return c
}

// Context returns the context of the locks that ctx carries under key, nil if there are none or the
// request is over.
func Context(ctx context.Context, key any) context.Context {
	if c := carrierOf(ctx, key); c != nil {
		return c.ctx
	}
	return nil
}

// Join returns ctx. If ctx carries locks under key, it returns a context with the values of ctx
// that ends with the locks too.
//
// The framework gives its own context to another request once the handlers have returned, while a
// goroutine of database/sql may still use the joined one. So the joined context asks ctx for values
// until the request is over, and for nothing else.
func Join(ctx context.Context, key any) context.Context {
	c := carrierOf(ctx, key)
	if c == nil {
		return ctx
	}
	j := &joined{Context: c.ctx, values: ctx, key: key, carrier: c}
	if ctx == c.framework || ctx.Done() == nil {
		return j
	}
	deadline, hasDeadline := ctx.Deadline()
	cause := func() error { return context.Cause(ctx) }
	if ctx.Done() == c.framework.Done() {
		// ctx has no end of its own, and only the framework's context knows the cause.
		cause = func() error {
			if hasDeadline && !time.Now().Before(deadline) {
				return context.DeadlineExceeded
			}
			return context.Canceled
		}
	}
	both, cancel := context.WithCancelCause(j)
	context.AfterFunc(ctx, func() { cancel(cause()) })
	if hasDeadline {
		return &bounded{both, deadline}
	}
	return both
}

// joined is a context with the values of another one.
type joined struct {
	context.Context
	values  context.Context
	key     any // of the carrier, whose locks are joined already
	carrier *Carrier
}

// Value implements [context.Context].
func (j *joined) Value(key any) any {
	if key == j.key || key == RequestKey { // a request's locks end with the request
		return (*Carrier)(nil) // nor is there one in the framework's request
	}
	return Value(guarded{j.values, j.carrier}, j.Context, key)
}

// guarded is a context whose values are asked for under its carrier.
type guarded struct {
	context.Context
	carrier *Carrier
}

// Value implements [context.Context].
func (g guarded) Value(key any) any { return g.carrier.value(g.Context, key) }

// bounded is a context that reports a deadline, which another context watches.
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
// The standard library finds a context's cancellation by a key of type *int, and must find that of
// ends alone. Other packages may have keys of this type too.
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
