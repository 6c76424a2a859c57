package middleware

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// Locks makes middleware that takes locks. Make one with [New] and use it for all routes.
type Locks struct {
	locker    *pathlock.Locker
	resolvers map[string]pathlock.Resolver
	config    Config
	// prepared are the resolvers that keep what they read for the handlers.
	prepared []pathlock.PreparedResolver
	// explainers are those that know errors which say nothing themselves.
	explainers []pathlock.FailureExplainer
}

// New returns middleware that locks by locker and finds nodes by resolver, or
// by those of [Config.Resolvers] where a spec names another kind. The resolver
// may be nil if every id of every spec has a kind.
func New(locker *pathlock.Locker, resolver pathlock.Resolver, config Config) *Locks {
	m := &Locks{locker: locker, config: config, resolvers: make(map[string]pathlock.Resolver)}
	if resolver != nil {
		m.resolvers[""] = resolver
	}
	for kind, r := range config.Resolvers {
		m.resolvers[kind] = r
	}
	for _, r := range m.resolvers {
		if r, ok := r.(pathlock.PreparedResolver); ok {
			m.prepared = append(m.prepared, r)
		}
		if r, ok := r.(pathlock.FailureExplainer); ok {
			m.explainers = append(m.explainers, r)
		}
	}
	if m.config.Retry == nil {
		m.config.Retry = defaultRetry
	}
	if m.config.MaxBody == 0 {
		m.config.MaxBody = DefaultMaxBody
	}
	if m.config.RetryAfter == 0 {
		m.config.RetryAfter = DefaultRetryAfter
	}
	if m.config.OnError == nil {
		m.config.OnError = m.Fail
	}
	if m.config.Log == nil {
		m.config.Log = slog.Default()
	}
	return m
}

// Lock returns middleware that holds, while the handlers after it run, what
// the spec says. It is let go when they are done, on panic too, and the response
// does not wait for that: see [pathlock.Lock.ReleaseInBackground]. A program that ends calls [pathlock.Locker.Shutdown]
// when its server has shut down.
//
// Like gin's own registration of routes it panics on a spec that makes no sense, or that names a
// kind without a resolver: a program with such a route should not start.
func (m *Locks) Lock(spec lockspec.Spec) gin.HandlerFunc {
	if err := m.check(spec); err != nil {
		panic(err)
	}
	if _, exempt := spec.Exempt(); exempt {
		return func(*gin.Context) {}
	}
	return func(c *gin.Context) { m.around(c, spec) }
}

// Table returns middleware for a whole engine or group: it does for every
// route of the table what [Locks.Lock] does with the route's spec, and lets other
// routes pass. Use it before the routes are registered, and let [CheckRoutes] look at the result. It panics
// as Lock does.
func (m *Locks) Table(table lockspec.Table) gin.HandlerFunc {
	handlers := make(map[string]gin.HandlerFunc, len(table))
	for route, spec := range table {
		handlers[route] = m.Lock(spec)
	}
	return func(c *gin.Context) {
		route := lockspec.Route{Method: c.Request.Method, Path: c.FullPath()}
		if lock, ok := handlers[route.String()]; ok {
			lock(c)
		}
	}
}

// CheckRoutes compares the table with the routes that the engine serves: see
// [lockspec.Table.Check]. Call it when all routes are registered.
func CheckRoutes(engine *gin.Engine, table lockspec.Table) error {
	var routes []lockspec.Route
	for _, r := range engine.Routes() {
		routes = append(routes, lockspec.Route{Method: r.Method, Path: r.Path})
	}
	return table.Check(routes)
}

// check says why the spec cannot work with these resolvers.
func (m *Locks) check(spec lockspec.Spec) error {
	if err := spec.Check(); err != nil {
		return err
	}
	for _, src := range spec.Sources() {
		if kind := src.KindName(); kind != "" && m.resolvers[kind] == nil {
			return fmt.Errorf("middleware: there is no resolver for the kind %q of the spec's source %s", kind, src)
		}
	}
	return nil
}

// around runs the rest of the handler chain under the spec's locks.
func (m *Locks) around(c *gin.Context, spec lockspec.Spec) {
	outer := c.Request.Context()
	ctx := outer
	for _, r := range m.prepared {
		ctx = r.Prepare(ctx)
	}
	held, err := m.acquire(ctx, newValues(c, spec, &m.config), spec)
	if err != nil {
		c.Abort()
		m.config.OnError(c, err)
		return
	}
	defer func() {
		// Middleware outside of this one sees the context that it knows, which
		// is alive still.
		c.Request = c.Request.WithContext(outer)
		held.release(outer)
	}()
	c.Request = c.Request.WithContext(held.context(ctx))
	c.Next()
}

// held is what one request holds, in the order in which it was taken.
type held []*pathlock.Lock

// context returns the context of the innermost lock, which carries the scope
// of all and ends with each.
func (h held) context(outer context.Context) context.Context {
	if len(h) == 0 {
		return outer
	}
	return h[len(h)-1].Context()
}

// release lets everything go, the last first. The locker logs what fails,
// and a lock that cannot be given back ends with its lease.
func (h held) release(ctx context.Context) {
	for i := len(h) - 1; i >= 0; i-- {
		h[i].ReleaseInBackground(ctx)
	}
}
