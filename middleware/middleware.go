package middleware

import (
	"fmt"
	"log/slog"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/carry"
	"github.com/pathlock-go/pathlock/lockspec"
)

// New returns middleware that locks by locker and finds nodes by resolver, or
// by those of [Config.Resolvers] where a spec names another kind. The resolver
// may be nil if every id of every spec has a kind.
//
// A resolver that is a [pathlock.BatchResolver] is asked for all ids of a request together, once an
// id of its kind is needed.
func New(locker *pathlock.Locker, resolver pathlock.Resolver, config Config) *Locks {
	m := &Locks{locker: locker, config: config, resolvers: make(map[string]pathlock.Resolver), carrier: carry.Key(locker)}
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
		if _, ok := r.(pathlock.BatchResolver); ok {
			m.batches = true
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
	if m.config.MaxHold == 0 {
		m.config.MaxHold = DefaultMaxHold
	}
	if m.config.BodyTimeout == 0 {
		m.config.BodyTimeout = DefaultBodyTimeout
	}
	if m.wait = config.Wait; m.wait == 0 {
		m.wait = locker.Wait()
	}
	if m.config.Token == nil {
		m.config.Token = HeaderToken
	}
	if m.config.OnError == nil {
		m.config.OnError = m.Fail
	}
	if m.config.Log == nil {
		m.config.Log = slog.Default()
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
// Like gin's own registration of routes it panics on a spec that makes no sense, or that names a
// kind without a resolver: a program with such a route should not start.
func (m *Locks) Lock(spec lockspec.Spec) gin.HandlerFunc {
	if err := m.check(spec); err != nil {
		panic(err)
	}
	return (&routeLock{m, spec}).handle
}

// routeLock is the middleware of one route. [CheckRoutes] knows it by its method.
type routeLock struct {
	locks *Locks
	spec  lockspec.Spec
}

func (r *routeLock) handle(c *gin.Context) {
	if _, exempt := r.spec.Exempt(); !exempt {
		r.locks.runLocked(c, r.spec)
	}
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
