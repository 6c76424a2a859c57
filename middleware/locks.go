package middleware

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// Locks makes middleware that takes locks. Make one with [New] and use it for all routes.
type Locks struct {
	locker    *pathlock.Locker
	resolvers map[string]pathlock.Resolver // by kind
	config    Config
	// prepared are the resolvers that keep what they read for the handlers.
	prepared []preparer
	// wait bounds the waiting of a request.
	wait time.Duration
	// explainers are the resolvers that know errors which state no failure.
	explainers []pathlock.FailureExplainer
}

// preparer is a resolver that can keep what it reads, so that a write later in the same request
// need not read it again.
type preparer interface {
	// Prepare returns a context under which Resolve keeps what it reads. A write under a context
	// derived from it takes what was kept.
	Prepare(ctx context.Context) context.Context
}

// New returns middleware that takes locks from locker. It finds nodes by resolver, or by
// [Config.Resolvers] where a spec names a kind. The resolver may be nil if every id of every spec
// has a kind.
//
// A [pathlock.BatchResolver] is asked for all ids of its kind in a request at once.
func New(locker *pathlock.Locker, resolver pathlock.Resolver, config Config) *Locks {
	m := &Locks{locker: locker, config: config, resolvers: make(map[string]pathlock.Resolver)}
	if resolver != nil {
		m.resolvers[""] = resolver
	}
	maps.Copy(m.resolvers, config.Resolvers)
	for _, r := range m.resolvers {
		if r, ok := r.(preparer); ok {
			m.prepared = append(m.prepared, r)
		}
		if r, ok := r.(pathlock.FailureExplainer); ok {
			m.explainers = append(m.explainers, r)
		}
	}
	m.wait = cmp.Or(config.Wait, locker.Wait())
	m.config.MaxBody = min(cmp.Or(config.MaxBody, defaultMaxBody), math.MaxInt64-1)
	m.config.RetryAfter = cmp.Or(config.RetryAfter, defaultRetryAfter)
	m.config.MaxHold = cmp.Or(config.MaxHold, defaultMaxHold)
	m.config.BodyTimeout = cmp.Or(config.BodyTimeout, defaultBodyTimeout)
	m.config.Log = cmp.Or(config.Log, slog.Default())
	if m.config.Retry == nil {
		m.config.Retry = defaultRetry
	}
	if m.config.Token == nil {
		m.config.Token = HeaderToken
	}
	if m.config.RequestID == nil {
		m.config.RequestID = headerRequestID
	}
	if m.config.WriteProblem == nil {
		m.config.WriteProblem = WriteProblem
	}
	if m.config.OnError == nil {
		m.config.OnError = func(c *gin.Context, err error) { m.Fail(c, err) }
	}
	return m
}

// Lock returns middleware that locks what the spec says while the handlers after it run. It
// releases the locks when they are done, on panic too. The response does not wait for that: see
// [pathlock.Lock.ReleaseInBackground]. When a program ends, it calls [pathlock.Locker.Shutdown]
// after its server's.
//
// If it is used for a whole engine, it ignores requests that gin has no route for, and locks
// nothing for handlers of [gin.Engine.NoRoute].
//
// Lock panics, as gin's own registration of routes does, on a spec that makes no sense or names a
// kind without a resolver. A program with such a route should not start.
func (m *Locks) Lock(spec lockspec.Spec) gin.HandlerFunc {
	if err := m.check(spec); err != nil {
		panic(err)
	}
	if _, exempt := spec.Exempt(); exempt {
		return func(c *gin.Context) { m.serve(m.withOrigin(c, spec), c, false) } // the handler may lock by itself
	}
	return func(c *gin.Context) { m.runLocked(c, spec) }
}

// check returns why the spec cannot work with these resolvers, nil if it can.
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

// Table returns middleware for a whole engine or group. For every route of the table it does what
// [Locks.Lock] does with the route's spec. It lets other routes pass. Use it before you register
// the routes, because gin gives a route the middleware that is there at that moment. Table panics
// as Lock does.
func (m *Locks) Table(table lockspec.Table) gin.HandlerFunc {
	routes := make(map[string]gin.HandlerFunc, len(table))
	for route, spec := range table {
		routes[route] = m.Lock(spec)
	}
	return func(c *gin.Context) {
		if lock, ok := routes[c.Request.Method+" "+c.FullPath()]; ok {
			lock(c)
		}
	}
}

// CheckRoutes compares the table with the routes that the engine serves: see
// [lockspec.Table.Check]. Call it when all routes are registered. It does not know which handlers
// a route has: use the table's middleware before the routes are registered, and in their group.
func CheckRoutes(engine *gin.Engine, table lockspec.Table) error {
	var routes []string
	for _, r := range engine.Routes() {
		routes = append(routes, r.Method+" "+r.Path)
	}
	return table.Check(routes)
}
