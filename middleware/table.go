package middleware

import (
	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
)

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
	var routes []lockspec.Route
	for _, r := range engine.Routes() {
		routes = append(routes, lockspec.Route{Method: r.Method, Path: r.Path})
	}
	return table.Check(routes)
}
