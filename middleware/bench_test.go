package middleware_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// An empty handler by itself and behind the locks: what the middleware costs is the difference.
func BenchmarkMiddleware(b *testing.B) {
	at := pathlock.Location{Tree: plan, Path: pathlock.MustParsePath("/dir1/dir2/dir3")}
	resolver := pathlock.ResolverFunc(func(context.Context, string) (pathlock.Location, error) { return at, nil })
	locks := middleware.New(pathlock.New(memstore.New()), resolver, middleware.Config{})
	empty := func(*gin.Context) {}
	for _, bench := range []struct {
		name  string
		chain []gin.HandlerFunc
	}{
		{"bare", []gin.HandlerFunc{empty}},
		{"locked", []gin.HandlerFunc{locks.Lock(lockspec.Delete(lockspec.Param("id"))), empty}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			engine := gin.New()
			engine.DELETE("/suites/:id", bench.chain...)
			r := httptest.NewRequestWithContext(b.Context(), http.MethodDelete, "/suites/3", nil)
			w := httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				engine.ServeHTTP(w, r)
			}
		})
	}
}
