package middleware_test

import (
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// A program starts only if what locks a route is in the route's own chain of handlers.
func TestCheckRoutesFindsWhatNothingLocks(t *testing.T) {
	id := lockspec.Param("id")
	table := lockspec.Table{
		"DELETE /suites/:id":       lockspec.Delete(id),
		"PATCH /api/suites/:id":    lockspec.Delete(id),
		"PATCH /api/suites/:id/up": lockspec.Delete(id),
		"POST /login":              lockspec.None("touches no tree"),
	}
	handle := func(*gin.Context) {}
	other := func(*gin.Context) {}
	deleted, renamed, up := "DELETE /suites/:id", "PATCH /api/suites/:id", "PATCH /api/suites/:id/up"
	for _, tt := range []struct {
		what     string
		routes   func(r *gin.Engine, locks *middleware.Locks)
		unlocked []string
	}{
		{"the table for the whole engine", func(r *gin.Engine, locks *middleware.Locks) {
			r.Use(other, locks.Table(table))
			r.DELETE("/suites/:id", other, handle)
			r.Group("/api", other).PATCH("/suites/:id", handle)
		}, nil},
		{"each route by itself", func(r *gin.Engine, locks *middleware.Locks) {
			lock := locks.Lock(lockspec.Delete(id))
			r.DELETE("/suites/:id", lock, handle)
			r.Group("/api", lock).PATCH("/suites/:id", other, handle)
		}, nil},
		{"the table not at all", func(r *gin.Engine, _ *middleware.Locks) {
			r.DELETE("/suites/:id", other, handle)
			r.PATCH("/api/suites/:id", handle)
		}, []string{deleted, renamed, up}},
		{"the table after the routes", func(r *gin.Engine, locks *middleware.Locks) {
			r.DELETE("/suites/:id", handle)
			r.Use(locks.Table(table))
			r.PATCH("/api/suites/:id", handle)
		}, []string{deleted}},
		{"the table on another group", func(r *gin.Engine, locks *middleware.Locks) {
			r.Group("/api").Use(locks.Table(table))
			r.Group("/api").PATCH("/suites/:id", handle)
			r.DELETE("/suites/:id", locks.Lock(lockspec.Delete(id)), handle)
		}, []string{renamed, up}},
		{"the lock in the handler's place", func(r *gin.Engine, locks *middleware.Locks) {
			r.DELETE("/suites/:id", locks.Lock(lockspec.Delete(id)))
			r.PATCH("/api/suites/:id", locks.Lock(lockspec.Delete(id)), handle)
		}, []string{deleted}},
		{"a wrapped lock", func(r *gin.Engine, locks *middleware.Locks) {
			lock := locks.Table(table)
			wrapped := func(c *gin.Context) { lock(c) }
			r.DELETE("/suites/:id", wrapped, handle)
			r.PATCH("/api/suites/:id", middleware.Vouch(wrapped), handle)
		}, []string{deleted}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			locks := middleware.New(pathlock.New(memstore.New()), &nodes{}, middleware.Config{})
			engine := gin.New()
			tt.routes(engine, locks)
			engine.POST("/login", handle)
			// A route by which the others' chains in gin's routing tree are split and moved.
			locked := engine.Group("/api")
			if !strings.Contains(strings.Join(tt.unlocked, ","), up) {
				locked.Use(locks.Table(table))
			}
			locked.PATCH("/suites/:id/up", handle)
			err := middleware.CheckRoutes(engine, table)
			for _, route := range []string{deleted, renamed, up, "POST /login"} {
				want := false
				for _, unlocked := range tt.unlocked {
					want = want || unlocked == route
				}
				if got := err != nil && strings.Contains(err.Error(), "\t"+route+": nothing locks it"); got != want {
					t.Errorf("%s is reported: %v, want %v: %v", route, got, want, err)
				}
			}
			if (err != nil) != (len(tt.unlocked) > 0) {
				t.Errorf("CheckRoutes says %v", err)
			}
		})
	}
}
