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

// noted is a resolver that leaves in a prepared context which ids it has resolved.
type noted struct{ at pathlock.Location }

type notesKey struct{}

func (noted) Prepare(ctx context.Context) context.Context {
	return context.WithValue(ctx, notesKey{}, new([]string))
}

func (n noted) Resolve(ctx context.Context, id string) (pathlock.Location, error) {
	notes, _ := ctx.Value(notesKey{}).(*[]string)
	*notes = append(*notes, id)
	return n.at, nil
}

// What a resolver reads for a request is there for the request's handler, and for nobody outside of
// the middleware.
func TestHandlerHasTheContextThatTheResolverHad(t *testing.T) {
	tree, err := pathlock.NewTree("test", "prepared")
	if err != nil {
		t.Fatal(err)
	}
	resolver := noted{pathlock.Location{Tree: tree, Path: pathlock.MustParsePath("/a")}}
	locks := middleware.New(pathlock.New(memstore.New()), resolver, middleware.Config{})
	engine := gin.New()
	engine.Use(func(c *gin.Context) {
		c.Next()
		if c.Request.Context().Value(notesKey{}) != nil {
			t.Error("the context outside of the middleware is the prepared one")
		}
	})
	var seen [][]string
	engine.DELETE("/:id", locks.Lock(lockspec.Delete(lockspec.Param("id")).Asserted()), func(c *gin.Context) {
		notes, ok := c.Request.Context().Value(notesKey{}).(*[]string)
		if !ok {
			t.Fatal("the handler's context is not the prepared one")
		}
		seen = append(seen, *notes)
	})
	for _, id := range []string{"1", "2"} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodDelete, "/"+id, nil)
		engine.ServeHTTP(httptest.NewRecorder(), request)
	}
	if len(seen) != 2 || len(seen[0]) != 1 || seen[0][0] != "1" || len(seen[1]) != 1 || seen[1][0] != "2" {
		t.Errorf("the handlers found %v, want each its own id", seen)
	}
}
