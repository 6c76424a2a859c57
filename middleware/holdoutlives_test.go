package middleware_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Whatever ends a request, its hold stays as it is, and nothing else does.
func TestTheHoldOutlivesTheRequestHoweverThatEnds(t *testing.T) {
	for _, tt := range []struct {
		what    string
		config  middleware.Config
		handler func(f *fixture, c *gin.Context)
		status  int
	}{
		{"an answer", middleware.Config{}, func(_ *fixture, c *gin.Context) { c.Status(http.StatusNoContent) }, 204},
		{"a failure", middleware.Config{}, func(_ *fixture, c *gin.Context) { c.Status(http.StatusTeapot) }, 418},
		{"a panic", middleware.Config{}, func(*fixture, *gin.Context) { panic("in the handler") }, 500},
		{"held for too long", middleware.Config{MaxHold: time.Millisecond}, func(f *fixture, c *gin.Context) {
			<-c.Request.Context().Done()
			// The context ends before the store is told: what the request had is free once somebody
			// else gets it.
			other, err := f.locker.Acquire(f.Context(), pathlock.Request{Tree: plan, Claims: claim("/other")})
			if err != nil {
				f.Error(err)
				return
			}
			_ = other.Release(f.Context())
			middleware.New(f.locker, nil, middleware.Config{}).Fail(c, context.Cause(c.Request.Context()))
		}, 503},
		{"a lock that nobody lets go", middleware.Config{}, func(f *fixture, c *gin.Context) {
			if _, err := f.locker.Acquire(c, pathlock.Request{Tree: plan, Claims: claim("/dir1/dir2")}); err != nil {
				f.Error(err)
			}
			c.Status(http.StatusNoContent)
		}, 204},
	} {
		f := newFixture(t, memstore.New(), tt.config)
		mine := f.detached(plan, "/dir1")
		f.handler = func(c *gin.Context) { tt.handler(f, c) }
		for _, path := range []string{"/suites/3", "/suites/4"} {
			w := httptest.NewRecorder()
			func() {
				defer func() {
					if recover() != nil {
						w.Code = http.StatusInternalServerError
					}
				}()
				w = f.send("DELETE", path, "", token(mine)...)
			}()
			f.is(tt.what, w, tt.status, "")
			f.only(tt.what, "X /dir1")
		}
		if err := f.locker.ReleaseToken(t.Context(), mine); err != nil {
			t.Errorf("%s: the hold is not the token's: %v", tt.what, err)
		}
		f.nothingLeft()
	}
}
