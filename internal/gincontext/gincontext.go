// Package gincontext gives gin's own context, and those derived from it, the values and the end of
// its request's context.
//
// gin's own context finds values by the string keys that were set on it, has no end, and forgets
// what was set on it when its request is handed on. ContextWithFallback changes only the first two.
// And once the handlers have returned, gin gives it to another request, while a goroutine of
// database/sql may still use it.
//
// The package does not import gin: programs that lock without a server have none.
package gincontext

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Request is a request whose handlers are running, and the context that they have.
type Request struct {
	context.Context
	mu   sync.RWMutex // held while gin's context is asked
	over bool
}

// requestKey is the context key of the [Request].
type requestKey struct{}

// New returns ctx with a request, for the handlers that are about to run. gin's context finds the
// request once gin's own request has the context that New returns.
func New(ctx context.Context) (context.Context, *Request) {
	r := &Request{Context: ctx}
	return r, r
}

// Value implements [context.Context].
func (r *Request) Value(key any) any {
	if key == (requestKey{}) {
		return r
	}
	return r.Context.Value(key)
}

// End marks the end of the request. From then on nobody asks gin's context for anything, and copies
// of it have nothing of the request. End waits for those who are asking.
func (r *Request) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}

// isOver reports whether the request is over.
func (r *Request) isOver() bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.over
}

// valueOf returns the value of a context that gin's request belongs to, nil once that is over.
func (r *Request) valueOf(ctx context.Context, key any) any {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.over {
		return nil
	}
	return ctx.Value(key)
}

// Restore puts outer back into the field of gin's context that has its request, when the handlers
// have returned. It returns the request that was there: inner, or what other middleware has made of
// that. It changes nothing and returns nil if gin has given its context to another request, as it
// does when a middleware further out does not wait for the handlers.
func Restore[T any, R interface {
	*T
	Context() context.Context
}](field *R, outer, inner R) R {
	place := (*unsafe.Pointer)(unsafe.Pointer(field))
	found := R(atomic.LoadPointer(place))
	if found != nil && found != inner {
		of := inner.Context().Value(requestKey{})
		if of == nil || found.Context().Value(requestKey{}) != of {
			return nil
		}
	}
	// gin may change the field at any time.
	if !atomic.CompareAndSwapPointer(place, unsafe.Pointer(found), unsafe.Pointer(outer)) {
		return nil
	}
	return found
}

// ginKey is gin.ContextKey, by which gin's context is found in those derived from it. requestField
// is the field that has its request.
const (
	ginKey       = "_gin-gonic/gin/contextkey"
	requestField = "Request"
)

// IsLast reports whether gin's context runs the last handler of its chain. A middleware that is
// called there, as if it were a function, ends before the work that it should surround.
func IsLast(gin any) bool {
	chain := reflect.Indirect(reflect.ValueOf(gin))
	index, handlers := chain.FieldByName("index"), chain.FieldByName("handlers")
	return index.CanInt() && handlers.Kind() == reflect.Slice && handlers.Len() > 0 && index.Int() == int64(handlers.Len()-1)
}

// find returns the context of the request that ctx belongs to, if ctx is gin's own context or is
// derived from it, and the request is running. It returns nil for a context that was joined.
func find(ctx context.Context) (context.Context, *Request) {
	switch ctx.(type) {
	case nil, *Request, *joined: // nil is of a statement that GORM has not begun
		return nil, nil
	}
	gin, ok := ctx.Value(ginKey).(context.Context)
	if !ok {
		return nil, nil
	}
	// With ContextWithFallback, gin's context also has the values of a request's context that was
	// itself joined.
	if j := ctx.Value(joinedKey{}); j != nil && j != gin.Value(joinedKey{}) {
		return nil, nil
	}
	value := reflect.Indirect(reflect.ValueOf(gin))
	if value.Kind() != reflect.Struct {
		return nil, nil
	}
	field := value.FieldByName(requestField)
	if field.Kind() != reflect.Pointer || field.IsNil() {
		return nil, nil
	}
	request, ok := field.Interface().(interface{ Context() context.Context })
	if !ok {
		return nil, nil
	}
	inner := request.Context()
	if r, ok := inner.Value(requestKey{}).(*Request); ok && !r.isOver() {
		return inner, r
	}
	return nil, nil
}

// Lookup returns the value that ctx has for key or, if it has none, that of its request's context.
func Lookup(ctx context.Context, key any) any {
	if value := ctx.Value(key); value != nil {
		return value
	}
	if inner, _ := find(ctx); inner != nil {
		return inner.Value(key)
	}
	return nil
}

// Join returns ctx unless it is gin's own context or derived from it. Then Join returns a context
// that has the values of ctx and of the request's context, and ends when either does. It may still
// be used when the request is over.
func Join(ctx context.Context) context.Context {
	inner, r := find(ctx)
	if r == nil {
		return ctx
	}
	j := &joined{Context: inner, values: ctx, request: r}
	if done := ctx.Done(); done == nil || done == inner.Done() {
		return j
	}
	// ctx has an end of its own. By a deadline it ends as one that was not cancelled.
	timed, stop := inner, func() {}
	deadline, bounded := ctx.Deadline()
	if bounded {
		timed, stop = context.WithDeadlineCause(inner, deadline, causeOf{ctx})
	}
	both, cancel := context.WithCancelCause(timed)
	context.AfterFunc(ctx, func() {
		if !bounded || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			cancel(context.Cause(ctx))
		}
	})
	context.AfterFunc(both, stop)
	j.Context = both
	return j
}

// causeOf is the cause of a context's end, which is not known before.
type causeOf struct{ context context.Context }

func (c causeOf) Error() string { return c.Unwrap().Error() }

func (c causeOf) Unwrap() error {
	select {
	case <-c.context.Done(): // it has the same deadline, and may be a moment later
	case <-time.After(time.Second): // it does not keep its deadline
	}
	return cmp.Or(context.Cause(c.context), context.DeadlineExceeded)
}

// joinedKey is the context key by which a joined context returns itself.
type joinedKey struct{}

// joined is a context with the values of another one.
type joined struct {
	context.Context
	values  context.Context
	request *Request
}

// Value implements [context.Context].
func (j *joined) Value(key any) any {
	if key == (joinedKey{}) {
		return j
	}
	return value(j.Context, key, func() any { return j.request.valueOf(j.values, key) })
}

// value returns the value for key of a context that has the values of one context and ends with
// another. The standard library finds a context's cancellation by a key of type *int, and must find
// that of ends alone. Other packages may have keys of this type too.
func value(ends context.Context, key any, values func() any) any {
	if _, ok := key.(*int); ok {
		if found := ends.Value(key); found != nil {
			return found
		}
		found := values()
		if _, ok := found.(context.Context); ok {
			return nil
		}
		return found
	}
	if found := values(); found != nil {
		return found
	}
	return ends.Value(key)
}
