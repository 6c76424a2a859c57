package middleware

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
)

// Table returns middleware for a whole engine or group. For every route of the table it does what
// [Locks.Lock] does with the route's spec. It lets other routes pass. Use it before you register
// the routes, because gin gives a route the middleware that is there at that moment. [CheckRoutes]
// checks this. Table panics as Lock does.
func (m *Locks) Table(table lockspec.Table) gin.HandlerFunc {
	t := &tableLock{make(map[lockspec.Route]gin.HandlerFunc, len(table))}
	for key, spec := range table {
		route, err := lockspec.ParseRoute(key)
		if err != nil {
			panic(err)
		}
		t.routes[route] = m.Lock(spec)
	}
	return t.handle
}

// tableLock is the middleware of the routes of a table. [CheckRoutes] recognises its method.
type tableLock struct {
	routes map[lockspec.Route]gin.HandlerFunc
}

func (t *tableLock) handle(c *gin.Context) {
	if lock, ok := t.routes[lockspec.Route{Method: c.Request.Method, Path: c.FullPath()}]; ok {
		lock(c)
	}
}

// Vouch marks your handler as one that locks because it calls, around the rest of the chain, what
// [Locks.Lock] or [Locks.Table] returned. [CheckRoutes] cannot look into it, and believes you.
//
//	r.Use(middleware.Vouch(func(c *gin.Context) {
//		if c.GetHeader("X-Dry-Run") == "" {
//			lock(c)
//		}
//	}))
func Vouch(handler gin.HandlerFunc) gin.HandlerFunc { return vouched(handler).handle }

// vouched is a handler marked by Vouch. [CheckRoutes] recognises its method.
type vouched gin.HandlerFunc

func (v vouched) handle(c *gin.Context) { v(c) }

// lockers returns the code addresses of the handlers that lock.
func lockers() []uintptr {
	return []uintptr{
		reflect.ValueOf((*routeLock)(nil).handle).Pointer(),
		reflect.ValueOf((*tableLock)(nil).handle).Pointer(),
		reflect.ValueOf(vouched(nil).handle).Pointer(),
	}
}

// CheckRoutes compares the table with the routes that the engine serves (see
// [lockspec.Table.Check]), and makes sure that each of them is locked. A route of the table whose
// spec is not [lockspec.None] needs a handler of [Locks.Lock], of [Locks.Table] or of [Vouch]
// before its last one. Call it when all routes are registered.
//
// CheckRoutes does not know what that handler locks. It accepts one with another spec, the
// middleware of another table, and one behind a handler that writes.
//
// The error is a [*lockspec.TableError], unless the chains of handlers cannot be read, because this
// version of gin keeps them elsewhere.
func CheckRoutes(engine *gin.Engine, table lockspec.Table) error {
	chains, err := chainsOf(reflect.ValueOf(engine))
	if err != nil {
		return err
	}
	var routes []lockspec.Route
	var unlocked []string
	for _, r := range engine.Routes() {
		route := lockspec.Route{Method: r.Method, Path: r.Path}
		routes = append(routes, route)
		chain, ok := chains[route]
		if !ok || len(chain) == 0 || chain[len(chain)-1] != reflect.ValueOf(r.HandlerFunc).Pointer() {
			return fmt.Errorf("%w: the handlers of %s are not where they are expected", errInternals, route)
		}
		spec, ok := table.Spec(route)
		if _, exempt := spec.Exempt(); !ok || exempt || locksIn(chain[:len(chain)-1]) {
			continue
		}
		unlocked = append(unlocked, route.String()+
			": nothing locks it: register it after, and in the group of, the table's middleware; a handler that wraps it needs middleware.Vouch")
	}
	slices.Sort(unlocked)
	err = table.Check(routes)
	if wrong, ok := errors.AsType[*lockspec.TableError](err); ok {
		return &lockspec.TableError{Problems: append(slices.Clone(wrong.Problems), unlocked...)}
	}
	if err == nil && len(unlocked) > 0 {
		return &lockspec.TableError{Problems: unlocked}
	}
	return err
}

// locksIn reports whether one of a chain's handlers locks.
func locksIn(chain []uintptr) bool {
	known := lockers()
	return slices.ContainsFunc(chain, func(f uintptr) bool { return slices.Contains(known, f) })
}
