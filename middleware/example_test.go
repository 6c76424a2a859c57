package middleware_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func Example() {
	locker := pathlock.New(memstore.New())
	plan, _ := pathlock.NewTree("testplan", "plan-001")
	// A backend takes the resolver from the gormplugin package.
	resolver := pathlock.ResolverFunc(func(_ context.Context, id string) (pathlock.Location, error) {
		if id != "17" {
			return pathlock.Location{}, fmt.Errorf("%w: suite %s", pathlock.ErrNotFound, id)
		}
		return pathlock.Location{Tree: plan, Path: pathlock.MustParsePath("/dir1/dir2")}, nil
	})
	locks := middleware.New(locker, resolver, middleware.Config{})

	rename := func(c *gin.Context) {
		snapshot, err := locker.Snapshot(c.Request.Context(), plan)
		if err != nil {
			locks.Fail(c, err)
			return
		}
		fmt.Println(snapshot.Holders[0].Claims)
		c.JSON(http.StatusOK, gin.H{"name": "new"})
	}
	r := gin.New()
	r.PATCH("/suites/:id", locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))), rename)

	for _, id := range []string{"17", "18"} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), http.MethodPatch, "/suites/"+id, strings.NewReader(`{"name":"new"}`)))
		fmt.Println(w.Code, w.Header().Get("Content-Type"))
	}
	// Output:
	// [IX / IX /dir1 X /dir1/dir2 X /dir1/new]
	// 200 application/json; charset=utf-8
	// 404 application/problem+json
}
