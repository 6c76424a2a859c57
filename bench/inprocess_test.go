package bench

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// deep is a path of so many names.
func deep(names int) pathlock.Path { return pathlock.MustParsePath(strings.Repeat("/node", names)) }

// BenchmarkReentry takes and releases a lock under another that covers it.
func BenchmarkReentry(b *testing.B) {
	for _, bench := range []struct {
		name        string
		held, asked int
	}{
		{"X 1 deep, asked 3 deep", 1, 3},
		{"X 1 deep, asked 15 deep", 1, 15},
		{"X 14 deep, asked 15 deep", 14, 15},
		{"the same node, 3 deep", 3, 3},
		{"the same node, 15 deep", 15, 15},
	} {
		b.Run(bench.name, func(b *testing.B) {
			plan, err := pathlock.NewTree("testplan", "plan-001")
			testerr.Must(b, err)
			l := pathlock.New(memstore.New())
			request := func(names int) pathlock.Request {
				return pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.X(deep(names))}}
			}
			outer, err := l.Acquire(b.Context(), request(bench.held))
			testerr.Must(b, err)
			ctx, req := outer.Context(), request(bench.asked)
			b.ReportAllocs()
			for b.Loop() {
				lock, err := l.Acquire(ctx, req)
				testerr.Must(b, err)
				testerr.Must(b, lock.Release(ctx))
			}
			testerr.Must(b, outer.Release(b.Context()))
		})
	}
}

// BenchmarkMiddleware serves a request with an empty handler, behind the locks and without.
func BenchmarkMiddleware(b *testing.B) {
	gin.SetMode(gin.TestMode)
	plan, err := pathlock.NewTree("testplan", "plan-001")
	testerr.Must(b, err)
	at := pathlock.Location{Tree: plan, Path: deep(3)}
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
