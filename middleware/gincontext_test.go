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

// Each user has a home folder, and the middleware before has found out who the user is.
func ExampleGinContext() {
	locker := pathlock.New(memstore.New())
	drive, _ := pathlock.NewTree("drive", "1")
	home := pathlock.ResolverFunc(func(_ context.Context, user string) (pathlock.Location, error) {
		return pathlock.Location{Tree: drive, Path: pathlock.MustParsePath("/home/" + user)}, nil
	})
	locks := middleware.New(locker, home, middleware.Config{})
	authenticate := func(c *gin.Context) { c.Set("user", "anna") }
	user := lockspec.Func("user", func(r *http.Request, _ func(string) string) (string, bool, error) {
		name := middleware.GinContext(r).GetString("user")
		return name, name != "", nil
	})
	upload := func(c *gin.Context) {
		snapshot, err := locker.Snapshot(c.Request.Context(), drive)
		if err != nil {
			locks.Fail(c, err)
			return
		}
		fmt.Println(snapshot.Holders[0].Claims)
		c.Status(http.StatusCreated)
	}

	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.POST("/uploads", authenticate, locks.Lock(lockspec.Insert(user, lockspec.JSON("name"))), upload)
	w := httptest.NewRecorder()
	body := strings.NewReader(`{"name": "report"}`)
	r.ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/uploads", body))
	fmt.Println(w.Code)
	// Output:
	// [IX / IX /home IX /home/anna X /home/anna/report]
	// 201
}
